//! What the server has sent and what must come back unchanged.

use fake_model::Refusal;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The signed reasoning of all answers.
#[derive(Default)]
pub(crate) struct Sent {
    /// Texts by signature, and encrypted blocks.
    blocks: HashSet<(String, String)>,
    /// The reasoning before a call, by the call's id.
    before: HashMap<String, Vec<Value>>,
}

impl Sent {
    /// Remembers an answer's content.
    pub(crate) fn remember(&mut self, content: &[Value]) {
        let thought: Vec<Value> = content.iter().filter(|b| is_thinking(b)).cloned().collect();
        if thought.is_empty() {
            return;
        }
        self.blocks.extend(thought.iter().map(key));
        for id in content.iter().filter_map(call_id) {
            self.before.insert(id.to_owned(), thought.clone());
        }
    }

    /// Reasoning in a request is what was sent, and the calls being answered still have theirs.
    pub(crate) fn check(&self, body: &Value) -> Result<(), Refusal> {
        let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (i, message) in messages.iter().enumerate() {
            for (n, block) in blocks(message).iter().enumerate().filter(|(_, b)| is_thinking(b)) {
                if !self.blocks.contains(&key(block)) {
                    return Err(at(format!("messages.{i}.content.{n}"), "Invalid `signature` in `thinking` block"));
                }
            }
        }
        let newest = messages.iter().enumerate().rev().find(|(_, m)| m.get("role").is_some_and(|r| r == "assistant"));
        newest.map_or(Ok(()), |(i, message)| self.kept(i, blocks(message)))
    }

    fn kept(&self, i: usize, content: &[Value]) -> Result<(), Refusal> {
        let Some(sent) = content.iter().filter_map(call_id).find_map(|id| self.before.get(id)) else { return Ok(()) };
        let there: Vec<&Value> = content.iter().filter(|b| is_thinking(b)).collect();
        if there.iter().copied().eq(sent.iter()) {
            return Ok(());
        }
        let message = "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These \
            blocks must remain as they were in the original response";
        Err(at(format!("messages.{i}.content"), message))
    }
}

fn at(path: String, message: &str) -> Refusal {
    Refusal { status: 400, message: format!("{path}: {message}"), param: Some(path), code: None }
}

fn blocks(message: &Value) -> &[Value] {
    message.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn is_thinking(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str).is_some_and(|t| matches!(t, "thinking" | "redacted_thinking"))
}

fn call_id(block: &Value) -> Option<&str> {
    block.get("type").filter(|t| *t == "tool_use")?;
    block.get("id")?.as_str()
}

fn key(block: &Value) -> (String, String) {
    let get = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    if block.get("type").is_some_and(|t| t == "thinking") {
        (get("signature"), get("thinking"))
    } else {
        ("data".into(), get("data"))
    }
}
