//! A request as the chat completions format has it.

use super::cache::ToolCache;
use crate::config::ModelConfig;
use crate::model::{ModelCall, ModelMessage, ModelRequest, ModelTool, ToolChoice};
use plugin_sdk::ContentBlock;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

const MAX_NAME: usize = 64;
const MAX_ID: usize = 40;

/// The body. What stays the same from step to step stands first, so that a provider's cache can use it.
pub(super) fn body(
    config: &ModelConfig,
    own_service: bool,
    request: &ModelRequest,
    tools: &[&ModelTool],
    cache: &ToolCache,
) -> Value {
    let mut out = Map::new();
    out.insert("model".into(), json!(config.model));
    out.insert("stream".into(), json!(true));
    out.insert("stream_options".into(), json!({"include_usage": true}));
    // Compatible servers know the older name only.
    let limit = if own_service { "max_completion_tokens" } else { "max_tokens" };
    out.insert(limit.into(), json!(config.max_output_tokens));
    if let Some(temperature) = config.temperature {
        out.insert("temperature".into(), json!(temperature));
    }
    if !tools.is_empty() {
        let wire: Vec<Value> = tools.iter().map(|t| Value::clone(&cache.wire(t))).collect();
        out.insert("tools".into(), Value::Array(wire));
    }
    out.insert("messages".into(), Value::Array(messages(request)));
    if !tools.is_empty() && request.tool_choice == ToolChoice::None {
        out.insert("tool_choice".into(), json!("none"));
    }
    Value::Object(out)
}

fn messages(request: &ModelRequest) -> Vec<Value> {
    let mut out = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.trim().is_empty() {
        out.push(json!({"role": "system", "content": &*request.system}));
    }
    out.extend(request.messages.iter().filter_map(message));
    out
}

/// One message; blank ones are not sent.
fn message(message: &ModelMessage) -> Option<Value> {
    match message {
        ModelMessage::User { text, .. } if text.trim().is_empty() => None,
        ModelMessage::User { text, .. } => Some(json!({"role": "user", "content": text})),
        ModelMessage::Assistant { text, calls, .. } => {
            let content = if text.trim().is_empty() { Value::Null } else { json!(text) };
            if calls.is_empty() {
                return (!content.is_null()).then(|| json!({"role": "assistant", "content": content}));
            }
            let calls: Vec<Value> = calls.iter().map(call).collect();
            Some(json!({"role": "assistant", "content": content, "tool_calls": calls}))
        }
        ModelMessage::Tool { call_id, content, .. } => {
            Some(json!({"role": "tool", "tool_call_id": sendable_id(call_id), "content": result_text(content)}))
        }
    }
}

fn call(call: &ModelCall) -> Value {
    let function = json!({"name": sendable_name(&call.name), "arguments": sendable_arguments(&call.arguments)});
    json!({"id": sendable_id(&call.id), "type": "function", "function": function})
}

/// An id another provider gave may be too long for this one.
fn sendable_id(id: &str) -> String {
    if id.len() <= MAX_ID {
        return id.to_owned();
    }
    let digest = Sha256::digest(id.as_bytes());
    digest.iter().take(16).fold("call_".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// A name the model invented may be one the provider refuses in a history.
fn sendable_name(name: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = name.chars().take(MAX_NAME).map(clean).collect();
    if name.is_empty() { "unknown".into() } else { name }
}

/// Arguments that are no object stand as `{}`: some providers read them again.
fn sendable_arguments(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => text.to_owned(),
        Ok(Value::String(inner)) if matches!(serde_json::from_str(&inner), Ok(Value::Object(_))) => inner,
        _ => "{}".into(),
    }
}

fn result_text(content: &[ContentBlock]) -> String {
    let parts: Vec<String> = content
        .iter()
        .map(|block| match block {
            ContentBlock::Text { text } => text.clone(),
            ContentBlock::Image { image } => {
                let kind = image.mime.strip_prefix("image/").unwrap_or(&image.mime);
                format!("[image {kind}: this model cannot see images]")
            }
        })
        .filter(|text| !text.trim().is_empty())
        .collect();
    if parts.is_empty() { "(no output)".into() } else { parts.join("\n") }
}

/// The tools that fit, in their order, and the wire names of those that do not: of the loaded ones the oldest
/// leave first, then others from the end, the controller's own last.
pub(super) fn within_limit(tools: &[ModelTool], max: usize) -> (Vec<&ModelTool>, Vec<&ModelTool>) {
    let mut over = tools.len().saturating_sub(max);
    let mut out = vec![false; tools.len()];
    let mut drop = |order: &mut dyn Iterator<Item = usize>| {
        for i in order {
            let Some(gone) = out.get_mut(i).filter(|gone| over > 0 && !**gone) else { continue };
            *gone = true;
            over -= 1;
        }
    };
    let loaded = |i: &usize| tools.get(*i).is_some_and(|t| t.loaded);
    let plain = |i: &usize| tools.get(*i).is_some_and(|t| !t.meta);
    drop(&mut (0..tools.len()).filter(loaded));
    drop(&mut (0..tools.len()).rev().filter(plain));
    drop(&mut (0..tools.len()).rev());
    let (gone, kept): (Vec<_>, Vec<_>) = tools.iter().zip(out).partition(|(_, gone)| *gone);
    (kept.into_iter().map(|(t, _)| t).collect(), gone.into_iter().map(|(t, _)| t).collect())
}

/// The wire name a model meant: some put the name space of their own format before it.
pub(super) fn real_name(written: &str, tools: &[ModelTool]) -> String {
    let known = |name: &str| tools.iter().any(|t| &*t.wire == name);
    if known(written) {
        return written.to_owned();
    }
    let stripped = ["functions.", "default_api."].iter().find_map(|p| written.strip_prefix(p));
    stripped.filter(|rest| known(rest)).unwrap_or(written).to_owned()
}
