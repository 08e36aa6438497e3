//! The bot with a real model protocol: streamed answers over HTTP, bad calls, bad servers.

use crate::contract;
use fake_openai::{Call, Fault, Turn};
use harness::{KEY, Ran, Served, TestBot};
use serde_json::{Value, json};

fn call(name: &str, arguments: Value) -> Turn {
    Turn::calls([Call::new(name, arguments)])
}

fn load(name: &str) -> Turn {
    call("load_tool", json!({"name": name}))
}

/// Names of the tools of a request.
fn sent(request: &Value) -> Vec<&str> {
    request["tools"].as_array().into_iter().flatten().filter_map(|t| t.pointer("/function/name")?.as_str()).collect()
}

/// Everything a request says, as one text.
fn said(request: &Value) -> String {
    request["messages"].to_string()
}

fn tools_of(turn: &Value) -> Vec<&str> {
    turn["tool_calls"].as_array().expect("calls").iter().filter_map(|c| c["tool"].as_str()).collect()
}

/// `(code, reason)` of each call.
fn codes(turn: &Value) -> Vec<(&str, &str)> {
    let text = |v: &'_ Value| v.as_str().unwrap_or("-").to_owned().leak() as &str;
    let calls = turn["tool_calls"].as_array().expect("calls").iter();
    calls.map(|c| (text(&c["error"]["code"]), text(&c["error"]["details"]["reason"]))).collect()
}

/// Asserts that the key is in no byte of an output or of any file the host wrote.
#[track_caller]
fn keeps_the_key(bot: &TestBot, ran: &[&Ran]) {
    for r in ran {
        assert!(!r.out.contains(KEY) && !r.err.contains(KEY), "the key is in an output: {r:?}");
    }
    crate::secrets::in_no_file(&bot.at("data"), KEY);
}

#[test]
fn a_tool_is_found_loaded_and_called_over_http() {
    let server = Served::start(vec![
        call("discover", json!({"query": "echo a message"})),
        load("echo"),
        call("echo", json!({"message": "grüße 😀"})),
        Turn::text("It said grüße 😀."),
    ]);
    let bot = server.bot("").echo();
    let asked = contract::ran(&bot, &["ask", ".", "say it back"], 0, "ask");
    assert_eq!((&asked["text"], &asked["model"]), (&"It said grüße 😀.".into(), &"any".into()));
    assert_eq!(tools_of(&asked), ["discover", "load_tool", "echo"]);
    assert_eq!(codes(&asked), [("-", "-"); 3]);
    let requests = server.requests();
    assert!(requests.iter().all(|r| r.status == 200 && r.authorized), "{requests:#?}");
    assert!(!sent(&requests[1].body).contains(&"echo"), "only its loading makes a tool callable");
    assert!(sent(&requests[2].body).contains(&"echo"));
    assert!(said(&requests[1].body).contains("- [tool] echo"));
    assert!(said(&requests[3].body).contains("echo: grüße 😀"));
    assert!(asked["usage"]["output_tokens"].as_u64().expect("a count") > 0);
}

#[test]
fn calls_streamed_in_odd_ways_arrive_whole() {
    let three = ["one", "two", "three"].map(|m| Call::new("echo", json!({"message": m})));
    let server = Served::start(vec![
        load("echo"),
        Turn { interleave: true, ..Turn::calls(three.clone()) },
        Turn { same_index: true, ..Turn::calls(three.clone()) },
        Turn { no_ids: true, ..Turn::calls(three) },
        Turn::text("All."),
    ]);
    let bot = server.bot("").echo();
    let asked = contract::ran(&bot, &["ask", ".", "three at once"], 0, "ask");
    let messages: Vec<&str> = asked["tool_calls"]
        .as_array()
        .expect("calls")
        .iter()
        .filter_map(|c| c["arguments"]["message"].as_str())
        .collect();
    assert_eq!(messages, ["one", "two", "three", "one", "two", "three", "one", "two", "three"], "{asked:#}");
    assert_eq!(server.requests().iter().filter(|r| r.status != 200).count(), 0);
}

