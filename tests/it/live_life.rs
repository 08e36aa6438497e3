//! Start, stop and faults of the process that runs a bot.

use crate::contract;
use harness::{Gate, LiveHost, TestBot, children, command, cpu, is_alive, open_files, wait_for};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(30);
/// `limits.shutdown_seconds`, and what a busy machine adds.
const STOP: Duration = Duration::from_secs(8 + 4);

fn standing() -> (TestBot, Gate, LiveHost) {
    let (bot, gate) = (TestBot::new().echo(), Gate::new());
    gate.tool(&bot, "tools/stand", "through the gate");
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    (bot, gate, host)
}

#[test]
fn a_short_turn_is_answered_before_the_end() {
    let (bot, gate, mut host) = standing();
    let turn = bot.begin(&["ask", ".", "wait at the gate", "--json"]);
    let call = bot.begin(&["call", "stand", "{}", "--json"]);
    gate.await_calls(2);
    host.signal(Signal::TERM);
    let asked = Instant::now();
    host.wait_event("stopping", SOON).expect("the end begins");
    gate.open();
    let turn = contract::shaped(turn.finish(), 0, "ask");
    assert!(turn["text"].as_str().is_some_and(|t| t.contains("through the gate")), "{turn:#}");
    assert_eq!(contract::shaped(call.finish(), 0, "call")["text"], "through the gate");
    assert_eq!(host.ended(STOP), 0);
    eprintln!("stopped with a short turn after {:?}", asked.elapsed());
}

#[test]
fn a_long_turn_is_cancelled_in_time_and_leaves_no_program() {
    let (bot, gate, mut host) = standing();
    let turn = bot.begin(&["ask", ".", "wait at the gate", "--json"]);
    let call = bot.begin(&["call", "stand", "{}", "--json"]);
    gate.await_calls(2);
    let programs = children(host.pid());
    assert!(programs.len() >= 2, "{programs:?}");
    host.signal(Signal::TERM);
    let asked = Instant::now();
    assert_eq!(host.ended(STOP), 0);
    eprintln!("stopped with a long turn after {:?}", asked.elapsed());
    assert!(asked.elapsed() > Duration::from_secs(4), "the turn was not given its time");
    let turn = turn.finish().exits(6).json();
    contract::is("ask", &turn);
    assert_eq!((&turn["outcome"], &turn["detail"]), (&"cancelled".into(), &"shutdown".into()), "{turn:#}");
    let call = call.finish().exits(1).json();
    contract::is("call", &call);
    assert_ne!(call["status"], "completed", "{call:#}");
    wait_for("no program is left", SOON, || programs.iter().all(|p| !is_alive(*p)).then_some(()));
    assert!(!bot.at("data/control.json").exists() && !bot.at("data/control.sock").exists());
}

#[test]
fn an_attached_chat_is_told_before_the_end() {
    let (bot, gate, mut host) = standing();
    let turn = bot.begin(&["chat", ".", "--once", "wait at the gate"]);
    gate.await_calls(1);
    host.signal(Signal::TERM);
    host.wait_event("stopping", SOON).expect("the end begins");
    gate.open();
    let said = turn.finish().exits(0);
    assert!(said.out.contains("through the gate"), "{said:?}");
    assert_eq!(host.ended(STOP), 0);

    let (bot, gate, mut host) = standing();
    let turn = bot.begin(&["chat", ".", "--once", "wait at the gate"]);
    gate.await_calls(1);
    host.signal(Signal::TERM);
    let said = turn.finish().exits(6);
    assert!(!said.out.contains("through the gate"), "{said:?}");
    eprintln!("a chat whose turn is cut is told: {:?}", said.out);
    assert!(!said.out.trim().is_empty(), "{said:?}");
    assert_eq!(host.ended(STOP), 0);
}

