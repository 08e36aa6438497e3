//! `diff`, `doctor` and `completions`.

use crate::contract;
use harness::{LiveHost, TestBot};
use serde_json::{Value, json};
use std::time::Duration;

fn check<'v>(doctor: &'v Value, id: &str) -> &'v Value {
    doctor["checks"].as_array().expect("checks").iter().find(|c| c["id"] == id).expect("the check")
}

#[test]
fn two_folders_differ_by_names_fields_and_settings() {
    let (old, new) = (TestBot::new().echo(), TestBot::new().echo());
    old.put_tool("tools/gone", "It was here", "x");
    new.put_tool("tools/fresh", "It is here", "x");
    new.put("bot.toml", "[agent]\nmax_iterations = 20\n[secrets]\nkey = \"another-secret\"\n");
    old.put("bot.toml", "[secrets]\nkey = \"a-first-secret\"\n");
    let manifest = std::fs::read_to_string(new.at("tools/echo/tool.toml")).expect("a manifest");
    new.put("tools/echo/tool.toml", &format!("tags = [\"say\"]\n{manifest}"));
    new.put("skills/kind/SKILL.md", "---\ndescription: Be kind\n---\nBe kind.\n");
    let (a, b) = (old.path().display().to_string(), new.path().display().to_string());
    let found = contract::ran(&old, &["diff", &a, &b], 0, "diff");
    assert_eq!(found["tools"]["added"], json!(["fresh"]));
    assert_eq!(found["tools"]["removed"], json!(["gone"]));
    let echo = &found["tools"]["changed"][0];
    assert_eq!(echo["name"], "echo");
    let tags = echo["fields"].as_array().expect("fields").iter().find(|f| f["field"] == "tags").expect("tags");
    assert_eq!((&tags["from"], &tags["to"]), (&json!([]), &json!(["say"])));
    assert_eq!(found["skills"]["added"], json!(["kind"]));
    let keys: Vec<&str> =
        found["config"].as_array().expect("a list").iter().filter_map(|c| c["key"].as_str()).collect();
    assert_eq!(keys, ["agent.max_iterations", "secrets.key"]);
    let whole = found.to_string();
    assert!(!whole.contains("a-first-secret") && !whole.contains("another-secret"), "{whole}");
    let text = old.run(&["diff", &a, &b]).exits(0).out;
    assert!(
        text.contains("  + fresh") && text.contains("  - gone") && text.contains("[L] agent.max_iterations: 15 -> 20")
    );
    let same = old.run(&["diff", &a, "disk"]).exits(0).out;
    assert!(same.ends_with("no difference\n"), "{same}");
}

#[test]
fn the_active_generation_is_compared_with_the_disk() {
    let bot = TestBot::new().echo();
    let without = contract::ran(&bot, &["diff"], 3, "diff-refused");
    assert_eq!(without["diagnostics"][0]["code"], "cli::no-host");
    let mut host = LiveHost::start_with(&bot, &["--no-watch"]);
    let same = contract::ran(&bot, &["diff"], 0, "diff");
    assert_eq!((&same["from"], &same["to"]), (&json!("1"), &json!("disk")));
    assert_eq!((&same["tools"]["added"], &same["config"]), (&json!([]), &json!([])), "{same:#}");
    bot.put_tool("tools/more", "One more tool", "more");
    let differs = contract::ran(&bot, &["diff", "1", "disk"], 0, "diff");
    assert_eq!(differs["tools"]["added"], json!(["more"]));
    bot.run(&["reload"]).exits(0);
    host.wait_event("reload", Duration::from_secs(20)).expect("a reload");
    assert_eq!(contract::ran(&bot, &["diff"], 0, "diff")["from"], "2");
    let gone = contract::ran(&bot, &["diff", "77", "active"], 1, "diff-refused");
    assert_eq!(gone["diagnostics"][0]["code"], "cli::no-generation");
    contract::ran(&bot, &["diff", "no-such-folder"], 2, "diff-refused");
    bot.put("bot.toml", "[agnt]\n");
    contract::ran(&bot, &["diff"], 1, "diff-refused");
    assert_eq!(host.stop(), 0);
}

#[test]
fn the_doctor_looks_and_changes_nothing() {
    let bot = TestBot::new().echo();
    let found = contract::ran(&bot, &["doctor", "."], 0, "doctor");
    for id in ["config", "permissions", "watch", "disk", "clock", "lock"] {
        let status = &check(&found, id)["status"];
        assert!(status == "pass" || status == "skip", "{found:#}");
    }
    for id in ["tokens", "docker", "mcp"] {
        assert_eq!(check(&found, id)["status"], "skip", "{found:#}");
    }
    assert!(!bot.at("data").exists(), "it made nothing");
    contract::ran(&bot, &["doctor", ".", "--online"], 0, "doctor");
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    let found = contract::ran(&bot, &["doctor"], 0, "doctor");
    assert!(check(&found, "lock")["message"].as_str().expect("text").contains(&host.pid().to_string()), "{found:#}");
    assert_eq!(host.stop(), 0);
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    let bot = TestBot::new();
    bot.put("bot.toml", "[agnt]\n");
    let found = contract::shaped(bot.run(&["doctor", "--json"]), 1, "doctor");
    assert_eq!(check(&found, "config")["status"], "fail");
    let text = bot.run(&["doctor"]).exits(1).out;
    assert!(text.contains("fail  config: 1 error(s)") && text.contains("understudy check"), "{text}");
    bot.put("bot.toml", &format!("[store]\nmin_free_mb = {}\n", u32::MAX));
    let found = contract::shaped(bot.run(&["doctor", "--json"]), 1, "doctor");
    assert_eq!(check(&found, "disk")["status"], "fail", "{found:#}");
}

#[test]
fn each_shell_gets_a_script_that_names_the_commands() {
    let bot = TestBot::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = bot.run(&["completions", shell]).exits(0).out;
        assert!(script.contains("understudy") && script.contains("doctor"), "{shell}");
        assert_eq!(contract::ran(&bot, &["completions", shell], 0, "completions")["script"], script.as_str());
    }
    contract::ran(&bot, &["completions", "tcsh"], 2, "completions-refused");
    let script = bot.run(&["completions", "bash"]).exits(0).out;
    bot.put("script.bash", &script);
    let read = std::process::Command::new("bash").arg("-n").arg(bot.at("script.bash")).status();
    assert!(read.is_ok_and(|s| s.success()), "bash reads it");
}
