//! A secret is in no output, log, journal, artifact or store file.

use fake_openai::{Call, Turn};
use harness::{KEY, LiveHost, Served, TestBot};
use serde_json::json;
use std::path::{Path, PathBuf};

const SECRET: &str = "pa55-\"quoted\"-wort-é-77";

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match std::fs::symlink_metadata(&path) {
            Ok(kind) if kind.is_dir() => files(&path, out),
            Ok(kind) if kind.is_file() => out.push(path),
            _ => {}
        }
    }
}

/// Asserts that no file below a folder holds a text, as it is, quoted as JSON, or percent-encoded.
#[track_caller]
pub(crate) fn in_no_file(dir: &Path, secret: &str) {
    let quoted = serde_json::to_string(secret).expect("JSON");
    let forms = [secret, quoted.trim_matches('"')];
    let mut all = Vec::new();
    files(dir, &mut all);
    assert!(!all.is_empty(), "{} is empty", dir.display());
    for path in all {
        let bytes = std::fs::read(&path).unwrap_or_default();
        for form in forms {
            let found = bytes.windows(form.len()).any(|w| w == form.as_bytes());
            assert!(!found, "the secret is in {}", path.display());
        }
    }
}

/// The model repeats a secret, and calls a tool that asks with it: neither a chat nor the store has it.
#[test]
fn a_secret_in_an_answer_or_a_card_leaves_by_no_channel() {
    let turns = vec![
        Turn::text(format!("The key is {SECRET}.")),
        Turn::calls([Call::new("load_tool", json!({"name": "lookup"}))]),
        Turn::calls([Call::new("lookup", json!({"how": "none", "key": format!("x{SECRET}")}))]),
        Turn::text("Done."),
    ];
    let server = Served::start(turns);
    let bot = server.bot("[secrets]\nLOOKUP = \"${LOOKUP_KEY}\"\n");
    bot.put(".env", &format!("MODEL_KEY={KEY}\nLOOKUP_KEY='{SECRET}'\n"));
    let manifest = "description = \"Look something up\"\ncapabilities = []\nrequires_approval = \"always\"\n\
        run = { command = [\"true\"] }\n[input]\nhow = \"string\"\nkey = \"string\"\n";
    bot.put("tools/lookup/tool.toml", manifest);
    let ran = bot.run_with(&["chat"], "tell me\nlook it up\nyes\n").exits(0);
    assert!(ran.out.contains("The key is [redacted]."), "{ran:?}");
    assert!(ran.err.contains("May I run `lookup`?") && ran.err.contains("x[redacted]"), "{ran:?}");
    assert!(ran.out.contains("Done."), "{ran:?}");
    let quoted = serde_json::to_string(SECRET).expect("JSON");
    for form in [SECRET, quoted.trim_matches('"')] {
        assert!(!ran.out.contains(form) && !ran.err.contains(form), "{form} is in an output: {ran:?}");
    }
    in_no_file(&bot.at("data"), SECRET);
}

/// A bot whose tool gets the secret by preset and tells it in every way it has.
fn talkative(bot: &TestBot) {
    let manifest = "description = \"Look something up\"\ncapabilities = []\nrequires_approval = \"never\"\n\
        run = { command = [\"sh\", \"./main.sh\"] }\n[input]\nhow = \"string\"\nkey = \"string\"\n\
        [preset]\nkey = \"${secret.LOOKUP}\"\n";
    bot.put("tools/lookup/tool.toml", manifest);
    let program = r#"#!/bin/sh
all=$(sed 's/},"context":.*//')
how=$(printf '%s' "$all" | sed 's/.*"how":"\([a-z]*\)".*/\1/')
json=$(printf '%s' "$all" | sed 's/.*"key":"\(\([^"\\]\|\\.\)*\)".*/\1/')
key=$(printf '%s' "$json" | sed 's/\\"/"/g')
printf 'log: %s\n' "$key" >&2
case $how in
  text) printf 'the key is %s\n' "$key" ;;
  data) printf '{"nested":[{"key":"%s"}],"%s":"as a name"}\n' "$json" "$json" ;;
  error) printf '{"is_error":true,"error":{"code":"NO","message":"bad %s","details":{"k":"%s"}}}\n' "$json" "$json" ;;
  exit) exit 3 ;;
  long) yes "$key" | head -n 4000 ;;
esac
"#;
    bot.put("tools/lookup/main.sh", program);
}

#[test]
fn neither_a_preset_nor_a_model_key_leaves() {
    let hows = ["text", "data", "error", "exit", "long"];
    let mut turns = vec![Turn::calls([Call::new("load_tool", json!({"name": "lookup"}))])];
    turns.push(Turn::calls(hows.map(|how| Call::new("lookup", json!({"how": how})))));
    turns.push(Turn::calls([Call::new("lookup", json!({"how": "text", "key": "mine"}))]));
    turns.push(Turn::text("Looked up."));
    let server = Served::start(turns);
    let bot = server.bot(
        "[secrets]\nLOOKUP = \"${LOOKUP_KEY}\"\n[telemetry]\nlog_level = \"debug\"\nlog_file = \"logs/host.log\"\n",
    );
    bot.put(".env", &format!("MODEL_KEY={KEY}\nLOOKUP_KEY='{SECRET}'\n"));
    talkative(&bot);
    std::fs::create_dir(bot.at("logs")).expect("a folder");
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    let mut outputs = Vec::new();
    for how in hows {
        let input = json!({"how": how}).to_string();
        outputs.push(bot.run(&["call", "lookup", &input, "--json"]));
        outputs.push(bot.run(&["call", "lookup", &input]));
    }
    assert!(outputs[0].out.contains("the key is [redacted]"), "{:?}", outputs[0]);
    assert!(outputs[2].out.contains("[redacted]"), "{:?}", outputs[2]);
    let asked = bot.run(&["ask", ".", "look it up", "--session", "s", "--json"]).exits(0);
    let codes: Vec<String> =
        asked.json()["tool_calls"].as_array().expect("calls").iter().map(|c| c["error"]["code"].to_string()).collect();
    assert_eq!(codes, ["null", "null", "null", "\"NO\"", "\"COMMAND_FAILED\"", "null", "\"VALIDATION_ERROR\""]);
    outputs.push(asked);
    for args in [
        vec!["list", "--schema", "--json"],
        vec!["explain", "lookup", "--as", "ann", "--json"],
        vec!["status", "--json"],
        vec!["generations", "--records", "--json"],
        vec!["check", "--json"],
    ] {
        outputs.push(bot.run(&args).exits(0));
    }
    // a configuration that shows its own lines in a diagnostic
    let config = std::fs::read_to_string(bot.at("bot.toml")).expect("bot.toml");
    bot.put("bot.toml", &format!("{config}typo = \"${{MODEL_KEY}}\"\n"));
    outputs.push(bot.run(&["reload", "--json"]).exits(1));
    outputs.push(bot.run(&["check"]).exits(1));
    assert_eq!(host.stop(), 0);
    let quoted = serde_json::to_string(SECRET).expect("JSON");
    for form in [KEY, SECRET, quoted.trim_matches('"')] {
        for ran in &outputs {
            assert!(!ran.out.contains(form) && !ran.err.contains(form), "{form} is in an output: {ran:?}");
        }
        for request in server.requests() {
            let bytes = String::from_utf8_lossy(&request.bytes).into_owned();
            assert!(!bytes.contains(form), "{form} is in a prompt: {bytes}");
        }
    }
    for secret in [KEY, SECRET] {
        in_no_file(&bot.at("data"), secret);
        in_no_file(&bot.at("logs"), secret);
    }
}
