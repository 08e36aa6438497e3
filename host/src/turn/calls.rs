//! The calls of one step: ids, the executor, results in call order, what the turn learns from them.

use super::events::TurnEvent;
use super::keep::Kept;
use super::model_step::Answer;
use super::outcome::CallReport;
use super::run::{End, Run};
use super::{Budget, FailCode};
use crate::exec::CallRecord;
use crate::model::{ModelCall, ModelMessage, Opaque};
use plugin_sdk::{ToolError, ToolResult, ToolUse};
use serde_json::{Map, Value};
use std::collections::HashSet;
use tokio::sync::mpsc;

/// Repeats of a step whose calls were cut.
const TRUNCATED_REPEATS: u32 = 2;

/// Calls of a cut answer that the history keeps: none ran, and a model that wrote hundreds need not read them all again.
const KEPT_OF_CUT: usize = 20;
/// Longest words of what runs.
const LABEL_CHARS: usize = 200;

/// What became of the calls of a step.
struct Ran {
    /// Ids of the calls whose final result is an error.
    failed: HashSet<String>,
    /// Whether every result could be kept.
    stored: Result<(), End>,
}

impl Run<'_> {
    /// Calls that were cut by length: none runs, the model is told, the step is repeated.
    pub(super) async fn truncated(&mut self, answer: Answer) -> Result<(), End> {
        self.steps.truncations += 1;
        if self.steps.truncations > TRUNCATED_REPEATS {
            return Err(End::Failed(FailCode::ModelTruncated, true));
        }
        if answer.calls.is_empty() {
            return Ok(());
        }
        let written = answer.calls.len();
        let calls = self.with_ids(answer.calls.into_iter().take(KEPT_OF_CUT).collect());
        let more = written - calls.len();
        let also = if more > 0 { format!(" ({more} further calls of it are not shown)") } else { String::new() };
        let message = format!("the answer was cut by its length; nothing ran, make it shorter{also}");
        let error = ToolError::new("MODEL_TRUNCATED", message);
        self.said(&answer.text, &calls, answer.opaque).await?;
        for call in &calls {
            let report = self.unrun(call, &error);
            self.tally.calls.push(report);
            self.answered(call, ToolResult::error(error.clone())).await?;
        }
        Ok(())
    }

    /// Runs the calls of a step and keeps their results, in call order.
    pub(super) async fn run_calls(&mut self, answer: Answer) -> Result<(), End> {
        self.steps.truncations = 0;
        let calls = self.with_ids(answer.calls);
        self.said(&answer.text, &calls, answer.opaque).await?;
        for call in &calls {
            self.catalog.touch(&call.name);
        }
        self.cx.ports.events.show(TurnEvent::Progress(Some(label(&calls))));
        let ran = self.execute(&calls).await;
        self.cx.ports.events.show(TurnEvent::Progress(None));
        self.tally.calls.extend(self.hands.executor.take_records().into_iter().map(report_of));
        self.catalog.settle(&ran.failed);
        ran.stored?;
        self.after_calls()
    }

    /// Calls run under the turn's clock; when it runs out they are cancelled, and their ends are awaited. Each
    /// result is stored as it comes. A result that cannot be stored ends the turn, but not the calls under way.
    async fn execute(&mut self, calls: &[ModelCall]) -> Ran {
        let uses = calls.iter().map(|c| ToolUse::raw(c.id.clone(), c.name.clone(), c.arguments.clone())).collect();
        let (executor, call_cx) = (self.hands.executor.clone(), self.hands.call_cx.clone());
        let countdown = self.hands.countdown.clone();
        let (ended, mut results) = mpsc::unbounded_channel();
        // the receiver outlives every sender here, so no result is lost
        let running = executor.execute_each(uses, &call_cx, move |r| drop(ended.send(r.clone())));
        tokio::pin!(running);
        let mut waiting = calls.iter();
        let mut ran = Ran { failed: HashSet::new(), stored: Ok(()) };
        let mut late = false;
        loop {
            tokio::select! {
                biased;
                Some(result) = results.recv() => self.ran_one(waiting.next(), result, &mut ran).await,
                _ = &mut running => break,
                () = countdown.expired(), if !late => {
                    late = true;
                    self.hands.cancel.request();
                }
            }
        }
        while let Ok(result) = results.try_recv() {
            self.ran_one(waiting.next(), result, &mut ran).await;
        }
        ran
    }

    async fn ran_one(&mut self, call: Option<&ModelCall>, result: ToolResult, ran: &mut Ran) {
        let Some(call) = call else { return };
        if result.is_error {
            ran.failed.insert(call.id.clone());
        }
        let stored = self.answered(call, result).await;
        ran.stored = std::mem::replace(&mut ran.stored, Ok(())).and(stored);
    }

    /// Why the turn cannot go on after these results.
    fn after_calls(&self) -> Result<(), End> {
        if self.cx.ports.stop.signal().requested() {
            return Err(End::Cancelled);
        }
        if self.hands.countdown.left().is_zero() {
            return Err(End::Budget(Budget::Time, self.text_so_far(String::new())));
        }
        if self.hands.executor.loop_guard_tripped() {
            return Err(End::Failed(FailCode::LoopGuard, false));
        }
        Ok(())
    }

    /// Missing and repeated ids become `call_<step>_<n>`, so that each result has one call.
    fn with_ids(&mut self, calls: Vec<ModelCall>) -> Vec<ModelCall> {
        let mut out = Vec::with_capacity(calls.len());
        for (n, mut call) in calls.into_iter().enumerate() {
            if call.id.trim().is_empty() || self.steps.used_ids.contains(&call.id) {
                call.id = self.fresh_id(n);
            }
            self.steps.used_ids.insert(call.id.clone());
            out.push(call);
        }
        out
    }

    fn fresh_id(&self, n: usize) -> String {
        let mut id = format!("call_{}_{n}", self.steps.step);
        while self.steps.used_ids.contains(&id) {
            id.push('x');
        }
        id
    }

    /// Keeps what the model said; arguments that are no object are kept as `{}`.
    async fn said(&mut self, text: &str, calls: &[ModelCall], opaque: Vec<Opaque>) -> Result<(), End> {
        let calls = calls.iter().map(|c| ModelCall { arguments: sound(&c.arguments), ..c.clone() }).collect();
        self.keep(ModelMessage::Assistant { text: text.to_string(), calls, opaque }, Kept::default()).await
    }

    /// Keeps the result of a call.
    async fn answered(&mut self, call: &ModelCall, result: ToolResult) -> Result<(), End> {
        let known = self.cx.with.indexes.tools.get(&call.name);
        let message = ModelMessage::Tool {
            call_id: call.id.clone(),
            tool: known.map_or_else(|| call.name.clone(), |t| t.qualified.to_string()),
            content: result.model_blocks(),
            is_error: result.is_error,
            references: if result.is_error { Vec::new() } else { self.catalog.loaded_by(&call.id) },
            data: Value::Object(result.data),
        };
        let artifact = result.artifact.map(|a| a.text_path.unwrap_or(a.path));
        self.keep(message, Kept { code: result.error.map(|e| e.code), artifact }).await
    }

    /// The report of a call that never reached the executor.
    fn unrun(&self, call: &ModelCall, error: &ToolError) -> CallReport {
        let known = self.cx.with.indexes.tools.get(&call.name);
        CallReport {
            call_id: call.id.clone(),
            tool: known.map_or_else(|| call.name.clone(), |t| t.qualified.to_string()),
            owner: known.map(|t| t.owner().to_string()),
            arguments: parsed(&call.arguments).map_or_else(|| Value::String(call.arguments.clone()), Value::Object),
            status: "denied".into(),
            error: Some(error.clone()),
            duration_ms: 0,
        }
    }
}

