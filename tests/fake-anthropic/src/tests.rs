use crate::*;
use fake_model::{Asked, Wire};
use serde_json::{Value, json};

fn headers(beta: &str) -> axum::http::HeaderMap {
    let mut map = axum::http::HeaderMap::new();
    map.insert("anthropic-version", "2023-06-01".parse().unwrap());
    if !beta.is_empty() {
        map.insert("anthropic-beta", beta.parse().unwrap());
    }
    map
}

fn body(extra: Value) -> Value {
    let mut base = json!({"model": "m", "max_tokens": 9, "messages": [user("hi")]});
    base.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    base
}

fn ask_with(wire: &Messages, beta: &str, extra: Value) -> Result<(), String> {
    let body = body(extra);
    wire.check(&Asked { headers: &headers(beta), body: &body, models: &[] }).map_err(|r| r.message)
}

fn ask(extra: Value) -> Result<(), String> {
    ask_with(&Messages::default(), "", extra)
}

#[track_caller]
fn refused(extra: Value, why: &str) {
    let said = ask(extra).unwrap_err();
    assert!(said.contains(why), "{said}");
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": "d", "input_schema": {"type": "object", "properties": {}}})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "a", "input": {}})
}

fn said(blocks: Value) -> Value {
    json!({"role": "assistant", "content": blocks})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "x"})
}

fn answered(blocks: Value) -> Value {
    json!({"role": "user", "content": blocks})
}

#[test]
fn a_plain_request_is_taken() {
    let cached = json!([{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]);
    let extra = json!({"tools": [tool("a-b_c")], "tool_choice": {"type": "none"}, "stream": true, "system": cached});
    assert_eq!(ask(extra), Ok(()));
}

#[test]
fn what_the_real_server_refuses_is_refused() {
    refused(json!({"surprise": 1}), "surprise: Extra inputs");
    refused(json!({"max_tokens": 0}), "max_tokens");
    refused(json!({"model": ""}), "model");
    refused(json!({"temperature": 1.5}), "temperature");
    refused(json!({"thinking": {"type": "enabled", "budget_tokens": 5}}), "budget_tokens");
    refused(json!({"system": [{"type": "text", "text": ""}]}), "non-empty");
    refused(json!({"tool_choice": {"type": "auto"}}), "tool_choice");
    for bad in ["get.user", "天气", "", &"x".repeat(65)] {
        refused(json!({"tools": [tool(bad)]}), "tools.0.custom.name");
    }
    refused(json!({"tools": [tool("a"), tool("a")]}), "unique");
    refused(json!({"tools": [tool("a")], "tool_choice": {"type": "tool", "name": "b"}}), "not found");
    let mut odd = tool("a");
    odd["strange"] = json!(1);
    refused(json!({"tools": [odd]}), "tools.0.custom.strange: Extra inputs");
    for (schema, why) in [
        (json!({"type": "string"}), "type"),
        (json!({"type": "object", "anyOf": [{}]}), "top level"),
        (json!({"type": "object", "properties": {"城市": {}}}), "Property keys"),
        (json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}), "2020-12"),
        (json!({"type": "object", "required": "a"}), "2020-12"),
    ] {
        let mut bad = tool("a");
        bad["input_schema"] = schema;
        refused(json!({"tools": [bad]}), why);
    }
    let wire = Messages::default();
    let plain = body(json!({}));
    let bare = wire.check(&Asked { headers: &Default::default(), body: &plain, models: &[] });
    assert!(bare.unwrap_err().message.contains("anthropic-version"));
    assert!(ask_with(&wire, "no-such-beta", json!({})).unwrap_err().contains("no-such-beta"));
}

#[test]
fn roles_alternate_and_calls_are_answered_in_the_next_message() {
    let good = json!([
        user("x"),
        said(json!([call("c1"), call("c2")])),
        answered(json!([result("c2"), result("c1"), {"type": "text", "text": "and"}]))
    ]);
    assert_eq!(ask(json!({"messages": good})), Ok(()));
    for (messages, why) in [
        (json!([]), "at least one"),
        (json!([{"role": "system", "content": "x"}]), "system"),
        (json!([said(json!("x"))]), "first message"),
        (json!([user("x"), user("y")]), "alternate"),
        (json!([user(" ")]), "non-empty"),
        (json!([user("x"), said(json!([call("c1")]))]), "without `tool_result`"),
        (json!([user("x"), said(json!([call("c1")])), user("y")]), "without `tool_result`"),
        (json!([user("x"), said(json!([call("c1"), call("c1")]))]), "unique"),
        (json!([user("x"), said(json!([call("c 1")]))]), "tool_use.id"),
        (json!([answered(json!([result("c1")]))]), "unexpected `tool_use_id`"),
        (json!([user("x"), said(json!([call("c1")])), answered(json!([result("c1"), result("c1")]))]), "single result"),
        (
            json!([
                user("x"),
                said(json!([call("c1")])),
                answered(json!([{"type": "text", "text": "y"}, result("c1")]))
            ]),
            "must come first",
        ),
        (json!([user("x"), said(json!([{"type": "text", "text": ""}, call("c1")]))]), "non-empty"),
        (json!([user("x"), said(json!("ends "))]), "trailing whitespace"),
        (json!([answered(json!([call("c1")]))]), "not allowed"),
    ] {
        refused(json!({"messages": messages}), why);
    }
}

