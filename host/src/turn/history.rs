//! The session's history as the present person may see it.

use super::window::PastTurn;
use super::words::spoken;
use crate::catalog::Admitted;
use crate::index::Indexes;
use crate::model::ModelMessage;
use plugin_sdk::{ContentBlock, Principal, Scope};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// One entry of the history, as the turn that wrote it kept it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Past {
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
    pub(super) indexes: &'a Indexes,
    pub(super) admitted: &'a Admitted,
    pub(super) present: &'a Principal,
    pub(super) scope: Scope,
    /// The turn that is answered again: its answer leaves the view, its calls and results stay.
    pub(super) retry_of: Option<&'a str>,
}

impl Viewer<'_> {
    /// Earlier turns in order, words headed and marked, results of tools this person has not taken out.
    pub(super) fn view(&self, past: Vec<Past>) -> Vec<PastTurn> {
        let again: HashSet<String> =
            past.iter().filter_map(|p| p.retry_of.clone()).chain(self.retry_of.map(str::to_string)).collect();
        let mut out: Vec<PastTurn> = Vec::new();
        for entry in past {
            if again.contains(&entry.turn_id) && is_answer(&entry.message) {
                continue;
            }
            let turn_id = entry.turn_id.clone();
            let message = self.shown(entry);
            match out.last_mut() {
                Some(turn) if turn.turn_id == turn_id => turn.messages.push(message),
                _ => out.push(PastTurn { turn_id, messages: vec![message] }),
            }
        }
        out
    }

    fn shown(&self, entry: Past) -> ModelMessage {
        match entry.message {
            ModelMessage::User { text } => {
                ModelMessage::User { text: spoken(&text, &entry.author, self.present, self.scope) }
            }
            ModelMessage::Tool { call_id, tool, is_error, data, .. }
                if !self.may_see(entry.tool.as_deref().unwrap_or(&tool), &data, &entry.author) =>
            {
                let text = format!("[result of {tool}: not available to this person]");
                ModelMessage::Tool {
                    call_id,
                    tool,
                    content: vec![ContentBlock::text(text)],
                    is_error,
                    data: Value::Null,
                }
            }
            other => other,
        }
    }

    /// A tool of this generation: by admission. One that is gone: only who asked for it.
    fn may_see(&self, tool: &str, data: &Value, author: &Principal) -> bool {
        match self.indexes.tools.get(tool) {
            Some(known) => self.admitted.tool(known.id) && self.may_read_skill(data),
            None => author.id() == self.present.id(),
        }
    }

    /// The text of a skill is its result: it is the skill's admission that counts.
    fn may_read_skill(&self, data: &Value) -> bool {
        let Some(name) = data.get("skill").and_then(Value::as_str) else { return true };
        match self.indexes.skills.iter().position(|s| *s.qualified == *name) {
            Some(position) => self.admitted.skill(position),
            None => true,
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
