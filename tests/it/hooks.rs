//! Hooks of folders, on the program: what each kind of answer does to a call, what a hook is told, who hears of
//! what, and that none leaves a process behind.

use crate::contract;
use harness::TestBot;
use serde_json::{Value, json};

/// A bot with the tool `say`, whose runs are counted in its data folder.
fn bot() -> TestBot {
    let bot = TestBot::new();
    bot.put("tools/say/main.sh", "#!/bin/sh\ncat > /dev/null\necho run >> \"$UNDERSTUDY_DATA_DIR/runs\"\necho said\n");
    bot.put(
        "tools/say/tool.toml",
        "description = \"Says a word\"\ncapabilities = []\nrequires_approval = \"never\"\n\
         run = { command = [\"./main.sh\"] }\n[input.text]\ntype = \"string\"\ndescription = \"What\"\n",
    );
    bot
}

/// A hook that is this script; the event is in `$e`.
fn hook(bot: &TestBot, folder: &str, manifest: &str, body: &str) {
    bot.put(&format!("{folder}/main.sh"), &format!("#!/bin/sh\ne=$(cat)\n{body}\n"));
    bot.put(&format!("{folder}/hook.toml"), &format!("{manifest}\nrun = {{ command = [\"./main.sh\"] }}\n"));
}

fn called(bot: &TestBot, text: &str) -> Value {
    let value = bot.run(&["call", "say", &json!({ "text": text }).to_string(), "--json"]).json();
    contract::is("call", &value);
    value
}

