//! The bot with the messages format, and with two models of two formats.

use crate::contract;
use fake_openai::{Fault, Turn};
use harness::{KEY, Served, TestBot};
use serde_json::{Value, json};

fn load(name: &str) -> Turn {
    Turn::call("load_tool", json!({"name": name}))
}

/// Names of the tools of a request, `true` for those to be found.
fn listed(request: &Value) -> Vec<(&str, bool)> {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.filter_map(|t| Some((t["name"].as_str()?, t["defer_loading"] == true))).collect()
}

/// The request up to the history, byte for byte.
fn prefix(bytes: &[u8]) -> &str {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    &text[..text.find("\"messages\":").expect("the history")]
}

fn key(bot: TestBot) -> TestBot {
    bot.write(".env", &format!("MODEL_KEY={KEY}\n"))
}

fn codes(turn: &Value) -> Vec<&str> {
    let calls = turn["tool_calls"].as_array().expect("calls").iter();
    calls.map(|c| c["error"]["code"].as_str().unwrap_or("-")).collect()
}

#[test]
fn a_tool_is_found_loaded_by_reference_and_called() {
    let thinking = Some(fake_anthropic::Thinking::signed("I should \"look\" 😀", "c2ln+/=="));
    let server = Served::messages(vec![
        Turn { thinking, ..Turn::call("echo", json!({"message": "too early"})) },
        load("echo"),
        Turn::call("echo", json!({"message": "grüße 😀"})),
        Turn::text("It said grüße 😀."),
    ]);
    let bot = server.bot("").echo().tool("tools/other", "Another tool", "other");
    let asked = contract::ran(&bot, &["ask", ".", "say it back", "--session", "s"], 0, "ask");
    assert_eq!(asked["text"], "It said grüße 😀.");
    assert_eq!(codes(&asked), ["TOOL_NOT_ALLOWED", "-", "-"]);
    let requests = server.requests();
    assert!(requests.iter().all(|r| r.status == 200 && r.authorized), "{requests:#?}");
    let (before, after) = (listed(&requests[1].body), listed(&requests[2].body));
    assert!(before.contains(&("echo", true)) && after.contains(&("echo", false)));
    let names = |list: &[(&str, bool)]| list.iter().map(|(n, _)| (*n).to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after), "a loaded tool keeps its place");
    assert!(requests[2].body["messages"].to_string().contains("{\"type\":\"tool_reference\",\"tool_name\":\"echo\"}"));
    assert!(requests[1].body.to_string().contains("c2ln+/=="), "signed reasoning goes back");
    assert!(!asked.to_string().contains("I should"));
    // another process: what was loaded and signed comes with the history
    server.then(vec![Turn::call("echo", json!({"message": "again"})), Turn::text("Used.")]);
    let used = contract::ran(&bot, &["ask", ".", "use it", "--session", "s"], 0, "ask");
    assert_eq!((&used["text"], codes(&used)), (&"Used.".into(), vec!["-"]));
    // the tool is gone: its reference became words, which the strict server takes
    std::fs::remove_dir_all(bot.at("tools/echo")).expect("a removed tool");
    server.then(vec![Turn::text("Gone.")]);
    assert_eq!(contract::ran(&bot, &["ask", ".", "and now?", "--session", "s"], 0, "ask")["text"], "Gone.");
    let last = server.requests().pop().expect("a request");
    assert!(last.body.to_string().contains("[tool echo: no longer available]"));
    crate::secrets::in_no_file(&bot.at("data"), KEY);
}

#[test]
fn a_server_that_knows_no_deferral_is_asked_without_from_then_on() {
    let refuse = Turn::fault(Fault::status(400, "tools.3.custom.defer_loading: Extra inputs are not permitted"));
    let server = Served::messages(vec![refuse, load("echo"), Turn::text("Loaded.")]);
    let bot = server.bot("").echo();
    let host = harness::LiveHost::start_with(&bot, &["--no-watch"]);
    let asked = contract::ran(&bot, &["ask", ".", "load it", "--session", "s"], 0, "ask");
    assert_eq!(asked["text"], "Loaded.");
    bot.put_tool("tools/other", "Another tool", "other");
    contract::ran(&bot, &["reload"], 0, "reload");
    server.then(vec![Turn::text("Next.")]);
    contract::ran(&bot, &["ask", ".", "and now?", "--session", "s"], 0, "ask");
    let requests = server.requests();
    assert_eq!(requests.iter().map(|r| r.status).collect::<Vec<_>>(), [400, 200, 200, 200]);
    assert!(listed(&requests[0].body).contains(&("echo", true)));
    for later in &requests[1..] {
        assert!(!later.body.to_string().contains("defer_loading") && later.header("anthropic-beta").is_none());
    }
    assert!(requests[2].body["messages"].to_string().contains("Loaded: echo"));
    assert_eq!(host.stop(), 0);
}

