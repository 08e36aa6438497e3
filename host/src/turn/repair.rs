//! Makes any prefix of a transcript sendable: each call has its result, each result its call.

use crate::model::{ModelCall, ModelMessage};
use plugin_sdk::ContentBlock;
use serde_json::Value;

/// What stands for the result of a call that has none.
pub const INTERRUPTED: &str = "interrupted";

/// The repaired conversation and how many places were repaired. Complete pairs are never touched.
pub fn repair(messages: Vec<ModelMessage>) -> (Vec<ModelMessage>, usize) {
    let mut out = Vec::with_capacity(messages.len());
    let mut open: Vec<ModelCall> = Vec::new();
    let mut repairs = 0;
    for message in messages {
        match message {
            ModelMessage::Tool { ref call_id, .. } => match open.iter().position(|c| c.id == *call_id) {
                Some(at) => {
                    open.remove(at);
                    out.push(message);
                }
                None => repairs += 1,
            },
            other => {
                repairs += close(&mut out, &mut open);
                match keep(other, &mut open) {
                    Some(kept) => out.push(kept),
                    None => repairs += 1,
                }
            }
        }
    }
    repairs += close(&mut out, &mut open);
    (out, repairs)
}

/// Blank messages go; the calls of an assistant message are open from here.
fn keep(message: ModelMessage, open: &mut Vec<ModelCall>) -> Option<ModelMessage> {
    match &message {
        ModelMessage::User { text } => (!text.trim().is_empty()).then_some(message),
        ModelMessage::Assistant { text, calls } => {
            open.clone_from(calls);
            (!text.trim().is_empty() || !calls.is_empty()).then_some(message)
        }
        ModelMessage::Tool { .. } => Some(message),
    }
}

fn close(out: &mut Vec<ModelMessage>, open: &mut Vec<ModelCall>) -> usize {
    let n = open.len();
    for call in open.drain(..) {
        out.push(ModelMessage::Tool {
            call_id: call.id,
            tool: call.name,
            content: vec![ContentBlock::text(INTERRUPTED)],
            is_error: true,
            data: Value::Null,
        });
    }
    n
}