/// Lines of a file in the data folder of the root.
fn lines(bot: &TestBot, name: &str) -> Vec<String> {
    let path = bot.path().join("data/plugins/root").join(name);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn runs(bot: &TestBot) -> usize {
    lines(bot, "runs").len()
}

#[test]
fn what_a_check_answers_decides_about_the_call() {
    let refusing = "the check `check` before this call failed, so the call was not run";
    for (answer, code, says) in [
        ("echo '{}'", None, "said"),
        ("echo '{\"deny_reason\": \"not today\"}'", Some("HOOK_REJECTED"), "not today"),
        ("exit 1", Some("HOOK_ERROR"), refusing),
        ("kill -9 $$", Some("HOOK_ERROR"), refusing),
        ("sleep 30", Some("HOOK_ERROR"), refusing),
        ("echo '{}'; echo '{}'", Some("HOOK_ERROR"), refusing),
        ("echo '{\"deny\": \"x\"}'", Some("HOOK_ERROR"), refusing),
        ("echo '{\"feedback\": \"x\"}'", Some("HOOK_ERROR"), refusing),
        ("echo fine", Some("HOOK_ERROR"), refusing),
        (":", Some("HOOK_ERROR"), refusing),
        ("head -c 2000000 /dev/zero | tr '\\0' 'x'", Some("HOOK_ERROR"), refusing),
    ] {
        let bot = bot();
        hook(&bot, "hooks/check", "events = [\"tool.before\"]\ntimeout_seconds = 1", answer);
        hook(
            &bot,
            "hooks/after",
            "events = [\"tool.after\"]",
            "echo heard >> \"$UNDERSTUDY_DATA_DIR/after\"; echo '{}'",
        );
        let value = called(&bot, "x");
        assert_eq!(value["error"]["code"].as_str(), code, "{answer}: {value:#}");
        assert!(value["text"].as_str().is_some_and(|t| t.contains(says)), "{answer}: {value:#}");
        let ran = usize::from(code.is_none());
        assert_eq!((runs(&bot), lines(&bot, "after").len()), (ran, ran), "{answer}");
        // the same failures of a lenient hook let the call go on
        if code == Some("HOOK_ERROR") {
            let lenient = "events = [\"tool.before\"]\ntimeout_seconds = 1\non_failure = \"continue\"";
            hook(&bot, "hooks/check", lenient, answer);
            assert_eq!(called(&bot, "x")["status"], "completed", "{answer}");
        }
    }
}

#[test]
fn a_hook_is_told_where_it_is_and_a_failing_listener_is_only_noted() {
    let bot = bot();
    let keep = "printf '%s\\n' \"$e\" >> \"$UNDERSTUDY_DATA_DIR/events\"; pwd >> \"$UNDERSTUDY_DATA_DIR/where\"";
    let all = "events = [\"run.started\", \"run.finished\", \"tool.before\", \"tool.after\"]";
    hook(&bot, "hooks/keeps", all, &format!("{keep}\necho '{{}}'"));
    hook(
        &bot,
        "hooks/says",
        "events = [\"tool.after\"]\ntools = [\"s*y\"]\norder = 90",
        "echo '{\"feedback\": \"noted\"}'",
    );
    hook(&bot, "hooks/breaks", "events = [\"tool.after\", \"run.finished\"]\norder = 99", "echo oops >&2; exit 3");
    let answer = bot.run(&["ask", ".", "say text=\"hello\"", "--json"]).exits(0).json();
    assert!(answer["text"].as_str().is_some_and(|t| t.starts_with("said")), "{answer:#}");
    assert!(answer["text"].as_str().is_some_and(|t| t.contains("[Hook feedback] noted")), "{answer:#}");
    let events: Vec<Value> = lines(&bot, "events").iter().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let kinds: Vec<&str> = events.iter().filter_map(|e| e["event"].as_str()).collect();
    assert_eq!((kinds.first(), kinds.last()), (Some(&"run.started"), Some(&"run.finished")));
    let about_say = |e: &&Value| e["tool_name"] == "say";
    let of_say: Vec<&Value> = events.iter().filter(about_say).collect();
    assert_eq!(of_say.len(), 2);
    let mut keys: Vec<&String> = of_say[0].as_object().expect("an object").keys().collect();
    keys.sort();
    assert_eq!(
        keys,
        [
            "activation_id",
            "agent_id",
            "arguments",
            "call_id",
            "event",
            "occurred_at",
            "run_id",
            "session_id",
            "tool_name",
            "workspace"
        ]
    );
    assert_eq!(of_say[0]["arguments"], json!({"text": "hello"}));
    assert_eq!(of_say[0]["run_id"], answer["turn_id"]);
    assert_eq!((&of_say[1]["body_status"], &of_say[1]["result"]["is_error"]), (&json!("success"), &json!(false)));
    let finished = events.last().expect("an event");
    assert_eq!((&finished["result"]["outcome"], &finished["run"]["role"]), (&json!("completed"), &json!("master")));
    let workspace = of_say[0]["workspace"].as_str().expect("a path");
    assert!(lines(&bot, "where").iter().all(|at| at == workspace), "{:?}", lines(&bot, "where"));
}

#[test]
fn programs_hear_nothing_of_a_run_without_an_answer() {
    let bot = bot();
    let note = "printf '%s\\n' \"$e\" | sed 's/\",.*//' >> \"$UNDERSTUDY_DATA_DIR/heard\"; echo '{}'";
    hook(&bot, "hooks/hears", "events = [\"run.started\", \"run.finished\"]", note);
    bot.put("tools/stuck/main.sh", "#!/bin/sh\nsleep 300\n");
    bot.put(
        "tools/stuck/tool.toml",
        "description = \"Waits for ever\"\ncapabilities = []\nrun = { command = [\"./main.sh\"] }\n",
    );
    bot.run(&["ask", ".", "stuck", "--timeout", "1", "--json"]).exits(5);
    assert_eq!(lines(&bot, "heard"), ["{\"event\":\"run.started"]);
    bot.run(&["ask", ".", "say text=\"x\"", "--json"]).exits(0);
    assert_eq!(lines(&bot, "heard").len(), 3);
}

#[test]
fn hooks_run_by_level_and_order_and_the_first_refusal_ends_it() {
    let bot = bot();
    let note = |name: &str| format!("echo '{{\"deny_reason\": \"{name}\"}}'");
    bot.put("plugins/maps/plugin.toml", "version = \"1.0.0\"\ndescription = \"Maps\"\n");
    hook(&bot, "plugins/maps/hooks/early", "events = [\"tool.before\"]\norder = 1000", &note("plugin"));
    assert_eq!(called(&bot, "x")["error"]["message"], "plugin", "a plugin's hook guards every call");
    hook(&bot, "hooks/b", "events = [\"tool.before\"]\norder = 1", &note("host b"));
    hook(&bot, "hooks/a", "events = [\"tool.before\"]\norder = 1", &note("host a"));
    assert_eq!(called(&bot, "x")["error"]["message"], "host a", "the bot's own first, then by name");
    hook(&bot, "hooks/z", "events = [\"tool.before\"]\norder = 2", &note("host z"));
    assert_eq!(called(&bot, "x")["error"]["message"], "host z", "the larger order first");
}

#[test]
fn an_author_sees_why_a_hook_failed_and_what_is_wrong_with_its_manifest() {
    let bot = bot();
    hook(&bot, "hooks/check", "events = [\"tool.before\"]", "echo 'no database' >&2; exit 4");
    let ran = bot.run(&["call", "say", "{\"text\": \"x\"}"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("cause: exit code 4: no database"), "{}", ran.err);
    bot.put(
        "hooks/check/hook.toml",
        "events = [\"run.started\"]\ntools = [\"say\"]\nrun = { command = [\"none-7\"] }\n",
    );
    let checked = contract::ran(&bot, &["check"], 1, "check");
    let found = checked["diagnostics"].to_string();
    assert!(found.contains("hook::tools-filter"), "{found}");
    bot.put("hooks/check/hook.toml", "events = [\"run.started\"]\nrun = { command = [\"none-7\"] }\n");
    let checked = contract::ran(&bot, &["check"], 0, "check");
    let found = checked["diagnostics"].to_string();
    assert!(found.contains("run::program-missing") && !found.contains("optional"), "{found}");
}

#[test]
fn a_tool_that_keeps_failing_rests() {
    let bot = bot();
    bot.put("bot.toml", "[tools.breaker]\nenabled = true\nfailure_threshold = 2\ncooldown_seconds = 600\n");
    bot.put("tools/say/main.sh", "#!/bin/sh\ncat > /dev/null\necho run >> \"$UNDERSTUDY_DATA_DIR/runs\"\nexit 1\n");
    bot.put(
        "tests/rests.toml",
        "description = \"the third call is not made\"\n\
         [[step]]\nmessage = { from = \"console:ann\", text = \"go\" }\n\
         [[step]]\nmodel_says = { calls = [{ tool = \"load_tool\", arguments = { name = \"say\" } }] }\n\
         [[step]]\nmodel_says = { calls = [{ tool = \"say\", arguments = { text = \"1\" } }] }\n\
         [[step]]\nmodel_says = { calls = [{ tool = \"say\", arguments = { text = \"2\" } }] }\n\
         [[step]]\nmodel_says = { calls = [{ tool = \"say\", arguments = { text = \"3\" } }] }\n\
         [[step]]\nmodel_says = { text = \"It rests.\" }\n\
         [[step]]\nexpect_request = {}\n[[step]]\nexpect_request = {}\n[[step]]\nexpect_request = {}\n\
         [[step]]\nexpect_request = { text_contains = \"COMMAND_FAILED\" }\n\
         [[step]]\nexpect_request = { text_contains = \"CIRCUIT_OPEN\" }\n\
         [[step]]\nexpect_reply = { equals = \"It rests.\" }\n",
    );
    let tested = bot.run(&["test", ".", "rests", "--json"]).json();
    assert_eq!((&tested["failed"], &tested["passed"]), (&json!(0), &json!(1)), "{tested:#}");
}
