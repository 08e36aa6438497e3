//! The format of messages.

use crate::check::check;
use crate::reply::reply;
use crate::sent::Sent;
use axum::http::HeaderMap;
use fake_model::{Asked, Called, Offered, Refusal, Reply, Seen, Turn, Wire};
use serde_json::{Value, json};
use std::collections::HashSet;

/// The format. It remembers the reasoning it has sent.
#[derive(Default)]
pub struct Messages {
    sent: Sent,
}

impl Wire for Messages {
    fn path(&self) -> &'static str {
        "/messages"
    }

    fn key(&self, headers: &HeaderMap) -> Option<String> {
        Some(headers.get("x-api-key")?.to_str().ok()?.to_owned())
    }

    fn check(&self, asked: &Asked<'_>) -> Result<(), Refusal> {
        check(asked)?;
        self.sent.check(asked.body)
    }

    fn unplayable(&self, turn: &Turn) -> Option<&'static str> {
        let extra = turn.calls.iter().any(|c| !c.extra.is_empty());
        extra.then_some("calls of this format have no further keys; `thinking` holds a signature")
    }

    fn seen(&self, body: &Value) -> Seen {
        let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let said = messages.iter().rev().filter(|m| m.get("role").is_some_and(|r| r == "user"));
        let said = said.map(own_text).find(|t| !t.is_empty()).unwrap_or_default();
        let last = messages.last().unwrap_or(&Value::Null);
        let loaded = references(messages);
        let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
        Seen {
            said,
            last: texts(last.get("content").unwrap_or(&Value::Null)),
            answered: answered(messages, last),
            tools: tools.map(|tool| offered(tool, &loaded)).collect(),
        }
    }

    fn reply(&mut self, turn: &Turn, body: &Value, number: usize) -> Reply {
        let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
        let reply = reply(turn, model, number);
        let content = reply.whole.get("content").and_then(Value::as_array);
        self.sent.remember(content.map(Vec::as_slice).unwrap_or_default());
        reply
    }

    fn error(&self, refusal: &Refusal, in_stream: bool) -> String {
        let error = json!({"type": kind(refusal.status), "message": refusal.message});
        if in_stream {
            return format!("event: error\ndata: {}\n\n", json!({"type": "error", "error": error}));
        }
        json!({"type": "error", "error": error, "request_id": "req_1"}).to_string()
    }

    fn refuse_tool(&self, body: &Value, name: &str) -> Option<Refusal> {
        let tools = body.get("tools").and_then(Value::as_array)?;
        let i = tools.iter().position(|t| t.get("name").and_then(Value::as_str) == Some(name))?;
        let param = format!("tools.{i}.custom.input_schema");
        let message = format!("{param}: JSON schema is invalid. It must match JSON Schema draft 2020-12");
        Some(Refusal { status: 400, message, param: Some(param), code: None })
    }
}

fn kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

fn offered(tool: &Value, loaded: &HashSet<String>) -> Offered {
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    let deferred = tool.get("defer_loading").and_then(Value::as_bool).unwrap_or(false);
    Offered {
        name: name.to_owned(),
        schema: tool.get("input_schema").cloned().unwrap_or_default(),
        ready: !deferred || loaded.contains(name),
    }
}

/// Tools that a result has loaded.
fn references(messages: &[Value]) -> HashSet<String> {
    let blocks = messages.iter().filter_map(|m| m.get("content")?.as_array()).flatten();
    let inner = blocks.filter_map(|b| b.get("content")?.as_array()).flatten();
    inner.filter_map(|b| Some(b.get("tool_name")?.as_str()?.to_owned())).collect()
}

/// The last result of the last message and its call.
fn answered(messages: &[Value], last: &Value) -> Option<Called> {
    let result = blocks(last).iter().rev().find(|b| b.get("type").is_some_and(|t| t == "tool_result"))?;
    let id = result.get("tool_use_id")?;
    let call = messages.iter().rev().flat_map(blocks).find(|b| b.get("id") == Some(id))?;
    Some(Called {
        name: call.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        arguments: call.get("input").cloned().unwrap_or_default(),
        result: texts(result.get("content").unwrap_or(&Value::Null)),
    })
}

fn blocks(message: &Value) -> &[Value] {
    message.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// What a message says by itself, without results.
fn own_text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(list)) => list.iter().filter_map(|b| b.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

/// All text of a content, that of results too.
fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(list) => list
            .iter()
            .map(|block| match block.get("text").and_then(Value::as_str) {
                Some(text) => text.to_owned(),
                None => texts(block.get("content").unwrap_or(&Value::Null)),
            })
            .collect(),
        _ => String::new(),
    }
}
