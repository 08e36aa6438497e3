//! One event of a chat completions stream.

use crate::model::remote::Piece;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) usage: Option<Value>,
    pub(super) error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    pub(super) delta: Option<Delta>,
    /// In an answer that is not a stream.
    pub(super) message: Option<Delta>,
    pub(super) finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    pub(super) content: Option<Piece>,
    pub(super) refusal: Option<Piece>,
    pub(super) tool_calls: Option<Vec<Fragment>>,
    /// What the maker wants back with the message.
    pub(super) extra_content: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Fragment {
    pub(super) index: Option<u64>,
    pub(super) id: Option<String>,
    pub(super) function: Option<Function>,
    /// The signature some makers want back with the call.
    pub(super) extra_content: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Function {
    pub(super) name: Option<String>,
    pub(super) arguments: Option<Piece>,
}

/// Reads one event. Text is read as bytes first; a server that sends arguments as an object or content as a list
/// of parts is understood too.
pub(super) fn parse(data: &str) -> Option<Chunk> {
    if let Ok(chunk) = serde_json::from_slice(data.as_bytes()) {
        return Some(chunk);
    }
    let mut value: Value = serde_json::from_str(data).ok()?;
    for choice in value.get_mut("choices")?.as_array_mut()? {
        for key in ["delta", "message"] {
            if let Some(delta) = choice.get_mut(key) {
                flatten(delta);
            }
        }
    }
    serde_json::from_value(value).ok()
}

fn flatten(delta: &mut Value) {
    if let Some(Value::Array(parts)) = delta.get("content") {
        let text: String = parts.iter().filter_map(|p| p.get("text").and_then(Value::as_str)).collect();
        if let Some(map) = delta.as_object_mut() {
            map.insert("content".into(), Value::String(text));
        }
    }
    for call in delta.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(arguments @ Value::Object(_)) = call.pointer_mut("/function/arguments") {
            *arguments = Value::String(arguments.to_string());
        }
    }
}
