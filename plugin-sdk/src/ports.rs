//! The ports: the only way up for code below. All but `Ask` are implemented by the host alone.

use crate::{ToolError, ToolResult};
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