#[test]
fn a_second_signal_ends_it_at_once() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let (bot, gate, mut host) = standing();
        let turn = bot.begin(&["ask", ".", "wait at the gate", "--json"]);
        gate.await_calls(1);
        let programs = children(host.pid());
        host.signal(signal);
        host.wait_event("stopping", SOON).expect("the end begins");
        let second = Instant::now();
        host.signal(signal);
        assert_eq!(host.ended(STOP), code);
        eprintln!("ended {:?} after the second signal", second.elapsed());
        assert!(second.elapsed() < Duration::from_secs(4));
        wait_for("no program is left", SOON, || programs.iter().all(|p| !is_alive(*p)).then_some(()));
        assert_ne!(turn.finish().code, 0);
        assert_eq!(LiveHost::start(&bot).stop(), 0);
    }
}

#[test]
fn killed_in_the_middle_it_starts_again() {
    let (bot, gate, host) = standing();
    let first = contract::ran(&bot, &["ask", ".", "echo \"one\"", "--session", "s"], 0, "ask");
    let turn = bot.begin(&["ask", ".", "wait at the gate", "--json"]);
    gate.await_calls(1);
    let programs = children(host.pid());
    host.kill();
    turn.finish();
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    wait_for("no program is left", SOON, || programs.iter().all(|p| !is_alive(*p)).then_some(()));
    let second = contract::ran(&bot, &["ask", ".", "echo \"two\"", "--session", "s"], 0, "ask");
    let calls = |v: &Value| v["tool_calls"].as_array().map_or(0, Vec::len);
    assert!(calls(&second) < calls(&first), "the session is remembered: {second:#}");
    assert_eq!(second["generation"], 2, "numbers go on");
    assert_eq!(host.stop(), 0);
}

#[test]
fn killed_during_reloads_it_serves_what_is_on_disk() {
    let bot = TestBot::new().tool("tools/say", "Say something", "version 0");
    for n in 1..=6u32 {
        let host = LiveHost::start_with(&bot, &["--no-watch"]);
        let words = format!("version {n}");
        bot.put_tool("tools/say", "Say something", &words);
        command(&bot, "reload", &json!({"no_wait": true}));
        // a different point of the reload each time
        let until = Instant::now() + Duration::from_millis(u64::from(n) * 7);
        wait_for("some progress", SOON, || (Instant::now() >= until).then_some(()));
        host.kill();
        let host = LiveHost::start_with(&bot, &["--no-watch"]);
        assert_eq!(contract::ran(&bot, &["call", "say", "{}"], 0, "call")["text"], *words);
        let halves = bot.run(&["generations", "--records", "--json"]).exits(0).json();
        contract::is("generations", &halves);
        assert_eq!(contract::ran(&bot, &["reload", "--full"], 0, "reload")["record"]["outcome"], "unchanged");
        assert_eq!(host.stop(), 0);
    }
}

#[test]
fn a_data_folder_that_cannot_be_is_refused() {
    let bot = TestBot::new();
    bot.put("plain", "a file");
    let refused = bot.run(&["run", ".", "--data-dir", "plain/data", "--json"]).exits(1);
    assert!(refused.out.contains("store::not-writable"), "{refused:?}");
}

#[test]
fn the_bot_folder_is_never_written_to() {
    let bot = TestBot::new().echo();
    let data = tempfile::tempdir().expect("a folder");
    let at = data.path().join("state");
    let seen = |bot: &TestBot| {
        let mut all = Vec::new();
        let mut open = vec![bot.path().to_path_buf()];
        while let Some(folder) = open.pop() {
            let meta = std::fs::metadata(&folder).expect("a folder");
            all.push((folder.clone(), meta.modified().expect("a time")));
            for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
                match entry.file_type().expect("a type").is_dir() {
                    true => open.push(entry.path()),
                    false => all.push((entry.path(), entry.metadata().expect("a file").modified().expect("a time"))),
                }
            }
        }
        all.sort();
        all
    };
    use std::os::unix::fs::PermissionsExt;
    let mode = |bits| std::fs::set_permissions(bot.path(), std::fs::Permissions::from_mode(bits)).expect("a mode");
    mode(0o555);
    let before = seen(&bot);
    let host = LiveHost::start_with(&bot, &["--data-dir", at.to_str().expect("text")]);
    let elsewhere = ["--data-dir", at.to_str().expect("text")];
    let run = |args: &[&str]| contract::ran(&bot, &[args, &elsewhere].concat(), 0, args[0]);
    run(&["ask", ".", "echo \"hello\""]);
    run(&["reload", "--full"]);
    assert_eq!(host.stop(), 0);
    assert_eq!(seen(&bot), before);
    mode(0o755);
}

