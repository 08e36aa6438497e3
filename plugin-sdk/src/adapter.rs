//! What a channel adapter is: four one-way parts and a declaration of limits.

use crate::{AdapterLimits, CommandCall, ConversationRef, Dialect, MediaRef, Message, Segment};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::marker::Send as SendBound;
use std::sync::Arc;

/// What a platform can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Ability {
    Edit,
    Delete,
    React,
    Typing,
    Buttons,
    Commands,
    Threads,
    MediaIn,
    MediaOut,
    Reply,
    Roles,
    Stream,
}

/// What an adapter declares about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdapterInfo {
    /// Adapter kind = platform name.
    pub kind: String,
    /// Limits.
    pub limits: AdapterLimits,
    /// Abilities.
    pub abilities: Vec<Ability>,
    /// Dialect.
    pub dialect: Dialect,
}

impl AdapterInfo {
    /// Whether it has an ability.
    pub fn can(&self, ability: Ability) -> bool {
        self.abilities.contains(&ability)
    }
}

/// An inbound event.
#[derive(Debug, Clone, PartialEq)]
pub enum Inbound {
    /// A message.
    Message(Message),
    /// An edited message.
    Edited(Message),
    /// A press.
    Button {
        /// Host action id.
        action: String,
        /// Message of the button.
        message_id: String,
        /// Who pressed.
        by: crate::Principal,
        /// Where.
        conversation: ConversationRef,
    },
    /// A slash command of the platform.
    Command {
        /// The message that stands for it.
        message: Message,
        /// The command.
        command: CommandCall,
    },
    /// An event that means nothing to the host, or that cannot be read.
    Ignored {
        /// Why.
        why: String,
    },
    /// The channel ended by itself (end of input, the person left).
    Closed,
}

/// One delivered event.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// Dedupe key, unique on the endpoint.
    pub event_key: String,
    /// Given back to `accept`.
    pub token: u64,
    /// The event.
    pub event: Inbound,
}

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

/// One rendered piece that fits the limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outgoing {
    /// What it is for.
    pub kind: OutgoingKind,
    /// Where.
    pub conversation: ConversationRef,
    /// What.
    pub segments: Vec<Segment>,
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

/// The platform has no such operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{op} is not supported")]
pub struct Unsupported {
    /// Operation.
    pub op: &'static str,
}

/// Why an adapter could not connect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AdapterError {
    /// Lower-case sentence.
    pub message: String,
}

/// Typed send errors: what the host does differs for each.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SendError {
    /// Ask again after this many seconds.
    #[error("retry after {0} s")]
    RetryAfter(f64),
    /// Markup refused.
    #[error("markup refused: {0}")]
    Parse(String),
    /// Longer than this limit.
    #[error("longer than {0}")]
    TooLong(usize),
    /// Blocked or kicked.
    #[error("forbidden: {0}")]
    Forbidden(String),
    /// Nothing changed: success.
    #[error("not modified")]
    NotModified,
    /// The request did not leave.
    #[error("transient: {0}")]
    Transient(String),
    /// It may have arrived.
    #[error("ambiguous: {0}")]
    Ambiguous(String),
    /// Anything else.
    #[error("permanent: {0}")]
    Permanent(String),
    /// No such operation.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}

/// Inbound half.
#[async_trait]
pub trait Receive: SendBound + Sync {
    /// The next event, or `None` after `stop`.
    async fn next(&self) -> Option<Delivery>;
    /// The delivery is stored: acknowledge it to the platform.
    async fn accept(&self, token: u64);
    /// Ends the stream after the last platform request has ended.
    async fn stop(&self);
}

/// Sending half: one piece, one platform request; no retry, no wait, no split.
#[async_trait]
pub trait Send: SendBound + Sync {
    /// Sends one piece.
    async fn send(&self, piece: Outgoing) -> Result<Sent, SendError>;
}

/// Changing what was sent.
#[async_trait]
pub trait Edit: SendBound + Sync {
    /// Shows a growing answer.
    async fn draft(&self, draft: Draft) -> Result<(), SendError>;
    /// Shows that the bot is busy; `label` names what runs.
    async fn typing(&self, conversation: &ConversationRef, label: Option<&str>) -> Result<(), SendError>;
    /// Replaces a message that was sent; the buttons are those of the new segments.
    async fn edit(&self, _message_id: &str, _piece: Outgoing) -> Result<(), SendError> {
        Err(Unsupported { op: "edit" }.into())
    }
    /// Answers a press with a text.
    async fn answer_button(&self, token: u64, text: &str) -> Result<(), SendError>;
    /// A message was dealt with; typing ends.
    async fn settled(&self, settled: Settled) -> Result<(), SendError>;
}

/// Asking the platform.
#[async_trait]
pub trait Lookup: SendBound + Sync {
    /// Platform permissions a person holds in a conversation.
    async fn member(&self, conversation: &ConversationRef, user_id: &str) -> Result<Vec<String>, SendError>;
    /// Bytes of a media file.
    async fn download(&self, media: &MediaRef) -> Result<Vec<u8>, SendError>;
    /// Replaces the command menu.
    async fn set_commands(&self, commands: &[(String, String)]) -> Result<(), SendError>;
    /// Cheap round trip.
    async fn probe(&self) -> Result<(), SendError>;
}

/// An open connection: four one-way parts and nothing else.
#[derive(Clone)]
pub struct Connection {
    /// Inbound.
    pub receive: Arc<dyn Receive>,
    /// Outbound.
    pub send: Arc<dyn Send>,
    /// Edits.
    pub edit: Arc<dyn Edit>,
    /// Lookups.
    pub lookup: Arc<dyn Lookup>,
}

/// A channel adapter.
#[async_trait]
pub trait Adapter: SendBound + Sync {
    /// What it declares.
    fn info(&self) -> AdapterInfo;
    /// Opens a connection with its own configuration table.
    async fn connect(&self, config: serde_json::Value) -> Result<Connection, AdapterError>;
}
