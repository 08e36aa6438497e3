//! Saves under a running host: what answers, what stays, what is told.

use crate::contract;
use harness::{Gate, LiveHost, TestBot, command, wait_for};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(30);

fn text_of(bot: &TestBot, tool: &str) -> Value {
    command(bot, "call", &json!({"tool": tool, "input": {}})).1["text"].clone()
}

fn generation(bot: &TestBot, number: u64) -> Option<Value> {
    let (_, body) = command(bot, "generations", &json!({}));
    body["items"].as_array()?.iter().find(|g| g["number"] == number).cloned()
}

#[test]
fn a_saved_tool_answers_within_a_second() {
    let bot = TestBot::new().tool("tools/say", "Say something", "version 0");
    let host = LiveHost::start(&bot);
    // a busy machine may be late once; what the host adds is the fastest of some
    let mut times = Vec::new();
    for n in 1..=5 {
        let words = format!("version {n}");
        bot.put("tools/say/main.sh", &format!("#!/bin/sh\ncat >/dev/null\nprintf %s '{words}'\n"));
        let saved = Instant::now();
        wait_for("the new text", SOON, || (text_of(&bot, "say") == *words).then_some(()));
        times.push(saved.elapsed());
    }
    eprintln!("save to answer: {times:?}");
    assert!(times.iter().min().is_some_and(|t| *t < Duration::from_secs(1)), "{times:?}");
    assert_eq!(host.stop(), 0);
}

#[test]
fn a_turn_keeps_the_generation_it_began_with() {
    let (bot, gate) = (TestBot::new(), Gate::new());
    gate.tool(&bot, "tools/stand", "old words");
    let mut host = LiveHost::start(&bot);
    let running = bot.begin(&["ask", ".", "wait at the gate", "--json"]);
    gate.await_calls(1);
    Gate::words(&bot, "tools/stand", "new words");
    assert_eq!(host.wait_reload("published")["to"], 2);
    let first = generation(&bot, 1).expect("generation 1");
    assert_eq!((&first["state"], &first["leases"]), (&"retired".into(), &1.into()));
    assert!(first["oldest_lease_s"].as_f64().is_some_and(|s| s > 0.0), "{first:#}");
    gate.open();
    let old = contract::shaped(running.finish(), 0, "ask");
    assert_eq!(old["generation"], 1);
    assert!(old["text"].as_str().is_some_and(|t| t.contains("old words")), "{old:#}");
    assert_eq!(old["outcome"], "completed");
    let new = contract::ran(&bot, &["ask", ".", "wait at the gate"], 0, "ask");
    assert_eq!(new["generation"], 2);
    assert!(new["text"].as_str().is_some_and(|t| t.contains("new words")), "{new:#}");
    wait_for("generation 1 is gone", SOON, || {
        let first = generation(&bot, 1)?;
        (first["state"] == "disposed" && first["leases"] == 0).then_some(())
    });
    assert_eq!(host.stop(), 0);
}

#[test]
fn a_broken_save_changes_nothing_and_its_repair_publishes() {
    let bot = TestBot::new().echo().tool("tools/say", "Say something", "fine");
    let mut host = LiveHost::start(&bot);
    let before = bot.run(&["list", "--json"]).exits(0).out;
    let good = std::fs::read_to_string(bot.at("tools/say/tool.toml")).expect("a manifest");
    bot.put("tools/say/tool.toml", &good.replace("description", "\ndescripton"));
    let record = host.wait_reload("rejected");
    assert_eq!((&record["to"], &record["from"]), (&Value::Null, &1.into()));
    assert_eq!(bot.run(&["list", "--json"]).exits(0).out, before);
    assert_eq!(text_of(&bot, "say"), "fine");
    let status = contract::ran(&bot, &["status"], 0, "status");
    assert_eq!((&status["ready"], &status["generation"]["active"]), (&true.into(), &1.into()));
    assert_eq!(status["desired"]["differs"], true);
    let found = status["desired"]["last_reload"]["diagnostics"].as_array().expect("findings").clone();
    let unknown = found.iter().find(|d| d["code"] == "tool::unknown-key").expect("the cause");
    assert_eq!((&unknown["file"], &unknown["line"]), (&"tools/say/tool.toml".into(), &2.into()));
    // the same content again: nothing to publish, nothing differs
    bot.put("tools/say/tool.toml", &good);
    host.wait_reload("unchanged");
    let status = contract::ran(&bot, &["status"], 0, "status");
    assert_eq!((&status["desired"]["differs"], &status["generation"]["active"]), (&false.into(), &1.into()));
    bot.put("tools/say/tool.toml", "descripton =\n");
    host.wait_reload("rejected");
    bot.put_tool("tools/say", "Say something", "better");
    let repaired = host.wait_reload("published");
    assert_eq!(repaired["to"], 2);
    assert_eq!(text_of(&bot, "say"), "better");
    assert_eq!(contract::ran(&bot, &["status"], 0, "status")["pid"], host.pid());
    assert_eq!(host.stop(), 0);
}