#[test]
fn four_of_five_plugins_answer() {
    let bot = TestBot::new();
    for name in ["a", "b", "c", "d", "e"] {
        bot.put(&format!("plugins/{name}/plugin.toml"), "version = \"1.0.0\"\ndescription = \"One of five\"\n");
        bot.put_tool(&format!("plugins/{name}/tools/say_{name}"), "Say a letter", name);
    }
    bot.put("plugins/c/tools/say_c/tool.toml", "descripton = \"typo\"\n");
    let mut host = LiveHost::start(&bot);
    assert_eq!(host.seen.last().expect("ready")["generation"], 1);
    for name in ["a", "b", "d", "e"] {
        assert_eq!(contract::ran(&bot, &["call", &format!("say_{name}"), "{}"], 0, "call")["text"], *name);
    }
    let listed = contract::ran(&bot, &["list", "plugins"], 0, "list-plugins");
    let states: Vec<(&str, &str)> = listed["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|p| (p["qualified"].as_str().expect("a name"), p["state"].as_str().expect("a state")))
        .filter(|(_, state)| *state == "failed")
        .collect();
    assert_eq!(states.len(), 1, "{listed:#}");
    let status = contract::ran(&bot, &["status"], 0, "status");
    assert_eq!(status["ready"], true);
    let record = &status["desired"]["last_reload"];
    assert_eq!(record["failed"], json!(["c"]), "{record:#}");
    assert!(record["diagnostics"].to_string().contains("tool::unknown-key"), "the cause is told");
    // while it is as it was it refuses nothing
    bot.put_tool("plugins/a/tools/say_a", "Say a letter", "A");
    host.wait_reload("published");
    bot.put_tool("plugins/c/tools/say_c", "Say a letter", "c");
    let text = || command(&bot, "call", &json!({"tool": "say_c", "input": {}})).1["text"].clone();
    wait_for("the repair is live", SOON, || (text() == "c").then_some(()));
    assert_eq!(host.stop(), 0);
}

#[test]
fn an_idle_host_costs_nothing_and_a_busy_one_keeps_no_file_open() {
    let bot = TestBot::new().echo();
    let host = LiveHost::start(&bot);
    let ask = |n: usize| {
        let (exit, body) = command(&bot, "ask", &json!({"text": format!("echo \"number {n}\"")}));
        assert_eq!((exit, &body["outcome"]), (0, &"completed".into()), "{body:#}");
    };
    (0..10).for_each(ask);
    let files = open_files(host.pid());
    (0..100).for_each(ask);
    let after = wait_for("files are closed", SOON, || Some(open_files(host.pid())).filter(|n| *n <= files + 1));
    assert!(children(host.pid()).is_empty());
    let (busy, window) = (cpu(host.pid()), Instant::now());
    wait_for("a quiet while", SOON, || (window.elapsed() > Duration::from_secs(3)).then_some(()));
    let idle = cpu(host.pid()).saturating_sub(busy);
    eprintln!("files {files} -> {after}; {idle:?} of processor time in {:?}", window.elapsed());
    assert!(idle < Duration::from_millis(90), "an idle host used {idle:?}");
    assert_eq!(host.stop(), 0);
}
