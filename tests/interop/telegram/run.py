"""Shows rendered Telegram messages to Telegram's own library: every CommonMark example and 10,000 random texts.

Each piece is given twice, offline: as text with entities, the form in which it is sent (wrong ranges and targets are
refused), and as HTML made from the same entities, whose parsed form has to have the same text and the same entities.
Prints one line, `N passed, N failed`, and the first pieces that differ. Usage: run.py LIBRARY PROGRAM EXAMPLES
"""

import ctypes
import html
import json
import random
import subprocess
import sys

TEXTS, LIMIT, ENTITIES = 10_000, 4096, 100
NAMES = {
    "bold": "b", "italic": "i", "strikethrough": "s", "code": "code", "pre": "pre", "text_link": "a",
    "blockquote": "blockquote",
}
TYPES = {
    "bold": "Bold", "italic": "Italic", "strikethrough": "Strikethrough", "code": "Code", "pre": "Pre",
    "text_link": "TextUrl", "blockquote": "BlockQuote",
}
BITS = [
    "**", "*", "_", "__", "~~", "`", "``", "```", "```rust\n", "\n```\n", "\n~~~ info `x`\n", "# ", "\n## ", "\n> ", "\n>> ", "\n- ",
    "\n  - ", "\n1. ", "\n- [ ] ", "\n- [x] ", "\n\n", "\n", "  \n", "\\", " ", "    ", "\t", "[", "](", ")", "]", "<", ">", "&", "|",
    "[a b](https://a.example/x)", "![i](https://a.example/i.png)", "[r](/rel)", "[p](http://localhost:1/)", "[q](ftp://x.y)",
    "[h](https://a_b.example/?q=(1)#\u00fc)", "[n](https://1.2.3.4.5:70000)", "<https://a.example>", "<b>", "</b>", "<!-- c -->",
    "\n| a | b |\n|---|---|\n| 1 | *2* |\n", "\n---\n", "\n===\n", "&amp;", "&#8203;", "&nbsp;", "@everyone", "word", "a sentence. ",
    "snake_case", "2 * 3", "😀", "👨‍👩‍👧‍👦", "🇩🇪", "🎩", "e\u0301", "\u0301", "שלום ", "مرحبا", "日本語。", "한국어", "\u200d", "\u202e", "\u200b",
    "\u0000", "\r\n", "[ref]: /url\n", "[ref]", "x" * 70, "long words and more of them. " * 20, "line of code\n" * 40,
]
SHAPELESS = "\u200b\u200c\u200d\u200e\u200f\u202e\ufeff\u0000 \t\r\n\u00a0"
BROKEN = [
    {"text": "🎩", "entities": [{"type": "bold", "offset": 1, "length": 1}]},
    {"text": "ab", "entities": [{"type": "bold", "offset": 1, "length": 2}]},
    {"text": "ab", "entities": [{"type": "text_link", "offset": 0, "length": 1, "url": "/relative"}]},
    {"text": "abc", "entities": [{"type": "bold", "offset": 0, "length": 2}, {"type": "code", "offset": 1, "length": 2}]},
    {"text": " \u200b\n", "entities": []},
    {"text": "🎩" * 2049, "entities": []},
]