#[test]
fn bad_calls_get_their_codes_and_the_turn_goes_on() {
    let server = Served::start(vec![
        Turn::calls([
            Call::new("echo", json!({"message": "too early"})),
            Call::new("vault", json!({})),
            Call::new("never-heard-of", json!({})),
            Call::new("boss", json!({})),
            Call::new("load_tool", json!({"name": "vault"})),
            Call::new("load_tool", json!({"name": "boss"})),
            Call::new("load_tool", json!({"name": "ecko"})),
            Call::new("load_tool", json!({"name": "echo"})),
            Call::new("echo", json!({"message": "same step"})),
        ]),
        Turn::calls([
            Call::new("echo", json!("{\"message\": \"x\",}")),
            Call::new("echo", json!("[1, 2]")),
            Call::new("echo", json!({"mesage": "typo"})),
            Call::new("echo", json!("\"{\\\"message\\\": \\\"twice\\\"}\"")),
            Call::new("functions.echo", json!({"message": "prefixed"})),
            Call::new("echo", json!("")),
        ]),
        Turn::text("Still here."),
    ]);
    let bot = server.bot("").echo();
    for (name, line) in [("vault", "hidden = true"), ("boss", "permissions = [\"role(master)\"]")] {
        bot.put_tool(&format!("tools/{name}"), "Opens it", "opened");
        let manifest = std::fs::read_to_string(bot.at(&format!("tools/{name}/tool.toml"))).expect("a manifest");
        bot.put(&format!("tools/{name}/tool.toml"), &format!("{line}\n{manifest}"));
    }
    let asked = contract::ran(&bot, &["ask", ".", "try things", "--as", "ann", "--role", "user"], 0, "ask");
    assert_eq!(asked["text"], "Still here.");
    assert_eq!(
        codes(&asked),
        [
            ("TOOL_NOT_ALLOWED", "not_loaded"),
            ("TOOL_NOT_ALLOWED", "not_listed"),
            ("NOT_FOUND", "-"),
            ("TOOL_NOT_ALLOWED", "not_admitted"),
            ("NOT_FOUND", "-"),
            ("TOOL_NOT_ALLOWED", "not_admitted"),
            ("NOT_FOUND", "-"),
            ("-", "-"),
            ("TOOL_NOT_ALLOWED", "not_loaded"),
            ("MALFORMED_ARGUMENTS", "-"),
            ("MALFORMED_ARGUMENTS", "-"),
            ("VALIDATION_ERROR", "-"),
            ("-", "-"),
            ("-", "-"),
            ("VALIDATION_ERROR", "-"),
        ],
        "{asked:#}"
    );
    let requests = server.requests();
    assert!(requests.iter().all(|r| r.status == 200), "each history was sendable");
    let last = said(&requests.last().expect("a request").body);
    assert!(last.contains("echo: twice") && last.contains("echo: prefixed") && !last.contains("opened"), "{last}");
}

#[test]
fn a_busy_server_is_asked_again() {
    let busy = Fault::Status {
        status: 429,
        message: "slow down".into(),
        code: None,
        param: None,
        retry_after: Some("1".into()),
        html: false,
    };
    let server = Served::start(vec![Turn::fault(busy), Turn::text("Now.")]);
    let bot = server.bot("").echo();
    let started = std::time::Instant::now();
    let asked = contract::ran(&bot, &["ask", ".", "hello there"], 0, "ask");
    assert_eq!(asked["text"], "Now.");
    assert!(started.elapsed() >= std::time::Duration::from_secs(1), "retry-after is kept");
    assert_eq!(server.requests().iter().map(|r| r.status).collect::<Vec<_>>(), [429, 200]);
}

