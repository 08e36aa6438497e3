"""The product's model clients against a scripted model server that others wrote.

usage: run.py PROGRAM ADDRESS PROVIDER
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

PROGRAM, ADDRESS, PROVIDER = sys.argv[1:4]
KEY = "sk-interop-0123456789abcdef"

ECHO = """description = "Echo a message back"
requires_approval = "never"
capabilities = []
always_loaded = true
run = { command = ["./main.sh"] }
[input]
message = { type = "string" }
"""
ECHO_MAIN = """#!/bin/sh
sed -n 's/.*"input":{"message":"\\([^"]*\\)".*/echo: \\1/p'
"""
COUNT = """description = "Count letters"
requires_approval = "never"
capabilities = []
run = { command = ["./main.sh"] }
"""
COUNT_MAIN = """#!/bin/sh
cat >/dev/null
echo 7 letters in all
"""


def put(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def bot(folder):
    put(f"{folder}/.env", f"MODEL_KEY={KEY}\n")
    put(
        f"{folder}/bot.toml",
        f'[models.default]\nprovider = "{PROVIDER}"\nmodel = "any"\napi_key = "${{MODEL_KEY}}"\n'
        f'base_url = "{ADDRESS}/v1"\nretries = 1\nfirst_byte_seconds = 3\n',
    )
    put(f"{folder}/tools/echo/tool.toml", ECHO)
    put(f"{folder}/tools/echo/main.sh", ECHO_MAIN, 0o755)
    put(f"{folder}/tools/count/tool.toml", COUNT)
    put(f"{folder}/tools/count/main.sh", COUNT_MAIN, 0o755)


class Asked:
    """One message, answered by the real program; its requests as the server saw them."""

    def __init__(self, folder, words):
        started = time.monotonic()
        command = [PROGRAM, "ask", folder, words, "--json", "--session", words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, env={**os.environ, "NO_COLOR": "1"})
        self.took = time.monotonic() - started
        self.code = done.returncode
        self.raw = done.stdout + done.stderr
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            raise AssertionError(f"no JSON: {self.raw}") from None
        self.text = answer.get("text") or ""
        self.outcome, self.detail = answer.get("outcome"), answer.get("detail")
        self.usage = answer.get("usage") or {}
        self.calls = answer.get("tool_calls") or []
        self.requests = [entry for entry in journal() if words in json.dumps(entry.get("body"), ensure_ascii=False)]

    def messages(self):
        return [call["arguments"].get("message") for call in self.calls]


def journal():
    with urllib.request.urlopen(f"{ADDRESS}/__aimock/journal", timeout=10) as answer:
        return json.load(answer)


def same(found, wanted, what):
    assert found == wanted, f"{what}: {found!r} instead of {wanted!r}"


def completed(asked, text, requests):
    same((asked.outcome, asked.text, asked.code), ("completed", text, 0), "the answer")
    same(len(asked.requests), requests, "requests")


def failed(asked, detail, requests):
    same((asked.outcome, asked.detail, asked.code), ("failed", detail, 6), "the outcome")
    same(len(asked.requests), requests, "requests")
    assert asked.text.strip(), "no sentence for the person"
    assert "inner-detail" not in asked.text, "the provider's words are shown"


def words(ask):
    completed(ask("plain words"), "Hello from another server.", 1)


def characters(ask):
    completed(ask("cut characters"), "Grüße 😀 完。", 1)


def one_call(ask):
    asked = ask("one call")
    completed(asked, "Echoed.", 2)
    same(asked.messages(), ["a 😀 b"], "arguments")


def three_calls(ask):
    asked = ask("three calls")
    completed(asked, "All three.", 2)
    same(asked.messages(), ["one", "two", "three"], "arguments")


def call_before_text(ask):
    asked = ask("call before text")
    completed(asked, "Looked up.", 2)
    same(asked.messages(), ["early"], "arguments")


def found_and_loaded(ask):
    asked = ask("find a tool")
    completed(asked, "Counted.", 4)
    same([call["tool"] for call in asked.calls], ["discover", "load_tool", "count"], "calls")


def counted(ask):
    asked = ask("how much")
    completed(asked, "Counted.", 1)
    same((asked.usage.get("input_tokens"), asked.usage.get("output_tokens")), (1200, 34), "usage")


def reasoning(ask):
    asked = ask("think first")
    completed(asked, "Thought.", 2)
    assert "wants an echo" not in asked.raw, "reasoning is shown"
    if PROVIDER == "anthropic":
        # The journal holds a converted body, so the proof that it came back byte by byte is that of the fakes.
        assert "wants an echo" not in asked.text


def busy(ask):
    asked = ask("busy once")
    completed(asked, "Now.", 2)
    assert asked.took >= 1, f"retry-after was not kept: {asked.took:.2f} s"


def overloaded(ask):
    completed(ask("overloaded once"), "Better.", 2)


def always_overloaded(ask):
    failed(ask("always overloaded"), "MODEL_UNAVAILABLE", 2)


def wrong(ask):
    failed(ask("wrong request"), "MODEL_REJECTED", 1)


def broken(ask):
    failed(ask("broken body"), "MODEL_UNAVAILABLE", 2)


def cut(ask):
    completed(ask("cut once"), "The whole answer.", 2)


def always_cut(ask):
    failed(ask("always cut"), "MODEL_UNAVAILABLE", 2)


def no_connection(ask):
    failed(ask("no connection"), "MODEL_UNAVAILABLE", 2)


def slow(ask):
    completed(ask("slow words"), "Slow, and whole in the end.", 1)


def no_first_byte(ask):
    asked = ask("no first byte")
    same((asked.outcome, asked.detail), ("failed", "MODEL_UNAVAILABLE"), "the outcome")
    assert asked.took < 14, f"first_byte_seconds was not kept: {asked.took:.1f} s"


def too_long(ask):
    asked = ask("too long")
    assert asked.code in (0, 6) and asked.text.strip(), asked.raw
    assert len(asked.requests) <= 3, f"{len(asked.requests)} requests"


def refused(ask):
    completed(ask("not that"), "I will not do that.", 1)


CASES = [
    words, characters, one_call, three_calls, call_before_text, found_and_loaded, counted, reasoning, busy, overloaded,
    always_overloaded, wrong, broken, cut, always_cut, no_connection, slow, no_first_byte, too_long, refused,
]  # fmt: skip


def main():
    passed = 0
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="interop-bot-") as folder:
            bot(folder)
            urllib.request.urlopen(
                urllib.request.Request(f"{ADDRESS}/__aimock/reset/journal", method="POST"), timeout=10
            ).close()
            try:
                case(lambda text, folder=folder: Asked(folder, text))
                passed += 1
            except (AssertionError, subprocess.TimeoutExpired, OSError) as fault:
                print(f"   FAILED {PROVIDER} {case.__name__}: {fault}", file=sys.stderr)
    failures = len(CASES) - passed
    print(f"scripted model server, {PROVIDER}: {passed} passed, {failures} failed")
    return 1 if failures else 0


sys.exit(main())
