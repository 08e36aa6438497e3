//! What is seen without being told: files that change under a running host.

use crate::contract;
use harness::{LiveHost, TestBot, command, open_files, wait_for, watches};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(30);

fn call(bot: &TestBot, tool: &str) -> (i64, Value) {
    command(bot, "call", &json!({"tool": tool, "input": {}}))
}

#[track_caller]
fn wait_text(bot: &TestBot, tool: &str, words: &str) {
    wait_for(words, SOON, || (call(bot, tool).1["text"] == words).then_some(()));
}

fn records(bot: &TestBot) -> Vec<Value> {
    let (_, body) = command(bot, "generations", &json!({"records": true}));
    body["records"].as_array().cloned().expect("records")
}

fn active(bot: &TestBot) -> u64 {
    command(bot, "status", &json!({})).1["generation"]["active"].as_u64().expect("a number")
}

#[test]
fn polling_sees_an_edit_within_its_time() {
    let bot = TestBot::new().tool("tools/say", "Say something", "old");
    bot.put("bot.toml", "[reload]\nwatch = \"poll\"\npoll_ms = 200\n");
    let host = LiveHost::start(&bot);
    let status = contract::ran(&bot, &["status"], 0, "status");
    let roots = status["watch"].as_array().expect("roots");
    assert!(!roots.is_empty() && roots.iter().all(|r| r["state"] == "polling"), "{status:#}");
    bot.put_tool("tools/say", "Say something", "new");
    let saved = Instant::now();
    wait_text(&bot, "say", "new");
    eprintln!("polled after {:?}", saved.elapsed());
    bot.put("bot.toml", "[reload]\nwatch = \"off\"\n");
    wait_for("the watch is off", SOON, || {
        let (_, status) = command(&bot, "status", &json!({}));
        status["watch"].as_array()?.iter().all(|r| r["state"] == "off").then_some(())
    });
    // events can be asked for again by an explicit reload
    bot.put("bot.toml", "# all defaults\n");
    contract::ran(&bot, &["reload"], 0, "reload");
    bot.put_tool("tools/say", "Say something", "by events");
    wait_text(&bot, "say", "by events");
    assert_eq!(host.stop(), 0);
}

#[test]
fn dependency_folders_are_not_watched() {
    let bot = TestBot::new().tool("tools/say", "Say something", "old");
    for n in 0..3_000 {
        std::fs::create_dir_all(bot.at(&format!("tools/say/node_modules/m{n}/lib"))).expect("a folder");
    }
    let host = LiveHost::start(&bot);
    let watches = watches(host.pid());
    eprintln!("{watches} watches beside 6,000 folders in node_modules");
    assert!((1..50).contains(&watches), "{watches} watches");
    let before = records(&bot).len();
    bot.put("tools/say/node_modules/m7/lib/index.js", "ignored");
    bot.put_tool("tools/say", "Say something", "new");
    wait_text(&bot, "say", "new");
    assert_eq!(records(&bot).len(), before + 1);
    assert_eq!(host.stop(), 0);
}

