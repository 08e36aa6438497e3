//! What may go wrong between the host and a platform; the host does something else for each.

use serde::{Deserialize, Serialize};

/// The platform has no such operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{op} is not supported")]
pub struct Unsupported {
    /// Operation.
    pub op: &'static str,
}

/// Why an adapter could not connect, or why its connection broke. Holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AdapterError {
    /// Code of the contract, when it has one.
    pub code: Option<String>,
    /// Lower-case sentence.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Trying again cannot help before the configuration changes.
    pub is_final: bool,
}

impl AdapterError {
    /// A fault that may pass.
    pub fn passing(message: impl Into<String>) -> Self {
        Self { code: None, message: message.into(), help: None, is_final: false }
    }

    /// A fault that stays until the configuration changes.
    pub fn lasting(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: Some(code.into()), message: message.into(), help: None, is_final: true }
    }

    /// The same with a sentence about what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// What a pause that a platform asks for is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseScope {
    /// One conversation.
    Chat,
    /// Requests of this kind.
    Bucket,
    /// The whole endpoint.
    Global,
}

/// A part of a piece that a platform refused by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PieceField {
    /// The answered message is gone.
    Reply,
    /// The topic is gone.
    Thread,
    /// The caption was refused.
    Caption,
    /// The picture was refused as one.
    Photo,
}

/// Typed send errors: what the host does differs for each.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SendError {
    /// Ask again after a pause.
    #[error("retry after {seconds} s")]
    RetryAfter {
        /// Length of the pause.
        seconds: f64,
        /// What it is about.
        scope: PauseScope,
    },
    /// Markup refused.
    #[error("markup refused: {0}")]
    Parse(String),
    /// Longer than this limit.
    #[error("longer than {0}")]
    TooLong(usize),
    /// The conversation has moved to this scene.
    #[error("the conversation moved to {0}")]
    ChatMigrated(String),
    /// Blocked or kicked.
    #[error("forbidden: {0}")]
    Forbidden(String),
    /// Nothing changed: success.
    #[error("not modified")]
    NotModified,
    /// One part of the piece was refused.
    #[error("{field:?} refused: {message}")]
    Field {
        /// Which.
        field: PieceField,
        /// The platform's words.
        message: String,
    },
    /// The request did not leave, or the platform failed before it did anything.
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
