use crate::check::check;
use crate::reply::reply;
use crate::*;
use fake_model::{Called, Wire};
use serde_json::{Value, json};

fn tool(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "description": "d", "parameters": {"type": "object", "properties": {}}}})
}

fn request(extra: Value) -> Value {
    let mut base = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    base.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    base
}

fn refused(extra: Value) -> String {
    check(&request(extra), &[]).unwrap_err().param.unwrap_or_default()
}

#[test]
fn a_plain_request_is_taken() {
    assert_eq!(check(&request(json!({"tools": [tool("a-b_c")], "tool_choice": "none", "stream": true})), &[]), Ok(()));
}

#[test]
fn what_real_servers_refuse_is_refused() {
    assert_eq!(refused(json!({"tools": []})), "tools");
    let many: Vec<Value> = (0..129).map(|i| tool(&format!("t{i}"))).collect();
    assert_eq!(refused(json!({"tools": many})), "tools");
    for bad in ["get.user", "天气", "", &"x".repeat(65), "Dockerfile problems"] {
        assert_eq!(refused(json!({"tools": [tool(bad)]})), "tools[0].function.name");
    }
    assert_eq!(refused(json!({"tools": [tool("a"), tool("a")]})), "tools[1].function.name");
    for schema in [
        json!({"type": "string"}),
        json!({}),
        json!({"type": "object", "properties": {"a": {"type": "array"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "https://x.example"}}}),
    ] {
        let mut t = tool("a");
        t["function"]["parameters"] = schema;
        assert_eq!(refused(json!({"tools": [t]})), "tools[0].function.parameters");
    }
    assert_eq!(refused(json!({"tool_choice": "none"})), "tool_choice");
    assert_eq!(refused(json!({"stream_options": {}})), "stream_options");
    assert_eq!(refused(json!({"messages": []})), "messages");
    assert_eq!(refused(json!({"messages": [{"role": "robot", "content": "x"}]})), "messages[0].role");
    assert_eq!(refused(json!({"messages": [{"role": "assistant", "content": " "}]})), "messages[0].content");
    assert_eq!(refused(json!({"temperature": 3})), "temperature");
    assert_eq!(refused(json!({"surprise": 3})), "surprise");
}

#[test]
fn calls_and_results_come_in_pairs() {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "a", "arguments": "{}"}});
    let said = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": "x"});
    let user = json!({"role": "user", "content": "x"});
    assert_eq!(check(&request(json!({"messages": [user, said, result]})), &[]), Ok(()));
    assert_eq!(refused(json!({"messages": [user, said]})), "messages");
    assert_eq!(refused(json!({"messages": [user, said, user]})), "messages[2]");
    assert_eq!(refused(json!({"messages": [user, result]})), "messages[1].tool_call_id");
    assert_eq!(refused(json!({"messages": [user, said, result, result]})), "messages[3].tool_call_id");
    let mut twice = said.clone();
    twice["tool_calls"] = json!([call, call]);
    assert_eq!(refused(json!({"messages": [user, twice, result]})), "messages[1].tool_calls[1].id");
    let mut broken = said.clone();
    broken["tool_calls"][0]["function"]["arguments"] = json!("{\"a\":");
    assert_eq!(refused(json!({"messages": [user, broken, result]})), "messages[1].tool_calls[0].function.arguments");
}

#[test]
fn arguments_come_one_token_a_chunk_and_the_first_content_is_null() {
    let turn = Turn::calls([Call::new("a", json!({"city": "Paris"}))]);
    let reply = reply(&turn, "m", 1, true);
    assert!(reply.chunks[0].contains("\"content\":null"));
    assert!(reply.chunks.iter().filter(|c| c.contains("arguments")).count() >= 4);
    assert!(reply.chunks[reply.chunks.len() - 2].contains("prompt_tokens"));
    assert_eq!(reply.chunks.last().unwrap(), "data: [DONE]\n\n");
}

#[test]
fn what_a_request_says_is_seen() {
    let user = json!({"role": "user", "content": "weather in Paris"});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "a", "arguments": "{\"x\": 1}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "sunny"});
    let seen = ChatCompletions::default().seen(&json!({"messages": [user, call, result], "tools": [tool("a")]}));
    assert_eq!((seen.said.as_str(), seen.last.as_str()), ("weather in Paris", "sunny"));
    assert_eq!(seen.answered, Some(Called { name: "a".into(), arguments: json!({"x": 1}), result: "sunny".into() }));
    assert!(seen.tools[0].ready && seen.tools[0].name == "a");
}

#[test]
fn a_signature_of_a_call_must_come_back() {
    let mut wire = ChatCompletions::default();
    let mut call = Call::new("a", json!({})).id("c1");
    call.extra.insert("extra_content".into(), json!({"google": {"thought_signature": "AbC="}}));
    let reply = wire.reply(&Turn::calls([call]), &json!({"model": "m"}), 1);
    assert!(reply.chunks.concat().contains("thought_signature"));
    let user = json!({"role": "user", "content": "x"});
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": "x"});
    let mut back = json!({"id": "c1", "type": "function", "function": {"name": "a", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "AbC="}}});
    let asked = |call: &Value| {
        let said = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        let body = request(json!({"messages": [user, said, result]}));
        wire.check(&fake_model::Asked { headers: &Default::default(), body: &body, models: &[] })
    };
    assert_eq!(asked(&back), Ok(()));
    back["extra_content"]["google"]["thought_signature"] = json!("AbC");
    assert!(asked(&back).unwrap_err().message.contains("extra_content"));
}