class Telegram:
    """The library's synchronous calls; they need no account and no network."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.td_execute.restype = ctypes.c_char_p
        self.library.td_execute.argtypes = [ctypes.c_char_p]
        self.call({"@type": "setLogVerbosityLevel", "new_verbosity_level": 0})

    def call(self, request):
        return json.loads(self.library.td_execute(json.dumps(request).encode()))

    def accepts(self, text, entities):
        request = {"@type": "formattedText", "text": text, "entities": entities}
        return self.call({"@type": "getMarkdownText", "text": request})

    def parsed(self, markup):
        return self.call({"@type": "parseTextEntities", "text": markup, "parse_mode": {"@type": "textParseModeHTML"}})


def units(text):
    return len(text.encode("utf-16-le")) // 2


def typed(entity):
    kind = {"@type": "textEntityType" + TYPES[entity["type"]]}
    if "url" in entity:
        kind["url"] = entity["url"]
    if entity.get("language"):
        kind = {"@type": "textEntityTypePreCode", "language": entity["language"]}
    return {"@type": "textEntity", "offset": entity["offset"], "length": entity["length"], "type": kind}


def markup(text, entities):
    """The HTML of a text whose entities nest."""
    raw = text.encode("utf-16-le")
    out, at, open_entities = [], 0, []

    def write(to):
        nonlocal at
        out.append(html.escape(raw[2 * at : 2 * to].decode("utf-16-le")))
        at = to

    def close_until(to):
        while open_entities and open_entities[-1][0] <= to:
            end, closing = open_entities.pop()
            write(end)
            out.append(closing)

    for entity in entities:
        close_until(entity["offset"])
        write(entity["offset"])
        name, opening = NAMES[entity["type"]], ""
        if name == "a":
            opening = f' href="{html.escape(entity["url"])}"'
        closing = f"</{name}>"
        out.append(f"<{name}{opening}>")
        if entity.get("language"):
            out.append(f'<code class="language-{html.escape(entity["language"])}">')
            closing = "</code>" + closing
        open_entities.append((entity["offset"] + entity["length"], closing))
    close_until(1 << 40)
    write(units(text))
    return "".join(out)


def shape(entities):
    """Entities as a set, without how the library writes a target."""
    found = set()
    for entity in entities:
        kind = entity["type"]
        found.add((entity["offset"], entity["length"], kind["@type"], kind.get("language", ""), "url" in kind))
    return found


def fault(telegram, piece):
    """What is wrong with one piece, or None."""
    text, entities = piece["text"], piece.get("entities", [])
    if units(text) > LIMIT:
        return f"{units(text)} units"
    if len(entities) > ENTITIES:
        return f"{len(entities)} entities"
    native = [typed(entity) for entity in entities]
    accepted = telegram.accepts(text, native)
    if accepted["@type"] == "error":
        return accepted["message"]
    if not text.strip(SHAPELESS) or not accepted["text"].strip():
        return "an empty message"
    parsed = telegram.parsed(markup(text, entities))
    if parsed["@type"] == "error":
        return parsed["message"]
    if parsed["text"] != text:
        return f"text differs: {parsed['text']!r}"
    if units(parsed["text"]) > LIMIT:
        return "too long after parsing"
    if shape(parsed["entities"]) != shape(native):
        return f"entities differ: {sorted(shape(parsed['entities']) ^ shape(native))}"
    return None


def main():
    library, program, examples = sys.argv[1:4]
    telegram = Telegram(library)
    seed = random.Random(20260301)
    with open(examples, encoding="utf-8") as file:
        texts = json.load(file)
    known = len(texts)
    texts += ["".join(seed.choice(BITS) for _ in range(seed.randrange(1, 80))) for _ in range(TEXTS)]
    source = "".join(json.dumps(text) + "\n" for text in texts).encode()
    shown = subprocess.run([program, "entities", str(LIMIT)], input=source, stdout=subprocess.PIPE, check=True)
    lines = shown.stdout.decode().splitlines()
    passed = failed = 0
    if len(lines) != len(texts) or known < 655:
        print(f"{known} examples, {len(lines)} answers for {len(texts)} texts", file=sys.stderr)
        failed += 1
    for line in lines:
        rendered = json.loads(line)
        faults = [(fault(telegram, piece), piece) for piece in rendered["pieces"]]
        faults = [f for f in faults if f[0]]
        if not rendered["pieces"] and rendered["source"].strip(SHAPELESS):
            faults.append(("nothing is shown", None))
        passed += not faults
        failed += bool(faults)
        if faults and failed <= 5:
            print(f"{faults[0][0]}\n  source {rendered['source']!r}\n  piece {faults[0][1]!r}", file=sys.stderr)
    # The checks see a fault when there is one.
    for piece in BROKEN:
        if not fault(telegram, piece):
            print(f"a broken piece was taken: {piece}", file=sys.stderr)
            failed += 1
    print(f"Telegram's entity parser: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
