//! Programs of tools that misbehave: each gets its code, none leaves a process behind.

use crate::contract;
use harness::{TestBot, wait_for};
use host::app::{Host, HostOptions, StoreKind};
use host::config::Env;
use host::task::SystemClock;
use serde_json::Value;
use std::time::Duration;

/// A tool that is this script.
fn script(bot: &TestBot, name: &str, manifest: &str, body: &str) {
    bot.put(&format!("tools/{name}/main.sh"), &format!("#!/bin/sh\n{body}\n"));
    let text = format!(
        "description = \"The {name} tool\"\ncapabilities = []\nrequires_approval = \"never\"\n{manifest}\n\
         run = {{ command = [\"./main.sh\"] }}\n"
    );
    bot.put(&format!("tools/{name}/tool.toml"), &text);
}

fn called(bot: &TestBot, name: &str) -> Value {
    let ran = bot.run(&["call", name, "{}", "--json"]);
    let value = ran.json();
    contract::is("call", &value);
    assert_eq!(ran.code == 0, value["status"] == "completed", "{value:#}");
    value
}

/// Processes whose command line or environment holds a text.
fn alive(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.bytes().all(|b| b.is_ascii_digit()) || name == std::process::id().to_string() {
            continue;
        }
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let around = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let holds = |bytes: &[u8]| bytes.windows(mark.len()).any(|w| w == mark.as_bytes());
        if holds(&line) || holds(&around) {
            found.push(format!("{name}: {}", String::from_utf8_lossy(&line).replace('\0', " ")));
        }
    }
    found
}

/// Asserts that nothing of this bot runs any more.
#[track_caller]
fn leaves_nothing(bot: &TestBot) {
    let mark = bot.path().to_str().expect("text").to_owned();
    wait_for("no process is left", Duration::from_secs(5), || alive(&mark).is_empty().then_some(()));
}

#[test]
fn too_much_output_stops_the_program() {
    let bot = TestBot::new();
    script(&bot, "flood", "", "head -c 5242880 /dev/zero | tr '\\0' 'x'");
    script(&bot, "endless", "", "yes");
    for name in ["flood", "endless"] {
        let value = called(&bot, name);
        assert_eq!(
            (&value["status"], &value["error"]["code"]),
            (&"failed".into(), &"OUTPUT_TOO_LARGE".into()),
            "{value:#}"
        );
    }
    leaves_nothing(&bot);
}

#[test]
fn output_that_is_no_text_and_half_an_object_are_invalid() {
    let bot = TestBot::new();
    script(&bot, "binary", "", "printf 'ab\\377\\376cd'");
    script(&bot, "half", "", "printf '{\"content\": [{\"type\": \"text\", \"te'");
    script(&bot, "stranger", "", "echo '{\"content\": [], \"colour\": \"red\"}'");
    for name in ["binary", "half", "stranger"] {
        let value = called(&bot, name);
        assert_eq!(
            (&value["status"], &value["error"]["code"]),
            (&"failed".into(), &"INVALID_RESULT".into()),
            "{value:#}"
        );
        assert!(!value["error"]["message"].as_str().expect("a message").is_empty());
    }
    script(&bot, "plain", "", "echo '{\"colour\": \"red\"}'");
    let value = called(&bot, "plain");
    assert_eq!((&value["data"]["colour"], &value["text"]), (&"red".into(), &"{\"colour\":\"red\"}".into()));
}

#[test]
fn a_program_that_never_ends_is_ended_with_its_children() {
    let bot = TestBot::new();
    script(&bot, "stuck", "timeout_seconds = 1", "trap '' TERM\nsleep 300 &\nsleep 300 &\nwhile :; do sleep 300; done");
    script(&bot, "orphan", "timeout_seconds = 5", "sleep 300 &\necho done");
    let value = called(&bot, "stuck");
    assert_eq!((&value["status"], &value["error"]["code"]), (&"failed".into(), &"TOOL_TIMEOUT".into()), "{value:#}");
    let started = std::time::Instant::now();
    let value = called(&bot, "orphan");
    assert_eq!((&value["status"], &value["text"]), (&"completed".into(), &"done\n".into()), "{value:#}");
    assert!(started.elapsed() < Duration::from_secs(5), "a grandchild does not hold the call");
    leaves_nothing(&bot);
}

#[test]
fn a_turn_that_is_stopped_ends_its_program() {
    let bot = TestBot::new();
    script(&bot, "stuck", "timeout_seconds = 100", "trap '' TERM\nwhile :; do sleep 300; done");
    let asked = bot.run(&["ask", ".", "stuck", "--timeout", "2", "--json"]).exits(5).json();
    assert_eq!((&asked["outcome"], &asked["detail"]), (&"cancelled".into(), &"person".into()), "{asked:#}");
    leaves_nothing(&bot);
}

#[test]
fn exit_codes_and_signals_are_told() {
    let bot = TestBot::new();
    script(&bot, "three", "", "echo 'first line' >&2\necho 'second line' >&2\nexit 3");
    script(&bot, "killed", "", "kill -9 $$");
    script(&bot, "writes", "", "echo x > ./here || { echo 'sh: ./here: Read-only file system' >&2; exit 1; }");
    let value = called(&bot, "three");
    assert_eq!(value["error"]["code"], "COMMAND_FAILED");
    let message = value["error"]["message"].as_str().expect("a message");
    assert!(message.contains('3') && message.contains("first line") && !message.contains("second line"), "{message}");
    let value = called(&bot, "killed");
    assert_eq!(value["error"]["code"], "COMMAND_FAILED");
    assert!(value["error"]["message"].as_str().expect("a message").contains('9'), "{value:#}");
}

