//! The session's history as the present person may see it.

use super::window::{Line, PastTurn};
use super::words::spoken;
use crate::catalog::{Sight, unseen};
use crate::model::ModelMessage;
use plugin_sdk::{ContentBlock, Principal, Scope};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// One entry of the history, as the turn that wrote it kept it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Past {
    /// Position in the session.
    pub(super) n: u64,
    pub(super) turn_id: String,
    /// Whose turn it was.
    pub(super) author: Principal,
    /// Qualified name, for results.
    pub(super) tool: Option<String>,
    /// Code of a failed call.
    pub(super) code: Option<String>,
    pub(super) message: ModelMessage,
    /// The turn this one answered again.
    pub(super) retry_of: Option<String>,
}

/// Who looks at the history, and what this person may see.
pub(super) struct Viewer<'a> {
    pub(super) sight: Sight<'a>,
    pub(super) present: &'a Principal,
    pub(super) scope: Scope,
    /// The turn that is answered again: its answer leaves the view, its calls and results stay.
    pub(super) retry_of: Option<&'a str>,
    /// Last position a summary stands for; 0 = there is none.
    pub(super) upto: u64,
}

impl Viewer<'_> {
    /// Earlier turns in order, words headed and marked, results of tools this person has not taken out. What a
    /// summary stands for is not there.
    pub(super) fn view(&self, past: Vec<Past>) -> Vec<PastTurn> {
        let again: HashSet<String> =
            past.iter().filter_map(|p| p.retry_of.clone()).chain(self.retry_of.map(str::to_string)).collect();
        let mut out: Vec<PastTurn> = Vec::new();
        for entry in past {
            let replaced = again.contains(&entry.turn_id) && is_answer(&entry.message);
            if replaced || entry.n <= self.upto {
                continue;
            }
            let turn_id = entry.turn_id.clone();
            let line = Line::new(entry.n, self.shown(entry));
            match out.last_mut() {
                Some(turn) if turn.turn_id == turn_id => turn.lines.push(line),
                _ => out.push(PastTurn { turn_id, lines: vec![line] }),
            }
        }
        out
    }

    fn shown(&self, entry: Past) -> ModelMessage {
        let author = entry.author.id();
        match entry.message {
            ModelMessage::User { text, images } => {
                ModelMessage::User { text: spoken(&text, &entry.author, self.present, self.scope), images }
            }
            ModelMessage::Tool { call_id, tool, is_error, data, .. }
                if !self.sight.sees(entry.tool.as_deref().unwrap_or(&tool), &data, &author) =>
            {
                let content = vec![ContentBlock::text(unseen(&tool))];
                ModelMessage::Tool { call_id, tool, content, is_error, data: Value::Null, references: Vec::new() }
            }
            other => other,
        }
    }
}

/// Names of tools that answered once, as the model wrote them and qualified: a call of one that is gone is not
/// a call of an unknown one. A name that was never found is none.
pub(super) fn mentioned(past: &[Past]) -> HashSet<String> {
    let mut names = HashSet::new();
    let mut written: HashMap<&str, &str> = HashMap::new();
    for entry in past {
        match &entry.message {
            ModelMessage::Assistant { calls, .. } => {
                written.extend(calls.iter().map(|c| (c.id.as_str(), c.name.as_str())));
            }
            ModelMessage::Tool { call_id, tool, data, .. } => {
                let wire = written.get(call_id.as_str()).copied().unwrap_or(tool);
                // a call of an unknown name has no other name than the one it was written with
                if entry.code.as_deref() != Some("NOT_FOUND") || wire != tool {
                    names.extend([wire.to_string(), tool.clone()]);
                }
                // a name that was loaded was found
                let loaded = data.get("loaded").filter(|_| tool == "load_tool");
                names.extend(loaded.and_then(Value::as_str).map(str::to_owned));
            }
            ModelMessage::User { .. } => {}
        }
    }
    names
}

fn is_answer(message: &ModelMessage) -> bool {
    matches!(message, ModelMessage::Assistant { calls, .. } if calls.is_empty())
}

/// Whether the session has an answer already.
pub(super) fn has_answer(past: &[Past]) -> bool {
    past.iter().any(|p| is_answer(&p.message))
}