#[test]
fn a_denial_acts_beside_a_broken_plugin() {
    let bot = TestBot::new().echo();
    bot.put("plugins/other/plugin.toml", "version = \"1.0.0\"\ndescription = \"Another\"\n");
    bot.put_tool("plugins/other/tools/say", "Say something", "fine");
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    contract::ran(&bot, &["call", "echo", "{\"message\": \"x\"}"], 0, "call");
    let before = bot.run(&["list", "--json"]).exits(0).out;
    bot.put("bot.toml", "[tools]\ndeny = [\"echo\"]\n");
    bot.put("plugins/other/tools/say/tool.toml", "description = \"half");
    let refused = bot.run(&["reload", "--json"]).exits(1).json();
    contract::is("reload", &refused);
    let record = &refused["record"];
    assert_eq!((&record["outcome"], &record["policy_applied"]), (&"rejected".into(), &true.into()), "{record:#}");
    let denied = bot.run(&["call", "echo", "{\"message\": \"x\"}", "--json"]).exits(1).json();
    assert_eq!(denied["status"], "denied", "{denied:#}");
    assert_eq!(denied["error"]["code"], "TOOL_NOT_ALLOWED");
    assert_eq!(denied["generation"], 1);
    let explained = bot.run(&["explain", "echo", "--as", "local", "--json"]).exits(1).json();
    assert_eq!(explained["admitted"], false, "{explained:#}");
    assert_eq!(bot.run(&["list", "--json"]).exits(0).out, before);
    let asked = contract::ran(&bot, &["ask", ".", "echo \"x\""], 0, "ask");
    assert!(!asked["text"].as_str().expect("text").contains("echo: x"), "{asked:#}");
    // an unknown name refuses the candidate; the entries that are valid act
    bot.put("bot.toml", "[tools]\ndeny = [\"other__say\", \"no_such_tool\"]\n");
    let refused = bot.run(&["reload", "--json"]).exits(1).json();
    assert_eq!(refused["record"]["policy_applied"], true);
    contract::ran(&bot, &["call", "echo", "{\"message\": \"x\"}"], 0, "call");
    let denied = bot.run(&["call", "say", "{}", "--json"]).exits(1).json();
    assert_eq!(denied["error"]["code"], "TOOL_NOT_ALLOWED", "{denied:#}");
    // a value of a wrong type keeps the former policy whole
    bot.put("bot.toml", "[tools]\ndeny = 7\n");
    let refused = bot.run(&["reload", "--json"]).exits(1).json();
    assert_eq!(refused["record"]["policy_applied"], false);
    let is_denied = || bot.run(&["call", "say", "{}", "--json"]).exits(1).json()["status"] == "denied";
    assert!(is_denied());
    // a file that has become empty takes nothing back
    bot.put("bot.toml", "[tools]\ndeny = [\"other__say\"]\n");
    bot.put_tool("plugins/other/tools/say", "Say something", "fine");
    contract::ran(&bot, &["reload"], 0, "reload");
    bot.put("bot.toml", "");
    let refused = bot.run(&["reload", "--json"]).exits(1).json();
    assert_eq!(refused["diagnostics"][0]["code"], "bot::emptied", "{refused:#}");
    assert_eq!(refused["record"]["policy_applied"], false);
    assert!(is_denied());
    assert_eq!(host.stop(), 0);
}

#[test]
fn an_edit_during_the_turn_is_obeyed_at_its_next_call() {
    let (bot, gate) = (TestBot::new(), Gate::new());
    gate.tool(&bot, "tools/stand", "through");
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    let running = bot.begin(&["call", "stand", "{}", "--json"]);
    gate.await_calls(1);
    bot.put("bot.toml", "[tools]\ndisabled = [\"stand\"]\n");
    let record = contract::ran(&bot, &["reload"], 0, "reload")["record"].clone();
    assert_eq!(record["policy_applied"], true, "{record:#}");
    let next = bot.run(&["call", "stand", "{}", "--json"]).exits(1).json();
    assert_eq!(next["status"], "denied", "{next:#}");
    // what runs already is not torn
    gate.open();
    assert_eq!(contract::shaped(running.finish(), 0, "call")["text"], "through");
    assert_eq!(host.stop(), 0);
}
