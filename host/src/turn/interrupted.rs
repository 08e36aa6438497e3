//! What becomes of a turn that a crash broke off, judged by what it left: its part of the history and its events.
//! Tools are known by what was recorded of them, so it does not matter whether they still exist.

use crate::journal::Record;
use crate::model::{ModelMessage, Usage};
use crate::session::{HistoryEntry, Paired};
use chrono::{DateTime, Utc};
use plugin_sdk::{ToolError, ToolResult};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a turn left.
#[derive(Debug, Clone, Copy)]
pub struct Remains<'a> {
    /// Its entries, in order.
    pub history: &'a [HistoryEntry],
    /// Its events, in order.
    pub journal: &'a [Record],
    /// A card or question was open.
    pub asked: bool,
}

/// What is found of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Broken {
    /// A card or question was open: nobody is asked again without saying so.
    pub asked: bool,
    /// Qualified names of the tools that began something which is more than reading, in order, once each.
    pub effects: Vec<String>,
    /// Of them those of which nobody knows what they did.
    pub unknown: Vec<String>,
    /// One result for each call that has none.
    pub entries: Vec<HistoryEntry>,
    /// What its model steps used.
    pub usage: Usage,
}

/// A call as the journal knows it.
#[derive(Debug, Default)]
struct Begun {
    tool: String,
    read_only: bool,
    /// What its body did, once it ended.
    body: Option<String>,
}

impl Begun {
    /// Whether it may have changed something.
    fn acted(&self) -> bool {
        !self.read_only && self.body.as_deref() != Some("none")
    }
}

impl Broken {
    /// Judges.
    pub fn of(remains: Remains<'_>, now: DateTime<Utc>) -> Self {
        let begun = begun(remains.journal);
        let mut broken = Self { asked: remains.asked, usage: used(remains.journal), ..Self::default() };
        let answered: Vec<String> = remains.history.iter().filter_map(Paired::answers).collect();
        for (id, call) in begun.iter().filter(|(_, call)| call.acted()) {
            note(&mut broken.effects, &call.tool);
            // The calls inside a call have no entry of their own: the journal knows whether they ended.
            let known = answered.contains(id) || (call.body.as_deref().is_some_and(|b| b != "unknown"));
            if !known {
                note(&mut broken.unknown, &call.tool);
            }
        }
        for entry in remains.history {
            let open = entry.calls().into_iter().filter(|(id, _)| !answered.contains(id));
            broken.entries.extend(open.map(|(id, name)| result_of(entry, &id, &name, begun.get(&id), now)));
        }
        broken
    }

    /// Only model steps and calls that read: it may run again from its message.
    pub fn is_harmless(&self) -> bool {
        !self.asked && self.effects.is_empty()
    }
}

fn note(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|n| n == name) {
        names.push(name.to_owned());
    }
}

fn begun(journal: &[Record]) -> BTreeMap<String, Begun> {
    let mut calls: BTreeMap<String, Begun> = BTreeMap::new();
    for record in journal {
        let text = |key: &str| record.data.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match record.kind.as_str() {
            "tool.started" => {
                let read_only = record.data.get("read_only").and_then(Value::as_bool).unwrap_or(false);
                calls.insert(text("call_id"), Begun { tool: text("tool"), read_only, body: None });
            }
            "tool.finished" => {
                if let Some(call) = calls.get_mut(&text("call_id")) {
                    call.body = Some(text("body"));
                }
            }
            _ => {}
        }
    }
    calls
}

fn used(journal: &[Record]) -> Usage {
    let steps = journal.iter().filter(|record| record.kind == "turn.step");
    let mut sum = Usage::default();
    for step in steps.filter_map(|r| serde_json::from_value::<Usage>(r.data.get("usage")?.clone()).ok()) {
        sum.add(&step);
    }
    sum
}

fn result_of(
    asked_in: &HistoryEntry,
    call_id: &str,
    name: &str,
    begun: Option<&Begun>,
    now: DateTime<Utc>,
) -> HistoryEntry {
    let error = match begun.filter(|call| call.acted()).map(|call| call.body.as_deref()) {
        Some(Some(body @ ("success" | "error"))) => ToolError::new(
            "OUTCOME_UNKNOWN",
            format!("this ran and ended ({body}), but its result was lost in a restart; do not repeat it"),
        ),
        Some(_) => ToolError::new(
            "OUTCOME_UNKNOWN",
            "the bot was restarted while this ran; it may or may not have had its effect, do not repeat it",
        ),
        None => ToolError::new("CANCELLED", "the bot was restarted before this had a result; it had no effect"),
    };
    let code = error.code.clone();
    let message = ModelMessage::Tool {
        references: Vec::new(),
        call_id: call_id.to_owned(),
        tool: begun.map_or_else(|| name.to_owned(), |call| call.tool.clone()),
        content: ToolResult::error(error).model_blocks(),
        is_error: true,
        data: json!({}),
    };
    // data and text only: nothing in it that JSON lacks
    let value = serde_json::to_value(&message).unwrap_or(Value::Null);
    let mut entry = HistoryEntry::new(asked_in.turn_id.clone(), now, asked_in.principal.clone(), value);
    entry.meta = asked_in.meta.clone();
    if !entry.meta.is_object() {
        entry.meta = json!({});
    }
    entry.meta["code"] = code.into();
    entry
}
