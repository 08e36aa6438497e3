//! What an adapter is given to show.

use crate::{ConversationRef, Segment, TextEntity};
use serde::{Deserialize, Serialize};

/// What an outgoing piece is for; only the console treats them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutgoingKind {
    /// The answer of a turn, or of a chat command.
    Answer,
    /// A question or an approval that waits for the person.
    Question,
    /// A sentence of the host beside an answer.
    Notice,
}

/// One rendered piece that fits the limits: at most one text, or one file with its caption, and one keyboard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outgoing {
    /// What it is for.
    pub kind: OutgoingKind,
    /// Where.
    pub conversation: ConversationRef,
    /// What. A text is written in the adapter's dialect by now; one of format `plain` holds no mark.
    pub segments: Vec<Segment>,
    /// Marks of the text or caption, in the dialect `entities` only; ordered by offset, properly nested.
    #[serde(default)]
    pub entities: Vec<TextEntity>,
    /// Answered message.
    pub reply_to: Option<String>,
    /// Key that makes a repeat recognisable.
    pub idempotency_key: String,
}

/// A piece that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Platform's id.
    pub message_id: String,
}

/// A growing answer, shown while it streams. `text` is everything so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// Where.
    pub conversation: ConversationRef,
    /// All text so far.
    pub text: String,
}

/// A message was dealt with: answered, refused, dropped or stopped. Sent once per inbound message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// Where.
    pub conversation: ConversationRef,
    /// The inbound message.
    pub message_id: String,
    /// Turn, when one ran.
    pub turn_id: Option<String>,
    /// `completed`, `failed`, `cancelled`, `budget_exceeded`, or `handled` without a turn.
    pub outcome: String,
    /// Its code, `by` or `what`.
    pub detail: Option<String>,
}
