//! How a turn ends: exactly one of these.

use plugin_sdk::{Segment, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Codes of a failed turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[allow(missing_docs)]
pub enum FailCode {
    ModelUnavailable,
    ModelRejected,
    ModelTruncated,
    ModelRefused,
    ContextOverflow,
    PromptOverflow,
    LoopGuard,
    Interrupted,
    JournalUnavailable,
    Internal,
}

impl FailCode {
    /// Contract text.
    pub fn as_str(self) -> &'static str {
        match self {
            FailCode::ModelUnavailable => "MODEL_UNAVAILABLE",
            FailCode::ModelRejected => "MODEL_REJECTED",
            FailCode::ModelTruncated => "MODEL_TRUNCATED",
            FailCode::ModelRefused => "MODEL_REFUSED",
            FailCode::ContextOverflow => "CONTEXT_OVERFLOW",
            FailCode::PromptOverflow => "PROMPT_OVERFLOW",
            FailCode::LoopGuard => "LOOP_GUARD",
            FailCode::Interrupted => "INTERRUPTED",
            FailCode::JournalUnavailable => "JOURNAL_UNAVAILABLE",
            FailCode::Internal => "INTERNAL",
        }
    }
}

/// Who cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum CancelledBy {
    Person,
    Superseded,
    Shutdown,
    LeaseDeadline,
}

/// Which budget ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Budget {
    Steps,
    Time,
    Tokens,
    Cost,
}

/// Exactly one per turn.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnOutcome {
    /// Answered.
    Completed,
    /// Failed.
    Failed {
        /// Why.
        code: FailCode,
        /// Whether trying again may help.
        retryable: bool,
    },
    /// Ended before an answer.
    Cancelled {
        /// By whom.
        by: CancelledBy,
    },
    /// A limit was reached.
    BudgetExceeded {
        /// Which.
        what: Budget,
    },
}

impl TurnOutcome {
    /// Contract name.
    pub fn as_str(&self) -> &'static str {
        match self {
            TurnOutcome::Completed => "completed",
            TurnOutcome::Failed { .. } => "failed",
            TurnOutcome::Cancelled { .. } => "cancelled",
            TurnOutcome::BudgetExceeded { .. } => "budget_exceeded",
        }
    }

    /// Contract `detail`: its code, `by` or `what`.
    pub fn detail(&self) -> Option<&'static str> {
        Some(match self {
            TurnOutcome::Completed => return None,
            TurnOutcome::Failed { code, .. } => code.as_str(),
            TurnOutcome::Cancelled { by } => match by {
                CancelledBy::Person => "person",
                CancelledBy::Superseded => "superseded",
                CancelledBy::Shutdown => "shutdown",
                CancelledBy::LeaseDeadline => "lease_deadline",
            },
            TurnOutcome::BudgetExceeded { what } => match what {
                Budget::Steps => "steps",
                Budget::Time => "time",
                Budget::Tokens => "tokens",
                Budget::Cost => "cost",
            },
        })
    }
}

impl TurnReport {
    /// The report of a message that a sentence of the host answers: no model was asked.
    pub fn said(turn_id: String, session_id: String, generation: u64, text: String) -> Self {
        Self {
            turn_id,
            session_id,
            generation,
            outcome: TurnOutcome::Completed,
            footer: None,
            segments: vec![Segment::plain(&text)],
            text,
            model: String::new(),
            tool_calls: Vec::new(),
            questions: Vec::new(),
            usage: crate::model::Usage::default(),
            prompt: Value::Null,
            duration_ms: 0,
        }
    }
}

/// One call of a turn, for reports.
// SHAPE: 08 §2
#[derive(Debug, Clone, Serialize)]
pub struct CallReport {
    /// Call id.
    pub call_id: String,
    /// Qualified name (as called when unknown).
    pub tool: String,
    /// Owner; `null` when unknown.
    pub owner: Option<String>,
    /// Arguments as run (or as sent when they never ran).
    pub arguments: Value,
    /// `completed`, `failed`, `denied`, `cancelled`, `unknown`.
    pub status: String,
    /// Error.
    pub error: Option<ToolError>,
    /// Milliseconds.
    pub duration_ms: u64,
}

/// One question of a turn, for reports.
// SHAPE: 08 §2
#[derive(Debug, Clone, Serialize)]
pub struct QuestionReport {
    /// Id.
    pub id: String,
    /// `approval` or the question's kind.
    pub kind: String,
    /// What was asked.
    pub text: String,
    /// Answer, `null` when none.
    pub answer: Option<String>,
}

/// Everything a caller wants to know about a finished turn.
#[derive(Debug, Clone)]
// SHAPE: 08 §2
pub struct TurnReport {
    /// Id.
    pub turn_id: String,
    /// Session key.
    pub session_id: String,
    /// Generation that answered.
    pub generation: u64,
    /// How it ended.
    pub outcome: TurnOutcome,
    /// What the person sees: the answer or the outcome's sentence; the offline footer is not in it.
    pub text: String,
    /// Line `offline-footer` when this was a session's first answer of the offline model.
    pub footer: Option<String>,
    /// The same as segments.
    pub segments: Vec<Segment>,
    /// Model name.
    pub model: String,
    /// Calls in order.
    pub tool_calls: Vec<CallReport>,
    /// Questions in order.
    pub questions: Vec<QuestionReport>,
    /// Sum over steps.
    pub usage: crate::model::Usage,
    /// Budget report of the prompt.
    pub prompt: Value,
    /// Milliseconds.
    pub duration_ms: u64,
}
