//! The conversation: roles in turn, each call answered in the very next message.

use super::{Check, at, content, only};
use fake_model::Refusal;
use serde_json::Value;
use std::collections::HashSet;

/// Checks the conversation; `offered` are the tools a reference may name, `None` without the beta.
pub(super) fn check(list: Option<&Value>, offered: Option<&HashSet<String>>) -> Check {
    let Some(list) = list else { return Err(at("messages", "Field required")) };
    let Some(list) = list.as_array().filter(|l| !l.is_empty()) else {
        return Err(at("messages", "at least one message is required"));
    };
    let mut open: Vec<String> = Vec::new();
    let mut ids = HashSet::new();
    let mut before = "";
    for (i, message) in list.iter().enumerate() {
        let role = role(i, message, before)?;
        let last = i + 1 == list.len();
        let parts = content::parts(i, message, role, last)?;
        for (n, part) in parts.iter().enumerate() {
            content::check(&format!("messages.{i}.content.{n}"), part, role, offered)?;
        }
        answers(i, &parts, &open)?;
        open = calls(&parts, &mut ids)?;
        if last && !open.is_empty() {
            return Err(unanswered(i, &open));
        }
        before = role;
    }
    Ok(())
}

fn role<'a>(i: usize, message: &'a Value, before: &str) -> Result<&'a str, Refusal> {
    let Some(map) = message.as_object() else { return Err(at(format!("messages.{i}"), "Input should be an object")) };
    only(&format!("messages.{i}"), map, &["role", "content"])?;
    let role = map.get("role").and_then(Value::as_str).unwrap_or_default();
    if role == "system" {
        let message = "Unexpected role \"system\". The system prompt is the top-level `system` parameter";
        return Err(at("messages", message));
    }
    if role != "user" && role != "assistant" {
        return Err(at(format!("messages.{i}.role"), "Input should be 'user' or 'assistant'"));
    }
    if before.is_empty() && role != "user" {
        return Err(at("messages", "first message must use the \"user\" role"));
    }
    if role == before {
        let message =
            format!("roles must alternate between \"user\" and \"assistant\", but found two \"{role}\" in a row");
        return Err(at(format!("messages.{i}"), message));
    }
    Ok(role)
}

/// Results answer the calls of the message before, all of them, each once, and stand first.
fn answers(i: usize, parts: &[&Value], open: &[String]) -> Check {
    let path = format!("messages.{i}");
    let mut answered: Vec<&str> = Vec::new();
    let mut other = false;
    for (n, part) in parts.iter().enumerate() {
        if part.get("type").and_then(Value::as_str) != Some("tool_result") {
            other = true;
            continue;
        }
        let id = part.get("tool_use_id").and_then(Value::as_str).unwrap_or_default();
        if !open.iter().any(|o| o == id) {
            let message = format!("unexpected `tool_use_id` found in `tool_result` blocks: {id}");
            return Err(at(format!("{path}.content.{n}"), message));
        }
        if answered.contains(&id) {
            let message =
                format!("each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}");
            return Err(at(format!("{path}.content.{n}"), message));
        }
        if other {
            return Err(at(format!("{path}.content.{n}"), "`tool_result` blocks must come first"));
        }
        answered.push(id);
    }
    let missing: Vec<String> = open.iter().filter(|o| !answered.contains(&o.as_str())).cloned().collect();
    if missing.is_empty() { Ok(()) } else { Err(unanswered(i.saturating_sub(1), &missing)) }
}

fn unanswered(i: usize, ids: &[String]) -> Refusal {
    let ids = ids.join(", ");
    at(
        format!("messages.{i}"),
        format!("`tool_use` ids were found without `tool_result` blocks immediately after: {ids}"),
    )
}

/// Ids of the calls of a message; an id is there once in the whole request.
fn calls(parts: &[&Value], ids: &mut HashSet<String>) -> Result<Vec<String>, Refusal> {
    let mut open = Vec::new();
    for part in parts.iter().filter(|p| p.get("type").is_some_and(|t| t == "tool_use")) {
        let id = part.get("id").and_then(Value::as_str).unwrap_or_default();
        if !ids.insert(id.to_owned()) {
            return Err(at("messages", "`tool_use` ids must be unique"));
        }
        open.push(id.to_owned());
    }
    Ok(open)
}
