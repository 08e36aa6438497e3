//! A question as it is shown and kept, and how it ends.

use super::words::{is_cancel, value_of, yes_or_no};
use crate::session::SessionKey;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use plugin_sdk::ports::{Question, QuestionKind};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

/// What kind of answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// Whether a call may run.
    Approval,
    /// Free text.
    Text,
    /// A number.
    Number,
    /// Yes or no.
    Confirm,
    /// One of the options.
    Pick,
}

impl From<QuestionKind> for Wanted {
    fn from(kind: QuestionKind) -> Self {
        match kind {
            QuestionKind::Text => Wanted::Text,
            QuestionKind::Number => Wanted::Number,
            QuestionKind::Confirm => Wanted::Confirm,
            QuestionKind::Pick => Wanted::Pick,
        }
    }
}

/// A pending question.
// SHAPE: 03 §9
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// 128 random bits, hex.
    pub id: String,
    /// Session.
    pub session: SessionKey,
    /// Turn that asks.
    pub turn_id: String,
    /// Who may answer, text form of a principal.
    pub principal: String,
    /// Kind of answer.
    pub wanted: Wanted,
    /// What is asked.
    pub text: String,
    /// Labels for `pick`.
    pub options: Vec<String>,
    /// Owner or server that asks; `None` = the model or the host.
    pub asker: Option<String>,
    /// When it was shown.
    pub asked_at: DateTime<Utc>,
    /// When it ends by itself.
    pub expires_at: DateTime<Utc>,
}

impl OpenQuestion {
    pub(super) fn judge(&self, text: &str) -> Option<Reply> {
        let kind = match self.wanted {
            Wanted::Approval => {
                return yes_or_no(text).map(|yes| Reply::Value(if yes { "yes" } else { "no" }.into(), None));
            }
            Wanted::Text => QuestionKind::Text,
            Wanted::Number => QuestionKind::Number,
            Wanted::Confirm => QuestionKind::Confirm,
            Wanted::Pick => QuestionKind::Pick,
        };
        let question = Question {
            question: String::new(),
            kind,
            options: self.options.clone(),
            default_value: None,
            timeout_seconds: 1,
        };
        // For yes or no the cancel words are one more way to say no.
        if kind != QuestionKind::Confirm && is_cancel(text) {
            return Some(Reply::Cancel);
        }
        value_of(&question, text).map(|(answer, index)| Reply::Value(answer, index))
    }
}

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionEnd {
    /// A person answered.
    Answered {
        /// `yes` or `no`, the number, the label, the text.
        answer: String,
        /// For `pick`.
        index: Option<usize>,
        /// Who, text form.
        by: String,
    },
    /// The person ended it.
    Cancelled,
    /// Nobody answered in time.
    Expired,
    /// The turn ended.
    Withdrawn,
    /// Too many are open or waiting.
    Busy,
    /// It could not be shown; why.
    Unavailable(String),
}

impl QuestionEnd {
    /// Kind of its journal event.
    pub(super) fn event(&self) -> &'static str {
        match self {
            QuestionEnd::Answered { .. } => "question.answered",
            QuestionEnd::Cancelled | QuestionEnd::Busy | QuestionEnd::Unavailable(_) => "question.refused",
            QuestionEnd::Expired => "question.expired",
            QuestionEnd::Withdrawn => "question.withdrawn",
        }
    }

    /// The answer, as far as the journal may hold it: free text is the person's own.
    pub(super) fn answer(&self) -> &str {
        match self {
            QuestionEnd::Answered { answer, .. } if answer == "yes" || answer == "no" => answer,
            _ => "",
        }
    }
}

/// Shows questions; implemented by whoever sends messages.
#[async_trait]
pub trait QuestionSink: Send + Sync {
    /// Shows it, or says why it cannot be shown.
    async fn show(&self, question: &OpenQuestion) -> Result<(), String>;
    /// The last text was no valid answer: asks again.
    async fn invalid(&self, question: &OpenQuestion);
    /// It is over.
    async fn closed(&self, question: &OpenQuestion, end: &QuestionEnd);
}

/// What a text comes to.
pub(super) enum Reply {
    Value(String, Option<usize>),
    Cancel,
    Invalid,
    /// Shown again as it was.
    Again,
}

/// The open question of a slot.
pub(super) struct Open {
    pub(super) question: OpenQuestion,
    pub(super) reply: mpsc::UnboundedSender<Reply>,
}

impl Open {
    /// `None` when whoever asked has gone.
    pub(super) fn send(&self, reply: Reply) -> Option<()> {
        self.reply.send(reply).ok()
    }
}
