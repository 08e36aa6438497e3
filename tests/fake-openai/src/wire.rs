//! The format of chat completions.

use crate::check::check;
use crate::reply::reply;
use axum::http::{HeaderMap, header};
use fake_model::{Asked, Called, Offered, Refusal, Reply, Seen, Turn, Wire};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The format. It remembers the signatures of the calls it has sent.
#[derive(Default)]
pub struct ChatCompletions {
    signed: HashMap<String, Map<String, Value>>,
}

impl Wire for ChatCompletions {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn key(&self, headers: &HeaderMap) -> Option<String> {
        let sent = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        Some(sent.strip_prefix("Bearer ").unwrap_or(sent).to_owned())
    }

    fn check(&self, asked: &Asked<'_>) -> Result<(), Refusal> {
        check(asked.body, asked.models)?;
        self.signatures(asked.body)
    }

    fn unplayable(&self, turn: &Turn) -> Option<&'static str> {
        let signed = turn.thinking.as_ref().is_some_and(|t| t.signature.is_some() || t.redacted.is_some());
        signed.then_some("this format has no signed reasoning; a call's `extra` holds its signature")
    }

    fn seen(&self, body: &Value) -> Seen {
        let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let user = messages.iter().rev().find(|m| role(m) == "user");
        let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
        Seen {
            said: user.map(text_of).unwrap_or_default(),
            last: messages.last().map(text_of).unwrap_or_default(),
            answered: messages.last().filter(|m| role(m) == "tool").map(|result| called(messages, result)),
            tools: tools.filter_map(|t| t.get("function")).map(offered).collect(),
        }
    }

    fn reply(&mut self, turn: &Turn, body: &Value, number: usize) -> Reply {
        for (i, call) in turn.sent_calls().iter().enumerate().filter(|(_, c)| !c.extra.is_empty()) {
            self.signed.insert(crate::reply::id_of(call, number, i), call.extra.clone());
        }
        let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
        let want_usage = body.pointer("/stream_options/include_usage").and_then(Value::as_bool).unwrap_or(false);
        reply(turn, model, number, want_usage)
    }

    fn error(&self, refusal: &Refusal, in_stream: bool) -> String {
        let kind = match refusal.status {
            401 => "authentication_error",
            429 => "rate_limit_error",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        let (message, param, code) = (&refusal.message, &refusal.param, &refusal.code);
        if in_stream {
            return format!("data: {}\n\n", json!({"error": {"message": message, "type": kind, "code": 500}}));
        }
        json!({"error": {"message": message, "type": kind, "param": param, "code": code}}).to_string()
    }

    fn refuse_tool(&self, body: &Value, name: &str) -> Option<Refusal> {
        let tools = body.get("tools").and_then(Value::as_array)?;
        tools.iter().find(|t| t.pointer("/function/name").and_then(Value::as_str) == Some(name))?;
        let message = format!("Invalid schema for function '{name}': not supported");
        Some(Refusal { status: 400, message, param: None, code: Some("invalid_function_parameters".into()) })
    }
}

impl ChatCompletions {
    /// A call that was sent with further keys comes back with them, byte by byte.
    fn signatures(&self, body: &Value) -> Result<(), Refusal> {
        let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
        for call in messages.filter_map(|m| m.get("tool_calls")?.as_array()).flatten() {
            let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
            let Some(extra) = self.signed.get(id) else { continue };
            if let Some(key) = extra.iter().find(|(key, value)| call.get(key.as_str()) != Some(value)).map(|(k, _)| k) {
                let message = format!("the call '{id}' has lost its '{key}'");
                return Err(Refusal { status: 400, message, param: Some("messages".into()), code: None });
            }
        }
        Ok(())
    }
}

fn offered(function: &Value) -> Offered {
    let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
    Offered { name: name.to_owned(), schema: function.get("parameters").cloned().unwrap_or_default(), ready: true }
}

/// The newest call with the last result.
fn called(messages: &[Value], result: &Value) -> Called {
    let call = messages.iter().rev().find_map(|m| m.get("tool_calls")?.as_array()?.last());
    let at = |pointer| call.and_then(|c| c.pointer(pointer)).and_then(Value::as_str).unwrap_or_default();
    Called {
        name: at("/function/name").to_owned(),
        arguments: serde_json::from_str(at("/function/arguments")).unwrap_or_default(),
        result: text_of(result),
    }
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

fn text_of(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|p| p.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}
