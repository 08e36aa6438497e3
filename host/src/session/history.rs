//! History entries. What a model sees of one is kept as JSON: this room knows no model.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Entries are numbered in steps of this, so that a repair finds room behind any of them.
pub(super) const STRIDE: u64 = 64;

/// One message of a session.
// SHAPE: 04 §13
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// Position; grows, with gaps. 0 until it is stored.
    pub n: u64,
    /// Turn it belongs to.
    pub turn_id: String,
    /// When.
    pub at: DateTime<Utc>,
    /// Who wrote it (a message) or asked for it (a result), text form of a principal.
    pub principal: Option<String>,
    /// Qualified name of the tool, for a result.
    pub tool: Option<String>,
    /// What a model sees: `{"role": "user", "text"}`, `{"role": "assistant", "text", "calls": [{"id", "name",
    /// "arguments"}]}` or `{"role": "tool", "call_id", "tool", "content", "is_error", "data"}`. A summary of older
    /// entries is `{"role": "summary", "text", "upto"}`: no model is sent it where it stands.
    pub message: Value,
    /// Further facts of whoever wrote it, e.g. that its turn failed.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub meta: Value,
}

impl HistoryEntry {
    /// An entry that is not stored yet.
    pub fn new(turn_id: impl Into<String>, at: DateTime<Utc>, principal: Option<String>, message: Value) -> Self {
        let tool = message.get("tool").and_then(Value::as_str).map(str::to_owned);
        Self { n: 0, turn_id: turn_id.into(), at, principal, tool, message, meta: Value::Null }
    }

    /// `user`, `assistant`, `tool`, `summary`; empty when it is none.
    pub fn role(&self) -> &str {
        self.message.get("role").and_then(Value::as_str).unwrap_or("")
    }
}

/// A message that may call tools, answer a call, or neither. Implemented for whatever holds a transcript.
pub trait Paired: Sized {
    /// Ids and names of the calls it makes, in order.
    fn calls(&self) -> Vec<(String, String)>;
    /// The call it answers.
    fn answers(&self) -> Option<String>;
    /// Whether the model wrote it.
    fn is_assistant(&self) -> bool;
    /// Removes blank text blocks; `false` when nothing is left of it.
    fn tidy(&mut self) -> bool;
    /// The result of a call that was made by `self` and never answered.
    fn interrupted(&self, call_id: &str, name: &str) -> Self;
}

impl Paired for Value {
    fn calls(&self) -> Vec<(String, String)> {
        let Some(calls) = self.get("calls").and_then(Value::as_array) else { return Vec::new() };
        let text = |call: &Value, key: &str| call.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        calls.iter().map(|call| (text(call, "id"), text(call, "name"))).collect()
    }

    fn answers(&self) -> Option<String> {
        if self.get("role")? != "tool" {
            return None;
        }
        Some(self.get("call_id").and_then(Value::as_str).unwrap_or("").to_owned())
    }

    fn is_assistant(&self) -> bool {
        self.get("role").is_some_and(|role| role == "assistant")
    }

    fn tidy(&mut self) -> bool {
        let blank = |text: Option<&Value>| text.and_then(Value::as_str).is_none_or(|t| t.trim().is_empty());
        match self.get("role").and_then(Value::as_str) {
            Some("user" | "summary") => {
                let images = self.get("images").and_then(Value::as_array);
                !blank(self.get("text")) || images.is_some_and(|i| !i.is_empty())
            }
            Some("assistant") => !blank(self.get("text")) || !self.calls().is_empty(),
            Some("tool") => {
                if let Some(blocks) = self.get_mut("content").and_then(Value::as_array_mut) {
                    blocks.retain(|b| b.get("type").is_none_or(|t| t != "text") || !blank(b.get("text")));
                }
                true
            }
            _ => false,
        }
    }

    fn interrupted(&self, call_id: &str, name: &str) -> Self {
        json!({
            "role": "tool",
            "call_id": call_id,
            "tool": name,
            "content": [{"type": "text", "text": "interrupted"}],
            "is_error": true,
            "data": null,
        })
    }
}

impl Paired for HistoryEntry {
    fn calls(&self) -> Vec<(String, String)> {
        self.message.calls()
    }

    fn answers(&self) -> Option<String> {
        self.message.answers()
    }

    fn is_assistant(&self) -> bool {
        self.message.is_assistant()
    }

    fn tidy(&mut self) -> bool {
        self.message.tidy()
    }

    fn interrupted(&self, call_id: &str, name: &str) -> Self {
        let message = self.message.interrupted(call_id, name);
        HistoryEntry { n: 0, message, tool: Some(name.to_owned()), meta: Value::Null, ..self.clone() }
    }
}
