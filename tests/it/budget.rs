//! The prompt's budget from outside: what is cut, what is dropped, what fails, and a report that adds up.

use crate::contract;
use fake_openai::Turn;
use harness::{Served, TestBot};
use host::store::{DataLock, Key, OpenOptions, Tree, open};
use host::task::SystemClock;
use serde_json::Value;

/// Five sections of a thousand characters of text each.
fn sections(bot: &TestBot) {
    for (name, retention, order) in [
        ("must", "required", 10),
        ("liked-low", "preferred", 20),
        ("liked-high", "preferred", 30),
        ("maybe-low", "opportunistic", 40),
        ("maybe-high", "opportunistic", 50),
    ] {
        let text = "é字 ab".repeat(200);
        bot.put(
            &format!("prompt-sections/{name}/SECTION.md"),
            &format!("---\ntitle: {name}\nlayer: task\norder: {order}\nretention: {retention}\n---\n{text}\n"),
        );
    }
}

/// The report that the session kept with its newest turn.
fn report(bot: &TestBot) -> Value {
    fn find(value: &Value) -> Option<Value> {
        match value {
            Value::Object(map) => match map.get("prompt") {
                Some(prompt) if prompt["blocks"].is_array() => Some(prompt.clone()),
                _ => map.values().find_map(find),
            },
            Value::Array(list) => list.iter().rev().find_map(find),
            _ => None,
        }
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let data_dir = bot.at("data");
        let _lock = DataLock::acquire(&data_dir).expect("the lock");
        let clock = SystemClock::shared();
        let store = open(OpenOptions { data_dir, flush_every_ms: 100, cache_mb: 16, clock }).expect("the store").store;
        let heads = store.scan_prefix(Tree::Sessions, &Key::new(), None, 100).await.expect("sessions");
        let found = heads.iter().find_map(|(_, head)| find(head)).expect("a report");
        store.close().await.expect("a closed store");
        found
    })
}

/// `(name, kept, kept_chars)` of the five.
fn five(report: &Value) -> Vec<(String, String, u64)> {
    let blocks = report["blocks"].as_array().expect("blocks").iter();
    let ours = blocks.filter(|b| b["layer"] == "task");
    ours.map(|b| {
        let text = |key: &str| b[key].as_str().expect("text").to_owned();
        (text("id"), text("kept"), b["kept_chars"].as_u64().expect("a count"))
    })
    .collect()
}

#[test]
fn the_least_wanted_goes_first_and_the_report_adds_up() {
    let server = Served::start(vec![Turn::text("Hi.")]);
    let bot = server.bot("");
    sections(&bot);
    let ask = || contract::ran(&bot, &["ask", ".", "hello there", "--session", "s"], 0, "ask");
    ask();
    let all = report(&bot);
    let total = all["total"].as_u64().expect("a total");
    let full = |name: &str| (name.to_string(), "full".to_string(), 1000 + 4 + name.len() as u64);
    let names = ["maybe-high", "maybe-low", "liked-high", "liked-low", "must"];
    assert_eq!(five(&all), names.map(full), "larger orders first: {all:#}");
    let gone = |name: &str| (name.to_string(), "dropped".to_string(), 0);
    let cut = |name: &str, by: u64| (name.to_string(), "cut".to_string(), full(name).2 - by);
    // a dropped block takes its separator with it
    let low = full("maybe-low").2 + 2;
    let high = full("maybe-high").2 + 2;
    let cases = [
        (total, names.map(full).to_vec()),
        (total - 1, vec![full(names[0]), cut("maybe-low", 1), full(names[2]), full(names[3]), full(names[4])]),
        (total - 794, vec![full(names[0]), cut("maybe-low", 794), full(names[2]), full(names[3]), full(names[4])]),
        (total - 795, vec![full(names[0]), gone("maybe-low"), full(names[2]), full(names[3]), full(names[4])]),
        (
            total - low - 500,
            vec![cut("maybe-high", 500), gone("maybe-low"), full(names[2]), full(names[3]), full(names[4])],
        ),
        (
            total - low - high - 100,
            vec![gone("maybe-high"), gone("maybe-low"), full(names[2]), cut("liked-low", 100), full(names[4])],
        ),
    ];
    for (budget, wanted) in cases {
        server.configure(&bot, &format!("[agent]\nsystem_prompt_max_chars = {budget}\n"));
        server.then(vec![Turn::text("Hi.")]);
        ask();
        let report = report(&bot);
        assert_eq!(five(&report), wanted, "budget {budget} of {total}: {report:#}");
        let request = server.requests().pop().expect("a request").body;
        let system = request["messages"][0]["content"].as_str().expect("a system prompt").to_owned();
        let sent = system.chars().count() as u64;
        let blocks = report["blocks"].as_array().expect("blocks");
        let kept: Vec<u64> = blocks.iter().filter_map(|b| b["kept_chars"].as_u64()).filter(|n| *n > 0).collect();
        assert_eq!(sent, kept.iter().sum::<u64>() + 2 * (kept.len() as u64 - 1), "the report is what was sent");
        assert_eq!((report["total"].as_u64(), report["budget"].as_u64()), (Some(sent), Some(budget)));
        assert!(sent <= budget);
        assert_eq!(system.matches("[cut]").count(), wanted.iter().filter(|(_, kept, _)| kept == "cut").count());
        let newest = request["messages"].as_array().and_then(|m| m.last()).expect("a message").to_string();
        for (name, kept, _) in &wanted {
            assert_eq!(
                newest.contains(name.as_str()),
                kept == "dropped",
                "the model is told what is missing: {newest}"
            );
        }
    }
}

#[test]
fn required_sections_that_do_not_fit_fail_the_turn() {
    let server = Served::start(vec![Turn::text("never")]);
    let bot = server.bot("[agent]\nsystem_prompt_max_chars = 600\n");
    sections(&bot);
    let ran = bot.run(&["ask", ".", "hello there", "--session", "s", "--json"]).exits(6);
    let asked = ran.json();
    contract::is("ask", &asked);
    assert_eq!((&asked["outcome"], &asked["detail"]), (&"failed".into(), &"PROMPT_OVERFLOW".into()));
    let text = asked["text"].as_str().expect("a sentence");
    assert!(text.contains("do not fit") && text.contains(asked["turn_id"].as_str().expect("an id")), "{text}");
    assert!(
        ran.err.contains("prompt overflow") && ran.err.contains("must"),
        "the admin sees which blocks: {}",
        ran.err
    );
    assert!(server.requests().is_empty(), "no request was made");
    let report = report(&bot);
    assert!(report["blocks"].as_array().expect("blocks").iter().any(|b| b["id"] == "must"), "{report:#}");
    bot.run(&["chat", "--once", "hello there"]).exits(6);
    assert!(server.requests().is_empty());
}
