//! What this turn has done so far: its calls with their results.

use crate::model::{ModelMessage, ModelRequest, ToolChoice};
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

/// The calls since the person's newest message. In the last step a note of the host stands behind everything.
pub(super) fn done(request: &ModelRequest) -> Vec<Done> {
    let is_user = |m: &ModelMessage| matches!(m, ModelMessage::User { .. });
    let mut turn = request.messages.as_slice();
    if let ([before @ .., ModelMessage::User { .. }], ToolChoice::None) = (turn, request.tool_choice)
        && before.iter().any(is_user)
    {
        turn = before;
    }
    let start = turn.iter().rposition(is_user).map_or(0, |i| i + 1);
    let turn = turn.get(start..).unwrap_or_default();
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
