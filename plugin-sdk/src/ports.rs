//! The ports: the only way up for code below. All but `Ask` are implemented by the host alone.

use crate::{Button, ConversationRef, ToolError, ToolResult};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::marker::Send as SendBound;

/// Kind of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum QuestionKind {
    /// Free text.
    Text,
    /// A number.
    Number,
    /// Yes or no.
    Confirm,
    /// One of the options.
    Pick,
}

/// A question to the person of the turn.
// SHAPE: 03 §10
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Question {
    /// 1–4,000 characters after trimming.
    pub question: String,
    /// Kind of answer.
    #[serde(rename = "type")]
    pub kind: QuestionKind,
    /// 2–20 for `pick`, else empty.
    #[serde(default)]
    pub options: Vec<String>,
    /// Used when nobody answers.
    #[serde(default)]
    pub default_value: Option<String>,
    /// 1–300.
    pub timeout_seconds: u64,
}

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnswerSource {
    /// The person.
    Person,
    /// `default_value`.
    Default,
    /// Nobody in time; a `confirm` is "no".
    Timeout,
}

/// An answer.
// SHAPE: 03 §10
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Answer {
    /// `yes`/`no`, the number as written, the option's text or the text.
    pub answer: String,
    /// Index for `pick`.
    pub option_index: Option<usize>,
    /// Where it comes from.
    pub source: AnswerSource,
}

/// Asks the person whose turn it is.
///
/// ```
/// use plugin_sdk::ports::{Answer, AnswerSource, Ask, Question};
/// struct AlwaysYes;
/// #[async_trait::async_trait]
/// impl Ask for AlwaysYes {
///     async fn ask(&self, _q: Question) -> Result<Answer, plugin_sdk::ToolError> {
///         Ok(Answer { answer: "yes".into(), option_index: None, source: AnswerSource::Person })
///     }
/// }
/// ```
#[async_trait]
pub trait Ask: SendBound + Sync {
    /// Waits for the answer; errors are `QUESTION_*` codes.
    async fn ask(&self, question: Question) -> Result<Answer, ToolError>;

    /// The port for one call of a plugin's code: the question says who asks, and narrower bounds hold. `None` =
    /// this port makes no difference.
    fn for_owner(&self, _owner: &str) -> Option<std::sync::Arc<dyn Ask>> {
        None
    }
}

/// A message with buttons that waits for a person, or the same message after its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// What it says, Markdown.
    pub text: String,
    /// Its buttons; each id is a host action id.
    pub buttons: Vec<Button>,
    /// What may be typed where a channel has no buttons; `None` = the labels are numbered.
    pub typed: Option<String>,
    /// Arguments too long for the text.
    pub attachment: Option<CardFile>,
    /// The message it belongs to.
    pub reply_to: Option<String>,
    /// How it ended; `None` while it waits.
    pub end: Option<CardEnd>,
}

/// How a card ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardEnd {
    /// The sentence below its text.
    pub text: String,
    /// Whether people must be told where the card itself cannot be changed.
    pub tell: bool,
}

/// A text file that goes with a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardFile {
    /// File name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Where one copy of a card stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardCopy {
    /// The conversation.
    pub conversation: ConversationRef,
    /// The platform's id of the message.
    pub message_id: String,
}

/// Shows cards and changes those that are shown.
#[async_trait]
pub trait CardSink: SendBound + Sync {
    /// Shows a card, or says why it cannot be shown.
    async fn show(&self, to: &ConversationRef, card: &Card) -> Result<CardCopy, String>;
    /// Changes a copy. A failure changes nothing about what was decided, so nobody is told of it.
    async fn edit(&self, copy: &CardCopy, card: &Card);
}

/// Calls another tool by name, through every gate.
#[async_trait]
pub trait CallTool: SendBound + Sync {
    /// One result, always.
    async fn call_tool(&self, name: &str, input: Map<String, Value>) -> ToolResult;
}

/// Asks for a reload and waits for the verdict. The answer is the ReloadRecord as JSON.
#[async_trait]
pub trait ReloadRequest: SendBound + Sync {
    /// `requested_by` is a principal's text form, `trigger` one of the names of the triggers.
    async fn request(&self, trigger: &str, requested_by: Option<String>) -> Result<Value, ToolError>;
}

/// Runs the scenario files of a candidate.
#[async_trait]
pub trait Gate: SendBound + Sync {
    /// Diagnostics of failing scenarios; empty = passed.
    async fn run(&self, files: Vec<GateFile>) -> Vec<crate::Diagnostic>;
}

/// One scenario file for the gate.
#[derive(Debug, Clone)]
pub struct GateFile {
    /// Owner path.
    pub owner: String,
    /// Path relative to the bot folder.
    pub path: String,
    /// Its text.
    pub text: String,
}