#[test]
fn at_most_four_places_are_cached() {
    let mark = json!({"type": "ephemeral"});
    let block = json!({"type": "text", "text": "x", "cache_control": mark});
    assert_eq!(ask(json!({"messages": [answered(json!([block, block, block, block]))]})), Ok(()));
    refused(json!({"system": [block], "messages": [answered(json!([block, block, block, block]))]}), "Found 5");
    let odd = json!({"type": "text", "text": "x", "cache_control": {"type": "forever"}});
    refused(json!({"system": [odd]}), "cache_control");
}

#[test]
fn deferral_and_references_need_the_beta() {
    let mut deferred = tool("b");
    deferred["defer_loading"] = json!(true);
    let loads = json!([
        user("x"),
        said(json!([call("c1")])),
        answered(json!([
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "tool_reference", "tool_name": "b"}]}]))
    ]);
    let request = json!({"tools": [tool("a"), deferred], "messages": loads});
    let wire = Messages::default();
    assert_eq!(ask_with(&wire, BETA, request.clone()), Ok(()));
    refused(request, "defer_loading: Extra inputs");
    let absent = json!({"tools": [tool("a")], "messages": loads});
    refused(absent.clone(), "tool_reference");
    assert!(ask_with(&wire, BETA, absent).unwrap_err().contains("Tool reference 'b' not found"));
    assert!(ask_with(&wire, BETA, json!({"tools": [deferred]})).unwrap_err().contains("cannot be deferred"));
    let mut marked = deferred.clone();
    marked["cache_control"] = json!({"type": "ephemeral"});
    let both = ask_with(&wire, BETA, json!({"tools": [tool("a"), marked]}));
    assert!(both.unwrap_err().contains("cannot use prompt caching"));
    let seen = wire.seen(&body(json!({"tools": [tool("a"), deferred], "messages": loads})));
    assert!(seen.tools.iter().all(|t| t.ready), "the reference has loaded it");
}

#[test]
fn reasoning_comes_back_as_it_was_sent() {
    let mut wire = Messages::default();
    let turn = Turn {
        thinking: Some(Thinking::signed("I think", "c2ln")),
        ..Turn::calls([Call::new("a", json!({})).id("c1")])
    };
    let reply = wire.reply(&turn, &json!({"model": "m"}), 1);
    let content = reply.whole["content"].clone();
    let asked = |wire: &Messages, content: Value| {
        ask_with(wire, "", json!({"messages": [user("x"), said(content), answered(json!([result("c1")]))]}))
    };
    assert_eq!(asked(&wire, content.clone()), Ok(()));
    assert!(asked(&wire, json!([content[1]])).unwrap_err().contains("cannot be modified"));
    let mut forged = content.clone();
    forged[0]["thinking"] = json!("I thought");
    assert!(asked(&wire, forged).unwrap_err().contains("Invalid `signature`"));
    assert!(asked(&Messages::default(), content).unwrap_err().contains("Invalid `signature`"), "not of this server");
}

fn events(turn: &Turn) -> Vec<(String, Value)> {
    let reply = Messages::default().reply(turn, &json!({"model": "m"}), 1);
    let read = |chunk: &String| {
        let (name, data) = chunk.strip_prefix("event: ")?.split_once("\ndata: ")?;
        Some((name.to_owned(), serde_json::from_str(data.trim()).unwrap()))
    };
    reply.chunks.iter().filter_map(read).collect()
}

#[test]
fn the_stream_has_the_events_of_the_format() {
    let turn = Turn {
        thinking: Some(Thinking::signed("hm", "s")),
        text: Some("Hello there".into()),
        usage: Usage::Counts(Counts { input: 100, output: 7, cached_read: 60, cached_write: 30, reasoning: 0 }),
        ..Turn::calls([Call::new("a", json!({"city": "Paris"}))])
    };
    let events = events(&turn);
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..4], ["message_start", "content_block_start", "ping", "content_block_delta"]);
    assert_eq!(names[names.len() - 2..], ["message_delta", "message_stop"]);
    let usage = &events[0].1["message"]["usage"];
    assert_eq!((&usage["input_tokens"], &usage["cache_read_input_tokens"]), (&json!(10), &json!(60)));
    let parts = events.iter().filter_map(|(_, e)| e.pointer("/delta/partial_json")?.as_str());
    assert_eq!(parts.collect::<String>(), r#"{"city":"Paris"}"#);
    assert_eq!(events[events.len() - 2].1["delta"]["stop_reason"], "tool_use");
}

#[test]
fn a_stream_may_be_as_bad_as_real_ones() {
    let call = || Call::new("a", json!({}));
    let turn = Turn { overlap: true, bare_start: true, text: Some("Wait".into()), ..Turn::calls([call(), call()]) };
    let events = events(&turn);
    let at = |name: &str, index: u64| {
        events.iter().position(|(n, e)| n == name && e["index"] == index).unwrap_or_else(|| panic!("{name} {index}"))
    };
    assert!(at("content_block_start", 1) < at("content_block_stop", 0));
    assert!(events[at("content_block_start", 1)].1["content_block"].get("input").is_none());
    let none = Turn { usage: Usage::Off, ..Turn::text("x") };
    let reply = Messages::default().reply(&none, &json!({}), 1);
    assert!(!reply.chunks.concat().contains("usage"));
    assert!(Messages::default().unplayable(&Turn::text("x")).is_none());
}
