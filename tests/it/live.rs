//! Commands that speak to a running host, and the host's own life.

use crate::contract;
use harness::{LiveHost, TestBot, wait_for};
use rustix::process::Signal;
use serde_json::Value;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

#[test]
fn run_tells_its_life_in_lines() {
    let bot = TestBot::new().echo();
    let mut host = LiveHost::start(&bot);
    let ready = host.seen.last().cloned().expect("ready");
    assert_eq!(ready["generation"], 1);
    assert!(ready["data"]["endpoints"].is_array());
    bot.put_tool("tools/more", "One more tool", "more");
    let reload = host.wait_event("reload", SOON).expect("the change is seen");
    assert_eq!(reload["generation"], 2, "{reload:#}");
    host.signal(Signal::HUP);
    host.wait_event("reload", SOON).expect("a reload by signal");
    host.signal(Signal::TERM);
    host.wait_event("stopped", SOON).expect("the end is told");
    for line in &host.seen {
        contract::is("run", line);
    }
    let told: Vec<&str> = host.seen.iter().filter_map(|l| l["event"].as_str()).filter(|e| *e != "reload").collect();
    assert_eq!(told, ["starting", "ready", "stopping", "stopped"]);
    assert_eq!(host.stop(), 0);
    bot.run(&["status"]).exits(3);
}

#[test]
fn interrupt_is_graceful_too() {
    let bot = TestBot::new();
    let mut host = LiveHost::start(&bot);
    host.signal(Signal::INT);
    host.wait_event("stopped", SOON).expect("the end is told");
    assert_eq!(host.stop(), 0);
}

/// A bot whose only tool takes long.
fn slow() -> TestBot {
    let bot = TestBot::new();
    bot.put_tool("tools/doze", "Doze for a long while", "awake");
    bot.put("tools/doze/main.sh", "#!/bin/sh\ncat >/dev/null\ntouch started\nsleep 60\n");
    bot
}

#[test]
fn a_second_signal_ends_at_once() {
    for (signal, exit) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let bot = slow();
        let mut host = LiveHost::start_with(&bot, &["--no-watch"]);
        let asking = std::thread::scope(|scope| {
            let asking = scope.spawn(|| bot.run(&["ask", ".", "doze for a long while"]));
            wait_for("a running turn", SOON, || {
                let status = bot.run(&["status", "--json"]).json();
                (status["turns"]["running"] == 1).then_some(())
            });
            host.signal(signal);
            host.wait_event("stopping", SOON).expect("the end begins");
            host.signal(signal);
            assert_eq!(host.wait(), exit);
            asking.join().expect("the client ends too")
        });
        // no answer, or the sentence of a turn that did not complete
        assert!([3, 6].contains(&asking.code), "{asking:?}");
    }
}

#[test]
fn a_running_turn_is_ended_within_the_budget() {
    let bot = slow();
    bot.put("bot.toml", "[limits]\nshutdown_seconds = 2\n");
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| bot.run(&["ask", ".", "doze for a long while", "--json"]));
        wait_for("a running turn", SOON, || {
            let status = bot.run(&["status", "--json"]).json();
            (status["turns"]["running"] == 1).then_some(())
        });
        assert_eq!(host.stop(), 0);
        asking.join().expect("the client ends too");
    });
}

#[test]
fn status_and_generations_of_a_running_host() {
    let bot = TestBot::new().echo();
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    let status = contract::ran(&bot, &["status"], 0, "status");
    assert_eq!((&status["ready"], &status["pid"]), (&true.into(), &host.pid().into()));
    assert_eq!(status["generation"]["active"], 1);
    assert_eq!(bot.run(&["status", "--ready"]).exits(0).out, "ready\n");
    let text = bot.run(&["status"]).exits(0).out;
    // Nobody watches the folder, so nothing is claimed about the disk of now.
    assert!(text.contains("generation 1") && text.contains("as last read from disk"), "{text}");
    let plain = contract::ran(&bot, &["generations"], 0, "generations");
    assert!(plain["records"].is_null());
    let all = contract::ran(&bot, &["generations", "--records"], 0, "generations");
    assert_eq!(all["active"], 1);
    assert!(all["records"].is_array());
    assert!(bot.run(&["generations", "--records"]).exits(0).out.starts_with("NUMBER"));
    assert_eq!(host.stop(), 0);
}

