//! The blocks of a message.

use super::{Check, at, join, named, only};
use fake_model::Refusal;
use serde_json::{Map, Value};
use std::collections::HashSet;

const MAX_ID: usize = 128;
const MAX_NAME: usize = 128;
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Whether a text says anything.
pub(super) fn says(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str).is_some_and(|t| !t.trim().is_empty())
}

/// The blocks of a message; a plain text has none.
pub(super) fn parts<'a>(i: usize, message: &'a Value, role: &str, last: bool) -> Result<Vec<&'a Value>, Refusal> {
    let path = format!("messages.{i}.content");
    let parts = match message.get("content") {
        Some(Value::String(text)) if text.trim().is_empty() => return Err(at(path, "must be non-empty")),
        Some(Value::String(text)) => {
            trailing(role, last, text)?;
            Vec::new()
        }
        Some(Value::Array(list)) if list.is_empty() => return Err(at(path, "must be non-empty")),
        Some(Value::Array(list)) => list.iter().collect(),
        Some(_) => return Err(at(path, "Input should be a valid string or list")),
        None => return Err(at(path, "Field required")),
    };
    let text = parts.last().and_then(|p| p.get("text")).and_then(Value::as_str);
    trailing(role, last, text.unwrap_or_default())?;
    Ok(parts)
}

fn trailing(role: &str, last: bool, text: &str) -> Check {
    if role == "assistant" && last && text.ends_with(char::is_whitespace) {
        return Err(at("messages", "final assistant content cannot end with trailing whitespace"));
    }
    Ok(())
}

/// Checks a block.
pub(super) fn check(path: &str, part: &Value, role: &str, offered: Option<&HashSet<String>>) -> Check {
    let Some(map) = part.as_object() else { return Err(at(path, "Input should be an object")) };
    let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
    match (kind, role) {
        ("text", _) => text(path, map),
        ("image", "user") => image(path, map),
        ("document", "user") => only(path, map, &["type", "source", "title", "context", "citations", "cache_control"]),
        ("tool_result", "user") => result(path, map, offered),
        ("tool_use", "assistant") => call(path, map),
        ("thinking", "assistant") => {
            only(path, map, &["type", "thinking", "signature"])?;
            let whole = map.get("thinking").is_some_and(Value::is_string) && says(map.get("signature"));
            whole.then_some(()).ok_or_else(|| at(join(path, "thinking.signature"), "Field required"))
        }
        ("redacted_thinking", "assistant") => {
            only(path, map, &["type", "data"])?;
            says(map.get("data"))
                .then_some(())
                .ok_or_else(|| at(join(path, "redacted_thinking.data"), "Field required"))
        }
        _ => Err(at(path, format!("`{kind}` blocks are not allowed in a message of \"{role}\""))),
    }
}

fn text(path: &str, map: &Map<String, Value>) -> Check {
    only(path, map, &["type", "text", "cache_control", "citations"])?;
    let what = "text content blocks must be non-empty and hold more than whitespace";
    says(map.get("text")).then_some(()).ok_or_else(|| at(path, what))
}

fn image(path: &str, map: &Map<String, Value>) -> Check {
    only(path, map, &["type", "source", "cache_control"])?;
    let source = map.get("source").unwrap_or(&Value::Null);
    let get = |key: &str| source.get(key).and_then(Value::as_str).unwrap_or_default();
    let good = match get("type") {
        "base64" => IMAGES.contains(&get("media_type")) && base64(get("data")),
        "url" => get("url").starts_with("https://"),
        _ => false,
    };
    good.then_some(()).ok_or_else(|| at(join(path, "image.source"), "Could not process image"))
}

fn base64(data: &str) -> bool {
    let body = data.trim_end_matches('=');
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    !body.is_empty() && data.len().is_multiple_of(4) && data.len() - body.len() <= 2 && body.bytes().all(allowed)
}

fn call(path: &str, map: &Map<String, Value>) -> Check {
    only(path, map, &["type", "id", "name", "input", "cache_control"])?;
    let get = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
    if !named(get("id"), MAX_ID) {
        return Err(at(join(path, "tool_use.id"), "String should match pattern '^[a-zA-Z0-9_-]+$'"));
    }
    if !named(get("name"), MAX_NAME) {
        return Err(at(join(path, "tool_use.name"), "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"));
    }
    let object = map.get("input").is_some_and(Value::is_object);
    object.then_some(()).ok_or_else(|| at(join(path, "tool_use.input"), "Input should be a valid dictionary"))
}

fn result(path: &str, map: &Map<String, Value>, offered: Option<&HashSet<String>>) -> Check {
    only(path, map, &["type", "tool_use_id", "content", "is_error", "cache_control"])?;
    if map.get("is_error").is_some_and(|e| !e.is_boolean()) {
        return Err(at(join(path, "is_error"), "Input should be a valid boolean"));
    }
    let parts = match map.get("content") {
        None | Some(Value::String(_)) => return Ok(()),
        Some(Value::Array(parts)) => parts,
        Some(_) => return Err(at(join(path, "content"), "Input should be a valid string or list")),
    };
    for (n, part) in parts.iter().enumerate() {
        let path = format!("{path}.content.{n}");
        let Some(map) = part.as_object() else { return Err(at(path, "Input should be an object")) };
        match map.get("type").and_then(Value::as_str).unwrap_or_default() {
            "text" => text(&path, map)?,
            "image" => image(&path, map)?,
            "tool_reference" => reference(&path, map, offered)?,
            kind => return Err(at(path, format!("`{kind}` blocks are not allowed in a `tool_result`"))),
        }
    }
    Ok(())
}

fn reference(path: &str, map: &Map<String, Value>, offered: Option<&HashSet<String>>) -> Check {
    let Some(offered) = offered else {
        return Err(at(path, "Input tag 'tool_reference' does not match any of the expected tags"));
    };
    only(path, map, &["type", "tool_name", "cache_control"])?;
    let name = map.get("tool_name").and_then(Value::as_str).unwrap_or_default();
    let known = offered.contains(name);
    known.then_some(()).ok_or_else(|| at(path, format!("Tool reference '{name}' not found in available tools")))
}
