//! What a question is bound to, as it is stored before anybody sees it.

use super::words::{is_cancel, value_of, yes_or_no};
use crate::session::SessionKey;
use crate::session::sessions::head_key;
use crate::store::Key;
use chrono::{DateTime, Utc};
use plugin_sdk::ConversationRef;
use plugin_sdk::ports::{CardCopy, Question, QuestionKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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

impl Wanted {
    /// `None` for an approval.
    pub(super) fn kind(self) -> Option<QuestionKind> {
        match self {
            Wanted::Approval => None,
            Wanted::Text => Some(QuestionKind::Text),
            Wanted::Number => Some(QuestionKind::Number),
            Wanted::Confirm => Some(QuestionKind::Confirm),
            Wanted::Pick => Some(QuestionKind::Pick),
        }
    }
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

/// Where a question stands. It leaves `Pending` once, by compare-and-swap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionState {
    /// Waits.
    Pending,
    /// A question got its answer.
    Answered,
    /// The person ended the question.
    Cancelled,
    /// The call may run, this once.
    AllowedOnce,
    /// The call may run, and further ones of the session.
    AllowedSession,
    /// The call may not run.
    Rejected,
    /// Nobody answered in time.
    Expired,
    /// The turn ended, or it could not be shown.
    Withdrawn,
    /// The process ended.
    Lost,
}

/// A file of the workspace that a call would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// Relative to the workspace.
    pub path: String,
    /// SHA-256 of its bytes, lower-case hex; `None` = it was not there.
    pub sha256: Option<String>,
}

/// Which call exactly a person decides about.
// SHAPE: 03 §9
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallIdentity {
    /// Call id.
    pub call_id: String,
    /// Qualified name.
    pub tool: String,
    /// What it is called for people.
    pub title: Option<String>,
    /// Declaring owner.
    pub owner: String,
    /// Digest of the owner's sealed files.
    pub owner_digest: String,
    /// Hash of the frozen arguments.
    pub args_hash: String,
    /// Hash of code, description and schema.
    pub tool_hash: String,
    /// Hash of the whole call.
    pub call_hash: String,
    /// Files of the workspace that it would run.
    pub files: Vec<FileDigest>,
}

/// What makes a call grave: then the requester alone is not enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Gravity {
    /// It writes.
    pub writes: bool,
    /// It executes programs.
    pub executes: bool,
    /// Its own policy wants this concrete call looked at.
    pub policy_asks: bool,
    /// Its arguments are too long to be shown whole.
    pub cut: bool,
}

/// A reason to ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The setting or declaration.
    pub source: String,
    /// Its value.
    pub value: String,
}

/// The part of a record that belongs to approvals.
// SHAPE: 03 §9
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Which call.
    #[serde(flatten)]
    pub identity: CallIdentity,
    /// The frozen arguments, without secrets; `args_hash` is that of exactly what will run.
    pub args: Map<String, Value>,
    /// Every reason.
    pub reasons: Vec<Reason>,
    /// Whether the requester alone is enough.
    pub gravity: Gravity,
    /// Whether a yes may be remembered for the session.
    pub rememberable: bool,
}

/// A question, from before it is shown until it is forgotten.
// SHAPE: 03 §9
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// 128 random bits, hex.
    pub id: String,
    /// Session.
    pub session: SessionKey,
    /// Turn that asks.
    #[serde(rename = "turn")]
    pub turn_id: String,
    /// Whose turn it is, text form of a principal.
    #[serde(rename = "requester")]
    pub principal: String,
    /// Where it is asked.
    pub conversation: ConversationRef,
    /// Kind of answer.
    pub wanted: Wanted,
    /// What is asked, as it is shown.
    pub text: String,
    /// Labels for `pick`.
    pub options: Vec<String>,
    /// Owner or server that asks; `None` = the model or the host.
    pub asker: Option<String>,
    /// When it was shown.
    pub asked_at: DateTime<Utc>,
    /// When it ends by itself.
    pub expires_at: DateTime<Utc>,
    /// Where it stands.
    pub state: QuestionState,
    /// Who ended it, text form.
    pub answered_by: Option<String>,
    /// The sentence about its end.
    pub result: Option<String>,
    /// Where it is shown.
    pub cards: Vec<CardCopy>,
    /// Which call may run, for an approval.
    #[serde(flatten)]
    pub call: Option<CallRecord>,
}

impl OpenQuestion {
    pub(super) fn key(&self) -> Key {
        head_key(&self.session).str(&self.id)
    }

    /// What a whole text means as an answer to it; `None` = nothing.
    pub(super) fn judge(&self, text: &str) -> Option<Decision> {
        let Some(kind) = self.wanted.kind() else {
            return yes_or_no(text).map(|yes| if yes { Decision::once() } else { Decision::reject() });
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
            return Some(Decision { state: QuestionState::Cancelled, answer: String::new(), index: None });
        }
        value_of(&question, text).map(|(answer, index)| Decision { state: QuestionState::Answered, answer, index })
    }
}

/// What ends a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its state from now on.
    pub state: QuestionState,
    /// `yes`, `session` or `no` for an approval, the answer of a question.
    pub answer: String,
    /// For `pick`.
    pub index: Option<usize>,
}

impl Decision {
    /// The call may run, this once.
    pub fn once() -> Self {
        Self { state: QuestionState::AllowedOnce, answer: "yes".into(), index: None }
    }

    /// The call may run, and further ones of the session.
    pub fn session() -> Self {
        Self { state: QuestionState::AllowedSession, answer: "session".into(), index: None }
    }

    /// The call may not run.
    pub fn reject() -> Self {
        Self { state: QuestionState::Rejected, answer: "no".into(), index: None }
    }

    /// Whether it lets a call run.
    pub fn allows(&self) -> bool {
        matches!(self.state, QuestionState::AllowedOnce | QuestionState::AllowedSession)
    }

    pub(super) fn silent(state: QuestionState) -> Self {
        Self { state, answer: String::new(), index: None }
    }
}