#[test]
fn reload_waits_for_the_verdict() {
    let bot = TestBot::new().echo();
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    let nothing = contract::ran(&bot, &["reload"], 0, "reload");
    assert_eq!(nothing["record"]["outcome"], "unchanged");
    bot.put_tool("tools/more", "One more tool", "more");
    let more = contract::ran(&bot, &["reload"], 0, "reload");
    assert_eq!((&more["record"]["outcome"], &more["record"]["to"]), (&"published".into(), &2.into()));
    assert_eq!(contract::ran(&bot, &["call", "more", "{}"], 0, "call")["generation"], 2);
    bot.put("tools/more/tool.toml", "descripton = \"broken\"\n");
    let broken = bot.run(&["reload", "--json"]).exits(1).json();
    contract::is("reload", &broken);
    assert_eq!((&broken["ok"], &broken["record"]["outcome"]), (&false.into(), &"rejected".into()));
    // the last good generation answers, and the difference is visible
    assert_eq!(contract::ran(&bot, &["call", "more", "{}"], 0, "call")["generation"], 2);
    let status = contract::ran(&bot, &["status"], 0, "status");
    assert_eq!((&status["desired"]["differs"], &status["ready"]), (&true.into(), &true.into()));
    assert_eq!(status["desired"]["last_reload"]["outcome"], "rejected");
    let shown = bot.run(&["reload"]).exits(1);
    assert!(shown.out.contains("rejected") || shown.err.contains("unknown-key"), "{shown:?}");
    bot.run(&["reload", "--no-wait"]).exits(0);
    bot.put_tool("tools/more", "One more tool", "more");
    let nobody = contract::ran(&bot, &["reload", "nobody"], 0, "reload");
    assert!(nobody["diagnostics"].to_string().contains("config::unknown-owner"), "{nobody:#}");
    assert_eq!(host.stop(), 0);
}

#[test]
fn ask_and_chat_use_the_running_host() {
    let bot = TestBot::new().echo();
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    let asked = contract::ran(&bot, &["ask", ".", "echo \"live\""], 0, "ask");
    assert_eq!(asked["generation"], 1);
    assert!(asked["text"].as_str().expect("text").contains("echo: live"));
    let said = bot.run_with(&["chat"], "echo \"one\"\necho \"two\"\n").exits(0);
    let (one, two) = (said.out.find("echo: one"), said.out.find("echo: two"));
    assert!(one.is_some() && one < two, "{said:?}");
    assert!(bot.run(&["chat", "--once", "echo \"three\""]).exits(0).out.contains("echo: three"));
    let lines = bot.run_with(&["chat", "--json"], "echo \"four\"\n").exits(0).out;
    for line in lines.lines() {
        contract::is("chat", &serde_json::from_str::<Value>(line).expect("JSON"));
    }
    assert_eq!(host.stop(), 0);
}

#[test]
fn one_host_per_data_folder() {
    let bot = TestBot::new();
    let host = LiveHost::start(&bot);
    let second = bot.run(&["run", ".", "--json"]).exits(1);
    let last: Value = serde_json::from_str(second.out.lines().last().expect("a line")).expect("JSON");
    contract::is("run-refused", &last);
    assert_eq!(last["diagnostics"][0]["code"], "store::locked");
    assert!(last.to_string().contains(&host.pid().to_string()), "{last:#}");
    drop(host);
    // killed: the lock is free and the stale control file counts as none
    bot.run(&["status"]).exits(3);
    assert_eq!(LiveHost::start(&bot).stop(), 0);
}

#[test]
fn a_wrong_token_is_exit_4() {
    let bot = TestBot::new();
    let host = LiveHost::start(&bot);
    bot.put("data/control.token", "0000\n");
    let refused = contract::ran(&bot, &["status"], 4, "status-refused");
    assert_eq!(refused["diagnostics"][0]["code"], "cli::forbidden");
    assert_eq!(host.stop(), 0);
}

#[test]
fn a_strict_start_refuses_a_broken_plugin() {
    let bot = TestBot::new().echo();
    bot.put("plugins/bad/plugin.toml", "version = \"1.0.0\"\ndescripton = \"typo\"\n");
    let refused = bot.run(&["run", ".", "--strict", "--json"]).exits(1);
    assert!(refused.out.contains("plugin::unknown-key"), "{refused:?}");
    let host = LiveHost::start(&bot);
    assert_eq!(contract::ran(&bot, &["call", "echo", "{\"message\": \"x\"}"], 0, "call")["text"], "echo: x");
    assert_eq!(host.stop(), 0);
}

#[test]
fn a_data_folder_elsewhere() {
    let bot = TestBot::new().echo();
    let data = tempfile::tempdir().expect("a folder");
    let at = data.path().join("state");
    let at = at.to_str().expect("text");
    let host = LiveHost::start_with(&bot, &["--data-dir", at]);
    contract::ran(&bot, &["status"], 3, "status-refused");
    contract::ran(&bot, &["status", "--data-dir", at], 0, "status");
    assert!(!bot.at("data").exists());
    assert_eq!(host.stop(), 0);
}
