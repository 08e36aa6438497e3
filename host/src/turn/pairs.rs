//! A model's message as the session's repair sees it.

use crate::model::ModelMessage;
use crate::session::Paired;
use plugin_sdk::ContentBlock;
use serde_json::Value;

/// What stands for the result of a call that has none.
const INTERRUPTED: &str = "interrupted";

impl Paired for ModelMessage {
    fn calls(&self) -> Vec<(String, String)> {
        match self {
            ModelMessage::Assistant { calls, .. } => calls.iter().map(|c| (c.id.clone(), c.name.clone())).collect(),
            ModelMessage::User { .. } | ModelMessage::Tool { .. } => Vec::new(),
        }
    }

    fn answers(&self) -> Option<String> {
        match self {
            ModelMessage::Tool { call_id, .. } => Some(call_id.clone()),
            ModelMessage::User { .. } | ModelMessage::Assistant { .. } => None,
        }
    }

    fn is_assistant(&self) -> bool {
        matches!(self, ModelMessage::Assistant { .. })
    }

    fn tidy(&mut self) -> bool {
        match self {
            ModelMessage::User { text, images } => !text.trim().is_empty() || !images.is_empty(),
            ModelMessage::Assistant { text, calls, .. } => !text.trim().is_empty() || !calls.is_empty(),
            ModelMessage::Tool { content, .. } => {
                content.retain(|b| !matches!(b, ContentBlock::Text { text } if text.trim().is_empty()));
                true
            }
        }
    }

    fn interrupted(&self, call_id: &str, name: &str) -> Self {
        ModelMessage::Tool {
            call_id: call_id.to_string(),
            tool: name.to_string(),
            content: vec![ContentBlock::text(INTERRUPTED)],
            is_error: true,
            data: Value::Null,
            references: Vec::new(),
        }
    }
}