#[test]
fn ten_turns_of_either_format_have_the_same_first_bytes() {
    for server in [Served::start(vec![]), Served::messages(vec![])] {
        server.then(vec![load("echo"), Turn::text("Loaded.")]);
        let bot = server.bot("").echo().tool("tools/other", "Another tool", "other").write("AGENTS.md", "Be short.\n");
        let host = harness::LiveHost::start_with(&bot, &["--no-watch"]);
        contract::ran(&bot, &["ask", ".", "load it", "--session", "a"], 0, "ask");
        server.take_requests();
        for n in 0..10 {
            server.then(vec![Turn::text(format!("Answer {n}."))]);
            contract::ran(&bot, &["ask", ".", &format!("question {n}"), "--session", "a"], 0, "ask");
        }
        let turns = server.requests();
        assert_eq!(turns.len(), 10);
        for turn in &turns {
            assert_eq!(prefix(&turn.bytes), prefix(&turns[0].bytes));
        }
        assert!(prefix(&turns[0].bytes).contains("\"echo\""));
        assert_eq!(host.stop(), 0);
    }
}

#[test]
fn a_thousand_tools_cost_next_to_nothing() {
    let property = "{ type = \"string\", required = true, description = \"One of the many values that this tool needs to do its work\" }";
    let manifest = |n: usize| {
        let input: String = (0..8).map(|i| format!("field_{i} = {property}\n")).collect();
        format!(
            "description = \"Tool number {n} of many that are here to be found\"\nrequires_approval = \"never\"\ncapabilities = []\n[input]\n{input}"
        )
    };
    let bot = key(TestBot::new());
    let mut all = String::from("run = { command = [\"./main.sh\"] }\n");
    bot.put("tools/t0000/main.sh", "#!/bin/sh\ncat >/dev/null\nprintf done\n");
    for n in 0..1000 {
        let text = manifest(n);
        all.push_str(&text);
        let text = text.replace("[input]", "run = { command = [\"./main.sh\"] }\n[input]");
        bot.put(&format!("tools/t{n:04}/tool.toml"), &text);
        if n > 0 {
            bot.put(&format!("tools/t{n:04}/main.sh"), "#!/bin/sh\ncat >/dev/null\nprintf done\n");
        }
    }
    // what all of it would be on the wire, from the request that has one of them
    for server in [Served::start(vec![]), Served::messages(vec![])] {
        server.configure(&bot, "");
        server.then(vec![Turn::text("before"), load("t0500"), Turn::text("after")]);
        contract::ran(&bot, &["ask", ".", "hello there"], 0, "ask");
        contract::ran(&bot, &["ask", ".", "load one"], 0, "ask");
        let requests = server.requests();
        let size = |n: usize| prefix(&requests[n].bytes).len();
        let (without, with) = (size(1), size(2));
        assert!(with > without, "one of the tools was loaded");
        let full = (with - without) * 1000;
        for n in 0..3 {
            assert!(size(n) * 100 <= full * 3, "request {n}: {} of {full} bytes", size(n));
        }
    }
}

/// A bot of two models of two formats; the first falls back on the second.
fn two(first: &Served, second: &Served) -> TestBot {
    let models = format!("{}fallback = [\"spare\"]\n{}", first.model("default"), second.model("spare"));
    key(TestBot::new()).write("bot.toml", &models.replacen("\"any\"", "\"first\"", 1)).echo()
}

fn states(status: &Value) -> Vec<(&str, &str)> {
    let models = status["models"].as_array().expect("models").iter();
    models.filter_map(|m| Some((m["name"].as_str()?, m["state"].as_str()?))).collect()
}

