//! How a question ends, and the open one of a session.

use super::record::{Decision, OpenQuestion, QuestionState};
use tokio::sync::mpsc;

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionEnd {
    /// A person answered.
    Answered {
        /// `yes`, `session` or `no`, the number, the label, the text.
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
    /// It could not be recorded, so it was not shown; why.
    Unrecorded(String),
}

impl QuestionEnd {
    pub(super) fn of(decision: Decision, by: String) -> Self {
        match decision.state {
            QuestionState::Cancelled => QuestionEnd::Cancelled,
            QuestionState::Expired => QuestionEnd::Expired,
            QuestionState::Withdrawn | QuestionState::Lost | QuestionState::Pending => QuestionEnd::Withdrawn,
            _ => QuestionEnd::Answered { answer: decision.answer, index: decision.index, by },
        }
    }

    /// Kind of its journal event.
    pub(super) fn event(&self) -> &'static str {
        match self {
            QuestionEnd::Answered { .. } => "question.answered",
            QuestionEnd::Cancelled | QuestionEnd::Busy | QuestionEnd::Unavailable(_) | QuestionEnd::Unrecorded(_) => {
                "question.refused"
            }
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

/// What whoever waits is told.
pub(super) enum Reply {
    /// It is decided; by whom.
    Decided(Decision, String),
    /// The last text was no valid answer: it is asked again.
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
