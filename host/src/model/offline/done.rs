//! What this turn has done so far: its calls with their results.

use crate::model::{ModelMessage, ModelRequest};
use plugin_sdk::ContentBlock;
use serde_json::Value;

/// One call with its result.
#[derive(Debug, Clone)]
pub(super) struct Done {
    pub(super) name: String,
    pub(super) arguments: Value,
    pub(super) text: String,
    pub(super) is_error: bool,
    pub(super) data: Value,
}

impl Done {
    /// A string of the result's data.
    pub(super) fn says(&self, key: &str) -> Option<&str> {
        self.data.get(key).and_then(Value::as_str)
    }

    /// A list of the result's data.
    pub(super) fn list(&self, key: &str) -> &[Value] {
        self.data.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// A string of the call's arguments.
    pub(super) fn asked(&self, key: &str) -> Option<&str> {
        self.arguments.get(key).and_then(Value::as_str)
    }
}

/// The calls since the person's newest message. Notes of the host may stand after that message as further user
/// messages, so the one that holds the person's own words is looked for first.
pub(super) fn done(request: &ModelRequest) -> Vec<Done> {
    let holds = |m: &ModelMessage| matches!(m, ModelMessage::User { text } if text.contains(&request.user_text));
    let is_user = |m: &ModelMessage| matches!(m, ModelMessage::User { .. });
    let start = request.messages.iter().rposition(holds).or_else(|| request.messages.iter().rposition(is_user));
    let turn = request.messages.get(start.map_or(0, |i| i + 1)..).unwrap_or_default();
    let mut out = Vec::new();
    for message in turn {
        let ModelMessage::Tool { call_id, content, is_error, data, .. } = message else { continue };
        let calls = turn.iter().filter_map(|m| match m {
            ModelMessage::Assistant { calls, .. } => Some(calls),
            _ => None,
        });
        let Some(call) = calls.flatten().find(|c| c.id == *call_id) else { continue };
        out.push(Done {
            name: call.name.clone(),
            arguments: serde_json::from_str(&call.arguments).unwrap_or_default(),
            text: text_of(content),
            is_error: *is_error,
            data: data.clone(),
        });
    }
    out
}

fn text_of(content: &[ContentBlock]) -> String {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text { text } => Some(text.as_str()),
            ContentBlock::Image { .. } => None,
        })
        .collect();
    texts.join("\n")
}
