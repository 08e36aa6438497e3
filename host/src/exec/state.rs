//! What one turn has done so far: counts, equal calls, refusals, cards.

use plugin_sdk::ToolError;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Calls of one turn.
const CALLS_PER_TURN: u32 = 50;
/// Calls of one model step.
const CALLS_PER_STEP: u32 = 20;
/// Calls inside one another: a fifth is refused.
pub(super) const MAX_DEPTH: u32 = 4;
/// Blocked repeats that end a turn.
const BLOCKS_TO_END: u32 = 2;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    /// Gave a result.
    Completed,
    /// Ran and failed.
    Failed,
    /// Never ran.
    Denied,
    /// Cancelled before or while it ran, with its end known.
    Cancelled,
    /// Its effect may or may not have happened.
    Unknown,
}

impl CallStatus {
    /// Contract name.
    pub fn as_str(self) -> &'static str {
        match self {
            CallStatus::Completed => "completed",
            CallStatus::Failed => "failed",
            CallStatus::Denied => "denied",
            CallStatus::Cancelled => "cancelled",
            CallStatus::Unknown => "unknown",
        }
    }
}

/// A finished call, for reports and the transcript.
#[derive(Debug, Clone)]
pub struct CallRecord {
    /// Position in the turn, from 1; nested calls count too.
    pub number: u32,
    /// Call id.
    pub call_id: String,
    /// Qualified name, as called when unknown.
    pub tool: String,
    /// Owner; `None` when unknown.
    pub owner: Option<String>,
    /// Arguments as run, or as sent when they never ran.
    pub arguments: Value,
    /// How it ended.
    pub status: CallStatus,
    /// Error.
    pub error: Option<ToolError>,
    /// Milliseconds.
    pub duration_ms: u64,
}

/// Where a call stands in its turn and step, from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ordinal {
    pub(super) in_turn: u32,
    pub(super) in_step: u32,
}

/// The same call with the same result.
struct Equal {
    fingerprint: String,
    times: u32,
}

#[derive(Default)]
struct Inner {
    calls: u32,
    equal: HashMap<String, Equal>,
    refused: HashMap<String, ToolError>,
    cards: u32,
    blocked: u32,
    records: Vec<CallRecord>,
}

/// Shared by all calls of a turn, nested ones included.
#[derive(Default)]
pub(super) struct TurnState {
    inner: Mutex<Inner>,
    /// Held while a card is open: one at a time.
    pub(super) card: tokio::sync::Mutex<()>,
}

impl TurnState {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Places for the calls of one step, in call order.
    pub(super) fn take_places(&self, count: u32) -> Vec<Ordinal> {
        let mut inner = self.inner();
        let first = inner.calls;
        inner.calls = inner.calls.saturating_add(count);
        (1..=count).map(|n| Ordinal { in_turn: first.saturating_add(n), in_step: n }).collect()
    }

    /// The places the next step would take, without taking them.
    pub(super) fn next_places(&self, count: u32) -> Vec<Ordinal> {
        let first = self.inner().calls;
        (1..=count).map(|n| Ordinal { in_turn: first.saturating_add(n), in_step: n }).collect()
    }

    /// Phase 5 without the guard against repeats.
    pub(super) fn limits(&self, place: Ordinal, depth: u32) -> Result<(), ToolError> {
        if depth > MAX_DEPTH {
            let message = format!("tools call each other at most {MAX_DEPTH} deep");
            return Err(ToolError::new("CALL_DEPTH", message));
        }
        if place.in_turn > CALLS_PER_TURN {
            return Err(ToolError::new("TOOL_LIMIT", format!("a turn has at most {CALLS_PER_TURN} calls; answer now")));
        }
        if place.in_step > CALLS_PER_STEP {
            return Err(ToolError::new("TOOL_LIMIT", format!("a step has at most {CALLS_PER_STEP} calls")));
        }
        Ok(())
    }

    /// Whether this call has had the same result `guard` times in a row.
    pub(super) fn is_loop(&self, key: &str, guard: u32) -> bool {
        self.inner().equal.get(key).is_some_and(|e| e.times >= guard)
    }

    /// Counts a blocked repeat.
    pub(super) fn note_block(&self) {
        self.inner().blocked += 1;
    }

    /// Whether the guard against repeats ends the turn.
    pub(super) fn must_end(&self) -> bool {
        self.inner().blocked >= BLOCKS_TO_END
    }

    /// Remembers what a call gave; another result starts the count again.
    pub(super) fn note_result(&self, key: String, fingerprint: String) {
        let mut inner = self.inner();
        let entry = inner.equal.entry(key).or_insert_with(|| Equal { fingerprint: fingerprint.clone(), times: 0 });
        if entry.fingerprint == fingerprint {
            entry.times += 1;
        } else {
            *entry = Equal { fingerprint, times: 1 };
        }
    }

    /// The answer a person gave to the same call of this turn, when it was no.
    pub(super) fn refusal(&self, key: &str) -> Option<ToolError> {
        self.inner().refused.get(key).cloned()
    }

    pub(super) fn note_refusal(&self, key: String, error: ToolError) {
        self.inner().refused.insert(key, error);
    }

    /// Takes one of `max` cards of the turn.
    pub(super) fn take_card(&self, max: u32) -> bool {
        let mut inner = self.inner();
        let free = inner.cards < max;
        if free {
            inner.cards += 1;
        }
        free
    }

    pub(super) fn note_record(&self, record: CallRecord) {
        self.inner().records.push(record);
    }

    /// Everything that finished, in call order; the list is empty afterwards.
    pub(super) fn take_records(&self) -> Vec<CallRecord> {
        let mut records = std::mem::take(&mut self.inner().records);
        records.sort_by_key(|r| r.number);
        records
    }
}