#[test]
fn while_one_model_is_out_another_answers_with_the_same_tools() {
    let outage = || Turn::fault(Fault::status(500, "parser said: unexpected token"));
    let thinking = Some(fake_anthropic::Thinking::signed("secret thoughts", "c2ln"));
    let first =
        Served::messages(vec![Turn { thinking, ..load("echo") }, outage(), outage(), outage(), Turn::text("never")]);
    let second = Served::start(vec![Turn::call("echo", json!({"message": "hi"})), Turn::text("From the second.")]);
    let bot = two(&first, &second);
    let asked = contract::ran(&bot, &["ask", ".", "say hi"], 0, "ask");
    assert_eq!((&asked["text"], &asked["model"]), (&"From the second.".into(), &"any".into()), "{asked:#}");
    assert_eq!(codes(&asked), ["-", "-"]);
    let (first, second) = (first.requests(), second.requests());
    assert_eq!(first.iter().map(|r| r.status).collect::<Vec<_>>(), [200, 500, 500, 500]);
    assert!(second.iter().all(|r| r.status == 200), "{second:#?}");
    let body = second[0].body.to_string();
    assert!(!body.contains("c2ln") && !body.contains("thoughts"), "signed reasoning is for its maker");
    assert!(body.contains("Loaded: echo") && !body.contains("defer_loading"));
}

#[test]
fn our_own_fault_brings_nobody_else_and_a_refused_key_is_down() {
    let first = Served::messages(vec![Turn::fault(Fault::status(400, "messages: odd")), Turn::text("Fine again.")]);
    let second = Served::start(vec![Turn::text("From the second."), Turn::text("Again.")]);
    let bot = two(&first, &second);
    let host = harness::LiveHost::start_with(&bot, &["--no-watch"]);
    let failed = bot.run(&["ask", ".", "hello there", "--json"]).exits(6).json();
    assert_eq!(failed["detail"], "MODEL_REJECTED");
    assert!(second.requests().is_empty());
    assert_eq!(contract::ran(&bot, &["ask", ".", "once more"], 0, "ask")["text"], "Fine again.");
    first.then(vec![Turn::fault(Fault::status(401, "bad key")), Turn::text("never")]);
    for text in ["From the second.", "Again."] {
        assert_eq!(contract::ran(&bot, &["ask", ".", "hello there"], 0, "ask")["text"], text);
    }
    assert_eq!(first.requests().len(), 3, "a model that is down is not asked");
    let status = contract::ran(&bot, &["status"], 0, "status");
    assert!(states(&status).contains(&("default", "down")), "{status:#}");
    assert_eq!(host.stop(), 0);
}

#[test]
fn one_bad_tool_fails_no_turn() {
    let refused = Turn::fault(Fault::RefuseTool { name: "echo".into() });
    let server = Served::messages(vec![refused, Turn::text("Without it.")]);
    let bot = server.bot("").echo();
    assert_eq!(contract::ran(&bot, &["ask", ".", "hello there"], 0, "ask")["text"], "Without it.");
    let requests = server.requests();
    assert_eq!(requests.iter().map(|r| r.status).collect::<Vec<_>>(), [400, 200]);
    assert!(!listed(&requests[1].body).iter().any(|(n, _)| *n == "echo"));
    assert!(requests[1].body.to_string().contains("defer_loading"), "the others stay to be found");
}

#[test]
fn with_the_other_form_each_hit_is_a_reference() {
    let server = Served::messages(vec![
        Turn::call("tool_search", json!({"queries": ["echo a message", "a harvester of corn"]})),
        Turn::call("echo", json!({"message": "hi"})),
        Turn::text("Said."),
    ]);
    let bot = server.bot("[agent.deferred_tools]\nform = \"tool_search\"\n").echo();
    let asked = contract::ran(&bot, &["ask", ".", "say hi"], 0, "ask");
    assert_eq!((&asked["text"], codes(&asked)), (&"Said.".into(), vec!["-", "-"]));
    let requests = server.requests();
    let names: Vec<&str> = listed(&requests[0].body).iter().map(|(n, _)| *n).collect();
    assert!(names.contains(&"tool_search") && !names.contains(&"discover") && !names.contains(&"load_tool"));
    assert_eq!(requests[1].body["messages"].to_string().matches("\"tool_reference\"").count(), 1);
}

#[test]
fn a_bot_of_few_tools_sends_them_all_and_defers_none() {
    let server = Served::messages(vec![Turn::call("echo", json!({"message": "hi"})), Turn::text("Said.")]);
    let bot = server.bot("[agent.deferred_tools]\nload_all_below_chars = 100000\n").echo();
    let asked = contract::ran(&bot, &["ask", ".", "say hi"], 0, "ask");
    assert_eq!((&asked["text"], codes(&asked)), (&"Said.".into(), vec!["-"]));
    assert!(listed(&server.requests()[0].body).contains(&("echo", false)));
}
