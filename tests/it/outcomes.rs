//! Every way a turn can end, as `ask --json` and a chat show it.

use crate::contract;
use fake_openai::{Call, Fault, Turn};
use harness::{LiveHost, Served, TestBot, wait_for};
use serde_json::{Value, json};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Outcome, detail, and whether there is a sentence.
fn ended(bot: &TestBot, args: &[&str], exit: i32, want: (&str, Option<&str>)) -> String {
    let mut all = vec!["ask", ".", "say something"];
    all.extend(args);
    let asked = contract::ran(bot, &all, exit, "ask");
    assert_eq!((asked["outcome"].as_str(), asked["detail"].as_str()), (Some(want.0), want.1), "{asked:#}");
    let text = asked["text"].as_str().expect("a text").to_owned();
    let turn = asked["turn_id"].as_str().expect("an id");
    assert!(!text.is_empty() && (want.0 != "failed" || text.contains(turn)), "{asked:#}");
    text
}

fn hang() -> Turn {
    Turn::fault(Fault::Hang { after: None })
}

#[test]
fn completed_and_failed_have_their_text_and_exit_code() {
    let server = Served::start(Vec::new());
    let bot = server.bot("[models.default]\nretries = 0\n").echo();
    let config = std::fs::read_to_string(bot.at("bot.toml")).expect("a file");
    bot.put(
        "bot.toml",
        &config
            .replacen("[models.default]\nretries = 0\n", "", 1)
            .replace("[models.default]", "[models.default]\nretries = 0"),
    );
    let is = |turns: Vec<Turn>, exit: i32, outcome: &str, detail: Option<&str>| {
        server.then(turns);
        ended(&bot, &[], exit, (outcome, detail))
    };
    assert_eq!(is(vec![Turn::text("hello")], 0, "completed", None), "hello");
    assert_eq!(is(vec![Turn::text("")], 0, "completed", None), "I have nothing to add.");
    is(vec![Turn::fault(Fault::status(500, "oops"))], 6, "failed", Some("MODEL_UNAVAILABLE"));
    is(vec![Turn::fault(Fault::status(400, "bad"))], 6, "failed", Some("MODEL_REJECTED"));
    let cut = || Turn { finish: Some("length".into()), ..Turn::calls([Call::new("discover", json!({"query": "x"}))]) };
    is(vec![cut(), cut(), cut()], 6, "failed", Some("MODEL_TRUNCATED"));
    let refused = Turn { finish: Some("content_filter".into()), ..Turn::text("") };
    is(vec![refused], 6, "failed", Some("MODEL_REFUSED"));
    let long = || {
        Turn::fault(Fault::Status {
            status: 400,
            message: "maximum context length is 8 tokens".into(),
            code: Some("context_length_exceeded".into()),
            param: None,
            retry_after: None,
            html: false,
        })
    };
    is(vec![long(), long(), long()], 6, "failed", Some("CONTEXT_OVERFLOW"));
    let same = || Turn::calls([Call::new("discover", json!({"query": "the same"}))]);
    is((0..6).map(|_| same()).collect(), 6, "failed", Some("LOOP_GUARD"));
    let small = server.bot("[agent]\nsystem_prompt_max_chars = 1\n");
    ended(&small, &[], 6, ("failed", Some("PROMPT_OVERFLOW")));
}

#[test]
fn limits_and_budgets_say_which() {
    let server = Served::start(Vec::new());
    let same = || Turn::calls([Call::new("discover", json!({"query": "the same"}))]);
    let steps = server.bot("[agent]\nmax_iterations = 1\n").echo();
    server.then(vec![same()]);
    ended(&steps, &[], 6, ("budget_exceeded", Some("steps")));
    let time = server.bot("[agent]\nturn_timeout_seconds = 1\n");
    server.then(vec![hang()]);
    ended(&time, &[], 6, ("budget_exceeded", Some("time")));
    let tokens = server.bot("[limits]\ntokens_per_user_per_day = 1\n");
    let host = LiveHost::start(&tokens);
    server.then(vec![Turn::text("once")]);
    ended(&tokens, &[], 0, ("completed", None));
    ended(&tokens, &[], 6, ("budget_exceeded", Some("tokens")));
    // what was used lasts over the end of the process
    host.kill();
    let _host = LiveHost::start(&tokens);
    ended(&tokens, &[], 6, ("budget_exceeded", Some("tokens")));
    let used = tokens.run(&["chat", ".", "--once", "/usage"]).exits(0).out;
    assert!(used.contains("3 turns") && used.contains("Left today: 0 of 1 tokens"), "{used}");
    let cost = server.bot("[limits]\nusd_per_day = 0.5\n");
    let config = std::fs::read_to_string(cost.at("bot.toml")).expect("a file");
    cost.put("bot.toml", &format!("{config}price_in = 1000000.0\nprice_out = 1000000.0\n"));
    let _host = LiveHost::start(&cost);
    server.then(vec![Turn::text("once")]);
    ended(&cost, &[], 0, ("completed", None));
    ended(&cost, &[], 6, ("budget_exceeded", Some("cost")));
}

#[test]
fn cancelled_says_by_whom() {
    let server = Served::start(Vec::new());
    let bot = server.bot("[agent]\non_new_message = \"supersede\"\n[limits]\nshutdown_seconds = 2\n");
    let host = LiveHost::start(&bot);
    server.then(vec![hang()]);
    assert_eq!(ended(&bot, &["--timeout", "1"], 5, ("cancelled", Some("person"))), "Stopped.");
    // a newer message of the same person in the same place
    let before = server.requests().len();
    server.then(vec![hang(), Turn::text("the newest")]);
    let older = bot.begin(&["chat", ".", "--once", "first", "--json"]);
    wait_for("a request", LIMIT, || (server.requests().len() > before).then_some(()));
    assert_eq!(bot.run(&["chat", ".", "--once", "second"]).exits(0).out.trim(), "the newest");
    let older = older.finish();
    let lines: Vec<Value> = older.out.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
    let outcome = lines.iter().find(|l| l["event"] == "outcome").expect("an outcome");
    assert_eq!((&outcome["outcome"], &outcome["detail"]), (&"cancelled".into(), &"superseded".into()));
    assert!(lines.iter().all(|l| l["event"] != "message"), "nothing is said: {lines:#?}");
    let said = server.requests().last().expect("a request").body.to_string();
    assert!(said.contains("first") && said.contains("second"), "the superseded message stays: {said}");
    // the end of the host
    let before = server.requests().len();
    server.then(vec![hang()]);
    let asked = bot.begin(&["ask", ".", "say something", "--json"]);
    wait_for("a request", LIMIT, || (server.requests().len() > before).then_some(()));
    assert_eq!(host.stop(), 0);
    let asked = contract::shaped(asked.finish(), 6, "ask");
    assert_eq!((&asked["outcome"], &asked["detail"]), (&"cancelled".into(), &"shutdown".into()));
}
