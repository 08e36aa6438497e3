//! Wrong usage is exit 2 in every command, in words and as one object.

use crate::contract;
use harness::TestBot;

const COMMANDS: [&str; 16] = [
    "new",
    "run",
    "chat",
    "ask",
    "check",
    "list",
    "explain",
    "call",
    "test",
    "reload",
    "generations",
    "status",
    "diff",
    "doctor",
    "schema",
    "completions",
];

#[test]
fn an_unknown_option_is_refused_by_every_command() {
    let bot = TestBot::new();
    for command in COMMANDS {
        let said = bot.run(&[command, "--no-such-option"]).exits(2);
        assert!(said.out.is_empty() && said.err.contains("--no-such-option"), "{command}: {said:?}");
        if command != "chat" {
            contract::ran(&bot, &[command, "--no-such-option"], 2, &format!("{command}-refused"));
        }
    }
    let unknown = contract::ran(&bot, &["chek"], 2, "cli-refused");
    assert!(unknown["diagnostics"][0]["help"].as_str().expect("help").contains("check"));
}

#[test]
fn a_folder_that_is_no_bot_is_wrong_usage() {
    let bot = TestBot::new();
    std::fs::remove_file(bot.at("bot.toml")).expect("removed");
    for args in [
        &["run", "."][..],
        &["check", "."],
        &["test", "."],
        &["ask", ".", "hi"],
        &["list"],
        &["call", "x", "{}"],
        &["explain", "x", "--as", "ann"],
    ] {
        let refused = contract::ran(&bot, args, 2, &format!("{}-refused", args[0]));
        assert_eq!(refused["diagnostics"][0]["code"], "cli::usage", "{args:?}");
    }
    for args in [&["chat", "nowhere"][..], &["check", "nowhere"], &["list", "--dir", "nowhere"]] {
        let said = bot.run(args).exits(2);
        assert!(said.err.contains("nowhere"), "{said:?}");
    }
}

#[test]
fn help_and_version_are_no_mistakes() {
    let bot = TestBot::new();
    let help = bot.run(&["--help"]).exits(0).out;
    for command in COMMANDS {
        assert!(help.contains(&format!("  {command} ")), "{command} is not in --help");
        assert!(bot.run(&[command, "--help"]).exits(0).out.contains("Usage:"));
    }
    let version = bot.run(&["--version"]).exits(0).out;
    assert!(version.contains(env!("CARGO_PKG_VERSION")) && version.contains("console"), "{version}");
}

#[test]
fn arguments_are_read_before_anything_is_started() {
    let bot = TestBot::new().echo();
    let broken = contract::ran(&bot, &["call", "echo", "{\"message\":\n ?}"], 2, "call-refused");
    assert_eq!((&broken["diagnostics"][0]["line"], &broken["diagnostics"][0]["column"]), (&2.into(), &2.into()));
    let shown = bot.run(&["call", "echo", "{\"message\": ?}"]).exits(2).err;
    assert!(shown.contains("{\"message\": ?}") && shown.contains('^'), "{shown}");
    contract::ran(&bot, &["ask", ".", "  "], 2, "ask-refused");
    contract::ran(&bot, &["ask", ".", "hi", "--timeout", "-1"], 2, "ask-refused");
    contract::ran(&bot, &["ask", ".", "hi", "--timeout", "nan"], 2, "ask-refused");
    contract::ran(&bot, &["explain", "echo"], 2, "explain-refused");
    contract::ran(&bot, &["list", "toolz"], 2, "list-refused");
    contract::ran(&bot, &["explain", "echo", "--as", "telegram:"], 2, "explain-refused");
    assert!(!bot.at("data").exists(), "nothing was started");
}

#[test]
fn live_commands_without_a_host_are_exit_3() {
    let bot = TestBot::new();
    for command in ["status", "generations", "reload"] {
        let refused = contract::ran(&bot, &[command], 3, &format!("{command}-refused"));
        assert_eq!(refused["diagnostics"][0]["code"], "cli::no-host");
    }
    bot.run(&["status", "--ready"]).exits(3);
    // a file that a killed host left behind counts as none
    bot.put("data/control.json", "{\"pid\": 999999999, \"protocol\": 1, \"socket\": \"/nowhere\"}");
    contract::ran(&bot, &["status"], 3, "status-refused");
}

#[test]
fn another_protocol_is_refused() {
    let bot = TestBot::new();
    let own = std::process::id();
    bot.put("data/control.json", &format!("{{\"pid\": {own}, \"protocol\": 999, \"socket\": \"/nowhere\"}}"));
    let refused = contract::ran(&bot, &["status"], 1, "status-refused");
    assert_eq!(refused["diagnostics"][0]["code"], "cli::protocol");
}

#[test]
fn a_code_is_explained_without_a_bot() {
    let bot = TestBot::new();
    let code = contract::ran(&bot, &["explain", "--code", "tool::unknown-key"], 0, "explain-code");
    assert_eq!(code["code"], "tool::unknown-key");
    assert!(bot.run(&["explain", "--code", "tool::unknown-key"]).exits(0).out.contains("fix:"));
    let unknown = contract::ran(&bot, &["explain", "--code", "tool::unknwn-key"], 2, "explain-refused");
    assert_eq!(unknown["diagnostics"][0]["help"], "did you mean `tool::unknown-key`?");
}
