//! What happened, as it is handed in and as it is kept.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Name, e.g. `tool.started`.
    pub kind: &'static str,
    /// Generation it happened in, if in one.
    pub generation: Option<u64>,
    /// Turn it happened in, if in one.
    pub turn_id: Option<String>,
    /// Whose doing, text form of a principal.
    pub principal: Option<String>,
    /// Further facts.
    pub data: Value,
}

impl Event {
    /// An event outside any turn.
    pub fn new(kind: &'static str, data: Value) -> Self {
        Self { kind, generation: None, turn_id: None, principal: None, data }
    }

    /// Puts it into a turn.
    #[must_use]
    pub fn of_turn(mut self, generation: u64, turn_id: impl Into<String>, principal: impl Into<String>) -> Self {
        self.generation = Some(generation);
        self.turn_id = Some(turn_id.into());
        self.principal = Some(principal.into());
        self
    }
}

/// An event as it is kept. It never changes.
// SHAPE: 08 §6
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Number within its millisecond and process run, after its time.
    pub id: String,
    /// When.
    pub at: DateTime<Utc>,
    /// Name.
    pub kind: String,
    /// Generation.
    pub generation: Option<u64>,
    /// Turn.
    pub turn_id: Option<String>,
    /// Principal.
    pub principal: Option<String>,
    /// Further facts, secrets masked.
    pub data: Value,
}