#[test]
fn a_program_that_is_missing_is_found_by_check() {
    let bot = TestBot::new();
    bot.put("tools/absent/tool.toml", "description = \"x\"\nrun = { command = [\"no-such-program-7\"] }\n");
    bot.put("tools/gone/tool.toml", "description = \"x\"\nrun = { command = [\"./main.sh\"] }\n");
    bot.put("tools/plain/tool.toml", "description = \"x\"\nrun = { command = [\"./main\"] }\n");
    bot.put("tools/plain/main", "#!/bin/sh\necho x\n");
    let checked = contract::ran(&bot, &["check"], 1, "check");
    let mut found: Vec<(&str, &str, &str)> = checked["diagnostics"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|d| Some((d["code"].as_str()?, d["severity"].as_str()?, d["file"].as_str()?)))
        .filter(|(code, ..)| code.starts_with("run::"))
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("run::file-missing", "error", "tools/gone/tool.toml"),
            ("run::not-executable", "error", "tools/plain/tool.toml"),
            // the bot may well run on another machine
            ("run::program-missing", "warning", "tools/absent/tool.toml"),
        ]
    );
    let called = contract::ran(&bot, &["call", "absent", "{}"], 2, "call-refused");
    assert!(called.to_string().contains("run::program-missing"), "{called:#}");
}

#[test]
fn a_program_that_vanishes_later_fails_its_call() {
    let bot = TestBot::new();
    bot.put("bin/greet.sh", "#!/bin/sh\necho hello\n");
    bot.put(
        "tools/greet/tool.toml",
        "description = \"Greet\"\ncapabilities = []\nrun = { command = [\"greet.sh\"] }\n",
    );
    let path = format!("{}:/usr/bin:/bin", bot.at("bin").display());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let options = HostOptions {
            store: StoreKind::Scratch,
            env: Env::of([("PATH", path)]),
            ..HostOptions::new(bot.path(), SystemClock::shared())
        };
        let host = Host::start(options).await.expect("a host");
        let call = || host.command("call", serde_json::json!({"tool": "greet", "input": {}}));
        let (exit, value) = call().await;
        assert_eq!((exit, &value["text"]), (0, &"hello\n".into()), "{value:#}");
        std::fs::remove_file(bot.at("bin/greet.sh")).expect("a removed program");
        let (exit, value) = call().await;
        assert_eq!((exit, &value["error"]["code"]), (1, &"COMMAND_FAILED".into()), "{value:#}");
        assert!(value["error"]["message"].as_str().expect("text").contains("greet.sh"), "{value:#}");
        host.shutdown().await;
    });
}

#[test]
fn a_script_deleted_while_it_runs_and_afterwards() {
    let bot = TestBot::new();
    script(&bot, "slow", "", "sleep 0.3\necho survived");
    let host = harness::LiveHost::start_with(&bot, &["--no-watch"]);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| called(&bot, "slow"));
        std::fs::remove_dir_all(bot.at("tools/slow")).expect("a removed tool");
        let value = running.join().expect("a call");
        assert_eq!((&value["status"], &value["text"]), (&"completed".into(), &"survived\n".into()), "{value:#}");
    });
    // the generation runs its sealed copy until a reload takes the tool away
    assert_eq!(called(&bot, "slow")["status"], "completed");
    contract::ran(&bot, &["reload"], 0, "reload");
    contract::ran(&bot, &["call", "slow", "{}"], 2, "call-refused");
    assert_eq!(host.stop(), 0);
}

#[test]
fn a_long_text_becomes_an_artifact() {
    let bot = TestBot::new();
    script(&bot, "long", "", "head -c 60000 /dev/zero | tr '\\0' 'y'");
    script(&bot, "fits", "", "head -c 50000 /dev/zero | tr '\\0' 'z'");
    let host = harness::LiveHost::start_with(&bot, &["--no-watch"]);
    let ran = bot.run(&["call", "long", "{}", "--session", "s", "--json"]).exits(0);
    let value = ran.json();
    contract::is("call", &value);
    let path = value["artifact"]["path"].as_str().expect("a path");
    let kept = std::fs::read_to_string(path).or_else(|_| std::fs::read_to_string(bot.at(path))).expect("the artifact");
    assert_eq!(kept.trim_end().len(), 60000);
    assert_eq!(value["artifact"]["size_bytes"], 60000);
    assert!(value["artifact"]["preview"].as_str().expect("a preview").starts_with("yyyy"));
    let text = value["text"].as_str().expect("text");
    assert!(text.chars().count() < 50000 && text.contains("60000") && text.contains("yyyy"), "{}", text.len());
    let value = called(&bot, "fits");
    assert!(value["artifact"].is_null(), "{}", value["artifact"]);
    assert_eq!(value["text"].as_str().map(|t| t.chars().count()), Some(50000));
    assert_eq!(host.stop(), 0);
}
