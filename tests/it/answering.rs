//! `ask`, `call` and `chat`: the bot at work, without a running host.

use crate::contract;
use harness::TestBot;
use serde_json::Value;

/// A tool that asks before it runs.
fn asking() -> TestBot {
    let bot = TestBot::new().echo();
    bot.put(
        "tools/erase/tool.toml",
        "description = \"Erase the board\"\ncapabilities = [\"write\"]\nrequires_approval = \"always\"\n\
         run = { command = [\"./main.sh\"] }\n",
    );
    bot.put("tools/erase/main.sh", "#!/bin/sh\ncat >/dev/null\necho erased\n");
    bot
}

#[test]
fn ask_answers_without_a_key() {
    let bot = TestBot::new().echo();
    let asked = contract::ran(&bot, &["ask", ".", "hi"], 0, "ask");
    assert_eq!((&asked["outcome"], &asked["model"]), (&"completed".into(), &"offline".into()));
    let footer = "is not a language model";
    assert!(!asked["text"].as_str().expect("text").contains(footer));
    let said = bot.run(&["ask", ".", "hi"]).exits(0);
    assert_eq!(said.out.trim_end(), asked["text"].as_str().expect("text").trim_end());
    assert!(said.err.contains(footer) && !said.out.contains(footer), "{said:?}");
    let echoed = contract::ran(&bot, &["ask", ".", "echo \"good day\""], 0, "ask");
    assert!(echoed["text"].as_str().expect("text").contains("echo: good day"), "{echoed:#}");
    let calls: Vec<&str> =
        echoed["tool_calls"].as_array().expect("calls").iter().filter_map(|c| c["tool"].as_str()).collect();
    assert_eq!(calls, ["discover", "load_tool", "echo"]);
}

#[test]
fn a_named_session_is_kept_and_others_are_not() {
    let bot = TestBot::new().echo();
    let first = contract::ran(&bot, &["ask", ".", "echo \"one\"", "--session", "s"], 0, "ask");
    let second = contract::ran(&bot, &["ask", ".", "echo \"two\"", "--session", "s"], 0, "ask");
    assert_eq!(first["session_id"], second["session_id"]);
    // the tool stays loaded in the session: nothing is searched the second time
    let calls = second["tool_calls"].as_array().expect("calls").len();
    assert!(calls < first["tool_calls"].as_array().expect("calls").len(), "{second:#}");
    let fresh = contract::ran(&bot, &["ask", ".", "echo \"three\""], 0, "ask");
    let again = contract::ran(&bot, &["ask", ".", "echo \"three\""], 0, "ask");
    assert_eq!(fresh["tool_calls"].as_array().map(Vec::len), again["tool_calls"].as_array().map(Vec::len));
}

#[test]
fn a_question_without_approve_is_answered_no() {
    let bot = asking();
    let asked = bot.run(&["ask", ".", "erase the board", "--json"]).exits(7).json();
    contract::is("ask", &asked);
    assert_eq!(asked["ok"], false);
    assert_eq!(asked["questions"].as_array().map(Vec::len), Some(1), "{asked:#}");
    assert!(!asked.to_string().contains("erased"));
    let approved = contract::ran(&bot, &["ask", ".", "erase the board", "--approve", "erase"], 0, "ask");
    assert!(approved["text"].as_str().expect("text").contains("erased"), "{approved:#}");
}

#[test]
fn call_goes_through_every_gate() {
    let bot = asking();
    let done = contract::ran(&bot, &["call", "echo", "{\"message\": \"x\"}"], 0, "call");
    assert_eq!((&done["status"], &done["text"]), (&"completed".into(), &"echo: x".into()));
    assert_eq!(bot.run(&["call", "echo", "{\"message\": \"x\"}"]).exits(0).out, "echo: x\n");
    let piped = bot.run_with(&["call", "echo", "-", "--json"], "{\"message\": \"from a pipe\"}").exits(0).json();
    contract::is("call", &piped);
    assert_eq!(piped["text"], "echo: from a pipe");
    let wrong = bot.run(&["call", "echo", "{\"mesage\": 1}", "--json"]).exits(1).json();
    contract::is("call", &wrong);
    assert_eq!(wrong["error"]["code"], "VALIDATION_ERROR");
    assert!(!wrong["violations"].as_array().expect("violations").is_empty());
    let shown = bot.run(&["call", "echo", "{\"mesage\": 1}"]).exits(1).err;
    assert!(shown.contains("VALIDATION_ERROR"), "{shown}");
    let waits = bot.run(&["call", "erase", "{}", "--json"]).exits(7).json();
    contract::is("call", &waits);
    assert_eq!(waits["status"], "needs_approval");
    let approved = contract::ran(&bot, &["call", "erase", "{}", "--approve"], 0, "call");
    assert_eq!(approved["text"].as_str().map(str::trim), Some("erased"));
    contract::ran(&bot, &["call", "nothing", "{}"], 2, "call-refused");
    let list = bot.run(&["call", "echo", "[1]", "--json"]);
    assert_ne!(list.code, 0, "{list:?}");
    contract::ran(&bot, &["call", "echo", "{\"message\": \"x\"}", "--disk"], 0, "call");
}