#[test]
fn a_cut_stream_is_repeated_without_its_beginning() {
    let cut = Turn { fault: Some(Fault::Cut { after: 3 }), ..Turn::text("Half of an answer") };
    let server = Served::start(vec![cut, Turn::text("The whole answer.")]);
    let bot = server.bot("").echo();
    let asked = contract::ran(&bot, &["ask", ".", "hello there"], 0, "ask");
    assert_eq!(asked["text"], "The whole answer.");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn our_own_fault_is_not_repeated_and_not_quoted() {
    let server = Served::start(vec![Turn::fault(Fault::status(400, "weird-inner-detail")), Turn::text("never")]);
    let bot = server.bot("").echo();
    let ran = bot.run(&["ask", ".", "hello there", "--json"]).exits(6);
    let asked = ran.json();
    contract::is("ask", &asked);
    assert_eq!((&asked["outcome"], &asked["detail"]), (&"failed".into(), &"MODEL_REJECTED".into()));
    let text = asked["text"].as_str().expect("a sentence");
    assert!(!text.is_empty() && !text.contains("weird-inner-detail"), "{text}");
    assert_eq!(server.requests().len(), 1);
    keeps_the_key(&bot, &[&ran]);
}

#[test]
fn a_page_instead_of_an_answer_is_an_unavailable_model() {
    let page = |status| Fault::Status {
        status,
        message: "Bad Gateway".into(),
        code: None,
        param: None,
        retry_after: None,
        html: true,
    };
    let server = Served::start(vec![
        Turn::fault(page(502)),
        Turn::raw(["<html><body>Please log in</body></html>"]),
        Turn::raw(["data: {\"choices\": [{\"delta\"", "\n\n"]),
        Turn::text("never"),
    ]);
    let bot = server.bot("").echo();
    let ran = bot.run(&["ask", ".", "hello there", "--json"]).exits(6);
    let asked = ran.json();
    assert_eq!((&asked["outcome"], &asked["detail"]), (&"failed".into(), &"MODEL_UNAVAILABLE".into()), "{asked:#}");
    let text = asked["text"].as_str().expect("a sentence");
    assert!(text.contains(asked["turn_id"].as_str().expect("an id")) && !text.contains('<'), "{text}");
    assert_eq!(server.requests().len(), 3, "two repeats");
    keeps_the_key(&bot, &[&ran]);
}

#[test]
fn a_refused_key_is_told_without_the_key() {
    let script = fake_openai::Script { key: Some("another".into()), ..Default::default() };
    let server = Served::start_with(script);
    let bot = server.bot("[telemetry]\nlog_level = \"debug\"\n").echo();
    let json = bot.run(&["ask", ".", "hello there", "--json"]).exits(6);
    let plain = bot.run(&["ask", ".", "hello there"]).exits(6);
    let chat = bot.run(&["chat", "--once", "hello there"]).exits(6);
    assert_eq!(json.json()["detail"], "MODEL_UNAVAILABLE");
    assert_eq!(server.requests().len(), 3, "a refused key is not repeated");
    keeps_the_key(&bot, &[&json, &plain, &chat]);
}

#[test]
fn loaded_tools_survive_a_restart_and_belong_to_their_session() {
    let server = Served::start(vec![load("echo"), Turn::text("Loaded.")]);
    let bot = server.bot("").echo();
    contract::ran(&bot, &["ask", ".", "the first words", "--session", "a"], 0, "ask");
    // another process: the host was restarted
    server.then(vec![call("echo", json!({"message": "again"})), Turn::text("Used.")]);
    let used = contract::ran(&bot, &["ask", ".", "use it", "--session", "a"], 0, "ask");
    assert_eq!((tools_of(&used), codes(&used)), (vec!["echo"], vec![("-", "-")]));
    let requests = server.requests();
    assert!(sent(&requests[2].body).contains(&"echo"), "sent from the first step");
    assert!(said(&requests[2].body).contains("the first words"), "the history is kept");
    server.then(vec![call("echo", json!({"message": "elsewhere"})), Turn::text("No.")]);
    let other = contract::ran(&bot, &["ask", ".", "use it", "--session", "b"], 0, "ask");
    assert_eq!(codes(&other), [("TOOL_NOT_ALLOWED", "not_loaded")]);
    assert!(!said(&server.requests().last().expect("a request").body).contains("the first words"));
}

#[test]
fn a_reload_keeps_loads_and_a_changed_schema_drops_one() {
    let server = Served::start(vec![load("echo"), load("other"), Turn::text("Loaded.")]);
    let bot = server.bot("").echo().tool("tools/other", "Another tool", "other");
    let host = harness::LiveHost::start_with(&bot, &["--no-watch"]);
    contract::ran(&bot, &["ask", ".", "load both", "--session", "a"], 0, "ask");
    bot.put_tool("tools/third", "A third tool", "third");
    contract::ran(&bot, &["reload"], 0, "reload");
    server.then(vec![Turn::text("Kept.")]);
    contract::ran(&bot, &["ask", ".", "still there?", "--session", "a"], 0, "ask");
    let request = server.requests().pop().expect("a request").body;
    assert!(sent(&request).contains(&"echo") && sent(&request).contains(&"other"), "{:?}", sent(&request));
    let manifest = std::fs::read_to_string(bot.at("tools/echo/tool.toml")).expect("a manifest");
    bot.put("tools/echo/tool.toml", &format!("{manifest}loud = {{ type = \"boolean\", required = false }}\n"));
    std::fs::remove_dir_all(bot.at("tools/other")).expect("a removed tool");
    contract::ran(&bot, &["reload"], 0, "reload");
    server.then(vec![
        Turn::calls([Call::new("echo", json!({"message": "x"})), Call::new("other", json!({}))]),
        load("echo"),
        call("echo", json!({"message": "new"})),
        Turn::text("Again."),
    ]);
    let asked = contract::ran(&bot, &["ask", ".", "and now?", "--session", "a"], 0, "ask");
    let gone = [("TOOL_NOT_ALLOWED", "not_loaded"), ("TOOL_NOT_ALLOWED", "gone"), ("-", "-"), ("-", "-")];
    assert_eq!(codes(&asked), gone, "{asked:#}");
    let requests = server.requests();
    let first = &requests[requests.len() - 4].body;
    assert!(!sent(first).contains(&"echo") && !sent(first).contains(&"other"));
    assert!(said(first).contains("echo changed; load it again"), "{}", said(first));
    assert!(said(first).contains("other is no longer available"), "{}", said(first));
    server.then(vec![Turn::text("Quiet.")]);
    contract::ran(&bot, &["ask", ".", "told once?", "--session", "a"], 0, "ask");
    let next = server.requests().pop().expect("a request").body;
    let newest = next["messages"].as_array().and_then(|m| m.last()).expect("a message").to_string();
    assert!(!newest.contains("load it again"), "a notice is told once: {newest}");
    assert_eq!(host.stop(), 0);
}

#[test]
fn the_thirteenth_load_takes_the_place_of_the_least_recently_used() {
    let names: Vec<String> = (1..=13).map(|n| format!("t{n:02}")).collect();
    let mut turns: Vec<Turn> = names[..12].iter().map(|n| load(n)).collect();
    turns.extend([call("t01", json!({})), load("t13"), call("t02", json!({})), Turn::text("Done.")]);
    let server = Served::start(turns);
    let bot = server.bot("[agent]\nmax_iterations = 30\n");
    for name in &names {
        bot.put_tool(&format!("tools/{name}"), &format!("Tool number {name}"), name);
    }
    let asked = contract::ran(&bot, &["ask", ".", "load them all"], 0, "ask");
    assert_eq!(codes(&asked).last(), Some(&("TOOL_NOT_ALLOWED", "not_loaded")), "{asked:#}");
    let requests = server.requests();
    let last = &requests.last().expect("a request").body;
    assert!(sent(last).contains(&"t01") && sent(last).contains(&"t13") && !sent(last).contains(&"t02"));
    assert_eq!(sent(last).iter().filter(|n| n.starts_with('t')).count(), 12);
    assert!(said(last).contains("evicted: t02; load it again when needed"), "{}", said(last));
}

/// The bytes of the value of `"key":` at the top of a request.
fn raw<'a>(bytes: &'a [u8], key: &str) -> &'a [u8] {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let at = text.find(&format!("\"{key}\":[")).expect("the key") + key.len() + 3;
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (i, c) in text[at..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &bytes[at..=at + i];
        }
    }
    panic!("{key} does not end");
}

