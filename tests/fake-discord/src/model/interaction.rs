//! Interactions: a slash command, a press of a button, a choice in a menu.

use crate::id::Id;
use serde::Serialize;
use serde_json::Value;

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InteractionKind {
    /// A slash command.
    Slash {
        /// Name.
        name: String,
        /// `data` as the bot is sent it.
        data: Value,
    },
    /// A button or a menu.
    Component {
        /// Its `custom_id`.
        custom_id: String,
        /// The message it is on.
        message: Id,
        /// `data` as the bot is sent it.
        data: Value,
    },
}

/// How it was answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answered {
    /// Discord's number of the answer's type: 4 message, 5 deferred, 6 deferred update, 7 update.
    pub kind: u64,
    /// When, Unix milliseconds.
    pub at_ms: u64,
    /// Whether only the person sees the answer.
    pub ephemeral: bool,
}

/// One interaction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interaction {
    /// Id.
    pub id: Id,
    /// Secret of the answer.
    #[serde(skip)]
    pub token: String,
    /// What happened.
    pub kind: InteractionKind,
    /// Who.
    pub user: Id,
    /// Where.
    pub channel: Id,
    /// When, Unix milliseconds.
    pub at_ms: u64,
    /// The answer.
    pub answered: Option<Answered>,
    /// The message `@original` names.
    pub original: Option<Id>,
    /// Every message it led to.
    pub messages: Vec<Id>,
    /// Whether a deferred answer still waits for its text.
    pub loading: bool,
    /// Whether nobody was connected to hear of it; only a resume may still bring it.
    pub lost: bool,
}

impl Interaction {
    /// How long the first answer may take, milliseconds.
    pub const ANSWER_MS: u64 = 3_000;
    /// How long the token lives, milliseconds.
    pub const TOKEN_MS: u64 = 15 * 60_000;

    /// Whether the person sees "did not respond".
    pub fn failed(&self, now_ms: u64) -> bool {
        self.answered.is_none() && now_ms > self.at_ms + Self::ANSWER_MS
    }
}
