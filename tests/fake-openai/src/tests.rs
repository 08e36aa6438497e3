use crate::auto::auto;
use crate::check::check;
use crate::reply::reply;
use crate::*;
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
    assert!(reply.chunks.last().unwrap().contains("prompt_tokens"));
}

#[test]
fn without_a_script_it_searches_loads_and_calls() {
    let user = json!({"role": "user", "content": "weather in Paris"});
    let meta = json!([tool("discover"), tool("load_tool")]);
    let first = auto(&json!({"messages": [user], "tools": meta}));
    assert_eq!(first.calls[0].name, "discover");
    let call = |name: &str, arguments: &str| {
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}]})
    };
    let found = json!({"role": "tool", "tool_call_id": "c", "content": "- [tool] maps__get: Weather"});
    let second = auto(&json!({"messages": [user, call("discover", "{}"), found], "tools": meta}));
    assert_eq!(second.calls[0], Call::new("load_tool", json!({"name": "maps__get"})));
    let mut get = tool("maps__get");
    get["function"]["parameters"] =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tools = json!([tool("discover"), tool("load_tool"), get]);
    let loaded = json!({"role": "tool", "tool_call_id": "c", "content": "loaded"});
    let load = call("load_tool", "{\"name\":\"maps__get\"}");
    let third = auto(&json!({"messages": [user, load, loaded], "tools": tools}));
    assert_eq!(third.calls[0], Call::new("maps__get", json!({"city": "Paris"})));
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "sunny"});
    let last = auto(&json!({"messages": [user, call("maps__get", "{}"), result], "tools": tools}));
    assert_eq!(last.text.as_deref(), Some("sunny"));
}

#[test]
fn a_script_file_is_read_strictly() {
    let text = r#"{"key": "k", "turns": [{"text": "hi"}, {"fault": {"kind": "status", "status": 429, "retry_after": "2"}},
        {"calls": [{"name": "a", "arguments": {"x": 1}}]}]}"#;
    let script: Script = serde_json::from_str(text).unwrap();
    assert_eq!(script.turns.len(), 3);
    assert!(serde_json::from_str::<Script>(r#"{"turn": []}"#).is_err());
}