#[test]
fn editors_save_in_many_ways() {
    let bot = TestBot::new().tool("tools/say", "Say something", "old");
    let host = LiveHost::start(&bot);
    let held = (watches(host.pid()), open_files(host.pid()));
    // written beside and renamed, five times in a row: the last is live
    for n in 0..5 {
        bot.put("tools/say/.main.sh.tmp", &format!("#!/bin/sh\ncat >/dev/null\nprintf %s 'save {n}'\n"));
        use std::os::unix::fs::PermissionsExt;
        let temporary = bot.at("tools/say/.main.sh.tmp");
        std::fs::set_permissions(&temporary, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        std::fs::rename(temporary, bot.at("tools/say/main.sh")).expect("a renamed file");
    }
    wait_text(&bot, "say", "save 4");
    // two saves of one size within one tick of the clock: the second is live
    for round in 0..5 {
        let words = [format!("first {round}"), format!("other {round}")];
        bot.put("tools/say/main.sh", &format!("#!/bin/sh\ncat >/dev/null\nprintf %s '{}'\n", words[0]));
        bot.put("tools/say/main.sh", &format!("#!/bin/sh\ncat >/dev/null\nprintf %s '{}'\n", words[1]));
        wait_text(&bot, "say", &words[1]);
    }
    // a moved folder is one generation
    let before = active(&bot);
    std::fs::rename(bot.at("tools/say"), bot.at("tools/tell")).expect("a moved folder");
    wait_text(&bot, "tell", "other 4");
    assert_eq!(call(&bot, "say").0, 2, "the old name is unknown");
    assert_eq!(active(&bot), before + 1);
    // removed and made again, three times: each is seen
    for round in 0..3 {
        std::fs::remove_dir_all(bot.at("tools/tell")).expect("a removed folder");
        wait_for("the tool is gone", SOON, || (call(&bot, "tell").0 == 2).then_some(()));
        bot.put_tool("tools/tell", "Tell something", &format!("again {round}"));
        wait_text(&bot, "tell", &format!("again {round}"));
    }
    wait_for("no watch is left over", SOON, || {
        let now = (watches(host.pid()), open_files(host.pid()));
        (now.0 == held.0 && now.1 <= held.1 + 1).then_some(())
    });
    assert_eq!(host.stop(), 0);
}

#[test]
fn a_plugin_is_never_seen_half_copied() {
    // a machine that is busy for a while must not look like a copy that has ended
    let bot = TestBot::new().echo().write("bot.toml", "[reload]\nsettle_ms = 1000\n");
    let host = LiveHost::start(&bot);
    bot.put("plugins/big/plugin.toml", "version = \"1.0.0\"\ndescription = \"A big one\"\n");
    for n in 0..40 {
        bot.put_tool(&format!("plugins/big/tools/part_{n}"), "A part", "part");
        let until = Instant::now() + Duration::from_millis(75);
        wait_for("the pace of a slow copy", SOON, || (Instant::now() >= until).then_some(()));
    }
    wait_for("the last part", SOON, || (call(&bot, "part_39").0 == 0).then_some(()));
    let records = records(&bot);
    let published: Vec<&Value> = records.iter().filter(|r| r["outcome"] == "published").collect();
    assert_eq!(published.len(), 2, "the start and one for the copy: {records:#?}");
    assert!(records.iter().all(|r| r["outcome"] != "rejected"));
    assert_eq!(host.stop(), 0);
}

#[test]
fn one_of_two_hundred_plugins_is_read_again() {
    let bot = TestBot::new();
    for n in 0..200 {
        bot.put(&format!("plugins/p{n:03}/plugin.toml"), "version = \"1.0.0\"\ndescription = \"One of many\"\n");
        bot.put_tool(&format!("plugins/p{n:03}/tools/say"), "Say something", "old");
    }
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    // the hashes of fresh files are not trusted: once more, when they are old
    wait_for("nothing is read any more", SOON, || {
        let (_, body) = command(&bot, "reload", &json!({}));
        (body["record"]["files_read"].as_u64()? <= 1).then_some(())
    });
    bot.put("plugins/p100/tools/say/main.sh", "#!/bin/sh\ncat >/dev/null\nprintf %s 'new'\n");
    let record = contract::ran(&bot, &["reload"], 0, "reload")["record"].clone();
    eprintln!("{} ms, {} files read, steps {}", record["duration_ms"], record["files_read"], record["steps"]);
    assert_eq!((&record["plugins_rebuilt"], &record["owners"]), (&1.into(), &json!(["p100"])), "{record:#}");
    assert!(record["files_read"].as_u64().is_some_and(|n| n <= 3), "{record:#}");
    assert_eq!(record["plan"], "slot");
    assert_eq!(call(&bot, "p100__say").1["text"], "new");
    assert_eq!(host.stop(), 0);
}