fn report_of(record: CallRecord) -> CallReport {
    CallReport {
        call_id: record.call_id,
        tool: record.tool,
        owner: record.owner,
        arguments: record.arguments,
        status: record.status.as_str().into(),
        error: record.error,
        duration_ms: record.duration_ms,
    }
}

/// Arguments as one object: empty is `{}`, a string that holds an object is decoded once.
fn parsed(arguments: &str) -> Option<Map<String, Value>> {
    if arguments.trim().is_empty() {
        return Some(Map::new());
    }
    match serde_json::from_str::<Value>(arguments).ok()? {
        Value::Object(map) => Some(map),
        Value::String(inner) => match serde_json::from_str::<Value>(&inner).ok()? {
            Value::Object(map) => Some(map),
            _ => None,
        },
        _ => None,
    }
}

fn sound(arguments: &str) -> String {
    parsed(arguments).map_or_else(|| "{}".to_string(), |map| Value::Object(map).to_string())
}

/// What is shown while they run; a model may have invented names of any length.
fn label(calls: &[ModelCall]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for call in calls {
        if !names.contains(&call.name.as_str()) {
            names.push(&call.name);
        }
    }
    let all = names.join(", ");
    match all.char_indices().nth(LABEL_CHARS) {
        Some((end, _)) => format!("{}…", &all[..end]),
        None => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_named_in_few_words() {
        let call = |name: &str| ModelCall { id: "a".into(), name: name.into(), arguments: String::new() };
        assert_eq!(label(&[call("one"), call("two"), call("one")]), "one, two");
        let long = label(&[call(&"名".repeat(400_000))]);
        assert_eq!((long.chars().count(), long.ends_with('…')), (LABEL_CHARS + 1, true));
    }
}