#[test]
fn ten_turns_have_the_same_first_bytes() {
    let server = Served::start(vec![load("echo"), Turn::text("Loaded.")]);
    let bot = server.bot("").echo().write("AGENTS.md", "Be short.\n");
    let host = harness::LiveHost::start_with(&bot, &["--no-watch"]);
    contract::ran(&bot, &["ask", ".", "load it", "--session", "a"], 0, "ask");
    let before = server.requests().len();
    for n in 0..10 {
        server.then(vec![Turn::text(format!("Answer {n}."))]);
        contract::ran(&bot, &["ask", ".", &format!("question {n}"), "--session", "a"], 0, "ask");
    }
    let requests = server.requests();
    let turns = &requests[before..];
    assert_eq!(turns.len(), 10);
    let system = turns[0].body["messages"][0].to_string();
    for pair in turns.windows(2) {
        assert_eq!(raw(&pair[0].bytes, "tools"), raw(&pair[1].bytes, "tools"));
        // each history begins with the whole history before it, up to the newest message
        let (a, b) = (raw(&pair[0].bytes, "messages"), raw(&pair[1].bytes, "messages"));
        let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        assert!(same > system.len(), "the system prompt differs");
        assert_eq!(pair[1].body["messages"][0].to_string(), system);
    }
    assert_eq!(host.stop(), 0);
}

#[test]
fn a_tool_the_server_refuses_is_left_out_and_the_turn_goes_on() {
    let server = Served::start(vec![
        load("echo"),
        Turn { fault: Some(Fault::RefuseTool { name: "echo".into() }), ..Turn::default() },
        Turn::text("Without it."),
    ]);
    let bot = server.bot("").echo();
    let asked = contract::ran(&bot, &["ask", ".", "hello there"], 0, "ask");
    assert_eq!(asked["text"], "Without it.");
    let requests = server.requests();
    assert_eq!(requests.iter().map(|r| r.status).collect::<Vec<_>>(), [200, 400, 200]);
    assert!(sent(&requests[1].body).contains(&"echo") && !sent(&requests[2].body).contains(&"echo"));
}

#[test]
fn a_redirect_gets_neither_the_key_nor_the_question() {
    let other = Served::start(vec![Turn::text("never")]);
    let to = format!("{}/chat/completions", other.base_url());
    let redirect = || Turn::fault(Fault::Redirect { to: to.clone() });
    let server = Served::start(vec![redirect(), redirect(), redirect()]);
    let bot = server.bot("").echo();
    let ran = bot.run(&["ask", ".", "hello there", "--json"]).exits(6);
    assert_eq!(ran.json()["outcome"], "failed");
    assert!(other.requests().is_empty(), "a redirect of a model is never followed");
    keeps_the_key(&bot, &[&ran]);
}