#[test]
fn what_takes_too_long_is_exit_5() {
    let bot = TestBot::new();
    bot.put_tool("tools/doze", "Doze for a long while", "awake");
    bot.put("tools/doze/main.sh", "#!/bin/sh\ncat >/dev/null\nsleep 60\n");
    let late = bot.run(&["ask", ".", "doze for a long while", "--timeout", "1", "--json"]).exits(5).json();
    contract::is("ask", &late);
    assert_eq!(late["ok"], false);
}

#[test]
fn a_turn_that_does_not_complete_is_exit_6() {
    // a port that nobody listens on
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let bot = TestBot::new();
    bot.put(
        "bot.toml",
        &format!(
            "[models.default]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://{free}/v1\"\n\
             api_key = \"${{A_KEY:-sk-not-a-secret}}\"\nretries = 0\n"
        ),
    );
    let failed = bot.run(&["ask", ".", "hi", "--json"]).exits(6).json();
    contract::is("ask", &failed);
    assert_eq!((&failed["outcome"], &failed["detail"]), (&"failed".into(), &"MODEL_UNAVAILABLE".into()));
    bot.run(&["chat", "--once", "hi"]).exits(6);
    assert!(!failed.to_string().contains("sk-not-a-secret"));
}

#[test]
fn what_was_left_out_is_told_with_the_answer() {
    let bot = TestBot::new().echo();
    bot.put("plugins/bad/plugin.toml", "version = \"1.0.0\"\ndescripton = \"typo\"\n");
    let asked = bot.run(&["ask", ".", "echo \"good day\"", "--json"]).exits(0).json();
    contract::is("ask", &asked);
    assert!(asked["text"].as_str().expect("text").contains("echo: good day"));
    assert!(asked["diagnostics"].to_string().contains("plugin::unknown-key"), "{asked:#}");
    assert!(bot.run(&["ask", ".", "hi"]).exits(0).err.contains("plugin::unknown-key"));
    let list = contract::ran(&bot, &["list"], 1, "list-refused");
    assert!(list["diagnostics"].to_string().contains("plugin::unknown-key"));
}

#[test]
fn a_broken_bot_refuses_to_answer() {
    let bot = TestBot::new();
    bot.put("bot.toml", "[bot\n");
    let refused = contract::ran(&bot, &["ask", ".", "hi"], 1, "ask-refused");
    assert_eq!(refused["diagnostics"][0]["code"], "bot::syntax");
}

#[test]
fn chat_once_has_the_exit_code_of_ask() {
    let bot = asking();
    let said = bot.run(&["chat", "--once", "echo \"good day\""]).exits(0);
    assert!(said.out.contains("echo: good day"), "{said:?}");
    let asked = bot.run(&["chat", "--once", "erase the board"]).exits(7);
    assert!(!asked.out.contains("erased"), "{asked:?}");
}

#[test]
fn chat_reads_lines_and_remembers() {
    let bot = TestBot::new().echo();
    let said = bot.run_with(&["chat", "--plain"], "echo \"one\"\necho \"two\"\n").exits(0);
    let (one, two) = (said.out.find("echo: one"), said.out.find("echo: two"));
    assert!(one.is_some() && one < two, "{said:?}");
    let lines = bot.run_with(&["chat", "--json"], "echo \"three\"\n").exits(0).out;
    let events: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert!(!events.is_empty());
    for event in &events {
        contract::is("chat", event);
    }
    let outcome = events.last().expect("an event");
    assert_eq!((&outcome["event"], &outcome["outcome"]), (&"outcome".into(), &"completed".into()), "{lines}");
    assert!(events.iter().any(|e| e["event"] == "message" && e["text"].as_str().is_some_and(|t| t.contains("three"))));
}

#[test]
fn chat_answers_a_question_with_a_line() {
    let bot = asking();
    let yes = bot.run_with(&["chat"], "erase the board\nyes\n").exits(0);
    assert!(yes.out.contains("erased"), "{yes:?}");
    let bot = asking();
    let end = bot.run_with(&["chat"], "erase the board\n").exits(0);
    assert!(!end.out.contains("erased"), "the end of input is no: {end:?}");
}
