//! Hooks: what a turn tells its guards and listeners, and what they may answer.

use crate::{CancellationSignal, Diagnostic, ToolResult};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::marker::Send as SendBound;
use std::sync::Arc;

/// Default limit of one run of a hook.
const TIMEOUT_SECONDS: f64 = 10.0;
/// The largest limit of one run of a hook.
const MAX_TIMEOUT_SECONDS: f64 = 60.0;

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub enum HookEventKind {
    /// A turn begins.
    #[serde(rename = "run.started")]
    RunStarted,
    /// A turn ended.
    #[serde(rename = "run.finished")]
    RunFinished,
    /// A call is about to run.
    #[serde(rename = "tool.before")]
    ToolBefore,
    /// A body ran to a known result.
    #[serde(rename = "tool.after")]
    ToolAfter,
}

impl HookEventKind {
    /// Every kind, in the order of a turn.
    pub const ALL: [Self; 4] = [Self::RunStarted, Self::ToolBefore, Self::ToolAfter, Self::RunFinished];

    /// Contract name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RunStarted => "run.started",
            Self::RunFinished => "run.finished",
            Self::ToolBefore => "tool.before",
            Self::ToolAfter => "tool.after",
        }
    }

    /// The kind of a contract name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Whether it is about one tool call.
    pub fn is_tool(self) -> bool {
        matches!(self, Self::ToolBefore | Self::ToolAfter)
    }
}

impl fmt::Display for HookEventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How the body of a call ended, whatever was made of its result afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BodyStatus {
    /// Without an error.
    Success,
    /// With one.
    Error,
}

/// What one kind of event says beside the common part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HookPayload {
    /// `tool.after`.
    ToolAfter {
        /// Call id.
        call_id: String,
        /// Qualified name.
        tool_name: String,
        /// The arguments it ran with.
        arguments: Map<String, Value>,
        /// The result so far.
        result: Box<ToolResult>,
        /// How the body itself ended.
        body_status: BodyStatus,
    },
    /// `tool.before`.
    ToolBefore {
        /// Call id.
        call_id: String,
        /// Qualified name.
        tool_name: String,
        /// The arguments it will run with.
        arguments: Map<String, Value>,
    },
    /// `run.started`.
    RunStarted {
        /// What the run is: `generation`, `origin`, `conversation`, `principal`.
        run: Map<String, Value>,
        /// The words that started it.
        input: String,
    },
    /// `run.finished`.
    RunFinished {
        /// What the run is, as in `run.started`.
        run: Map<String, Value>,
        /// `outcome`, `detail`, `text`.
        result: Map<String, Value>,
    },
}

/// One event as a hook sees it: its own copy, and exactly the JSON a command hook reads.
// SHAPE: 04 §9
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HookEvent {
    /// Kind.
    pub event: HookEventKind,
    /// Agent of the turn, `main` when none was chosen.
    pub agent_id: String,
    /// Session key.
    pub session_id: String,
    /// Root of the turn's files.
    pub workspace: String,
    /// Turn id.
    pub run_id: String,
    /// New each time a waiting turn continues.
    pub activation_id: String,
    /// When it happened.
    pub occurred_at: DateTime<Utc>,
    /// What belongs to this kind.
    #[serde(flatten)]
    pub payload: HookPayload,
    /// Requested when the turn is stopped or this hook's limit has passed. Not part of the JSON.
    #[serde(skip)]
    pub cancellation: CancellationSignal,
    /// The limit of this run in seconds. Not part of the JSON.
    #[serde(skip)]
    pub timeout_seconds: f64,
}

impl HookEvent {
    /// The qualified name and the arguments of a tool event.
    pub fn call(&self) -> Option<(&str, &Map<String, Value>)> {
        match &self.payload {
            HookPayload::ToolBefore { tool_name, arguments, .. }
            | HookPayload::ToolAfter { tool_name, arguments, .. } => Some((tool_name, arguments)),
            HookPayload::RunStarted { .. } | HookPayload::RunFinished { .. } => None,
        }
    }
}

/// What a hook answers; nothing at all is the usual answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookResult {
    /// Refuses the call; `tool.before` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deny_reason: Option<String>,
    /// Told to the model below the result; `tool.after` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

impl HookResult {
    /// Lets things go on.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Refuses the call.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { deny_reason: Some(reason.into()), feedback: None }
    }

    /// Says something to the model.
    pub fn feedback(text: impl Into<String>) -> Self {
        Self { deny_reason: None, feedback: Some(text.into()) }
    }

    /// The key of this answer that an event of `kind` does not allow.
    pub fn misplaced(&self, kind: HookEventKind) -> Option<&'static str> {
        if self.deny_reason.is_some() && kind != HookEventKind::ToolBefore {
            return Some("deny_reason");
        }
        (self.feedback.is_some() && kind != HookEventKind::ToolAfter).then_some("feedback")
    }
}

/// Why a hook gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// It failed.
    #[error("{0}")]
    Failed(String),
    /// The turn was stopped meanwhile.
    #[error("cancelled")]
    Cancelled,
    /// Whether its work ended cannot be known.
    #[error("{0}")]
    OutcomeUnknown(String),
}

/// The code of a hook. An `async fn(HookEvent) -> Result<HookResult, HookError>` is one.
#[async_trait]
pub trait HookHandler: SendBound + Sync {
    /// Sees one event.
    async fn handle(&self, event: HookEvent) -> Result<HookResult, HookError>;

    /// Whether it runs a program: then it ends by itself at its limit and at a stop, and it is not run for a
    /// turn that ended without an answer.
    fn runs_program(&self) -> bool {
        false
    }
}

#[async_trait]
impl<F, R> HookHandler for F
where
    F: Fn(HookEvent) -> R + SendBound + Sync,
    R: Future<Output = Result<HookResult, HookError>> + SendBound,
{
    async fn handle(&self, event: HookEvent) -> Result<HookResult, HookError> {
        self(event).await
    }
}

/// A hook of a program that uses the host as a library.
///
/// ```
/// use plugin_sdk::{HookEvent, HookEventKind, HookRegistration, HookResult};
///
/// let hook = HookRegistration::new(HookEventKind::ToolBefore, "audit", |event: HookEvent| async move {
///     Ok(match event.call() {
///         Some(("db__drop", _)) => HookResult::deny("never"),
///         _ => HookResult::nothing(),
///     })
/// });
/// assert!(hook.timeout_seconds(5.0).check().is_ok());
/// ```
#[derive(Clone)]
pub struct HookRegistration {
    event: HookEventKind,
    name: String,
    handler: Arc<dyn HookHandler>,
    tool_names: Option<Vec<String>>,
    timeout_seconds: f64,
}

impl HookRegistration {
    /// A hook for every tool, with a limit of 10 seconds.
    pub fn new(event: HookEventKind, name: impl Into<String>, handler: impl HookHandler + 'static) -> Self {
        Self {
            event,
            name: name.into(),
            handler: Arc::new(handler),
            tool_names: None,
            timeout_seconds: TIMEOUT_SECONDS,
        }
    }

    /// Only for tools of these qualified names or globs.
    #[must_use]
    pub fn tool_names<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.tool_names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// The limit of one run.
    #[must_use]
    pub fn timeout_seconds(mut self, seconds: f64) -> Self {
        self.timeout_seconds = seconds;
        self
    }

    /// What is wrong with it: a blank name or a limit out of range (`hook::bad-value`), a tool filter on an
    /// event that is about no tool (`hook::tools-filter`).
    pub fn check(&self) -> Result<(), Box<Diagnostic>> {
        if self.name.trim().is_empty() {
            return Err(Box::new(Diagnostic::error("hook::bad-value", "a hook needs a name")));
        }
        let seconds = self.timeout_seconds;
        if !(seconds.is_finite() && seconds > 0.0 && seconds <= MAX_TIMEOUT_SECONDS) {
            let message = format!(
                "the limit of the hook `{}` is {seconds}; it is above 0 and at most {MAX_TIMEOUT_SECONDS} seconds",
                self.name
            );
            return Err(Box::new(Diagnostic::error("hook::bad-value", message)));
        }
        if self.tool_names.is_some() && !self.event.is_tool() {
            let message = format!("the hook `{}` filters tools, but `{}` is about no tool", self.name, self.event);
            return Err(Box::new(Diagnostic::error("hook::tools-filter", message)));
        }
        Ok(())
    }

    /// Its event.
    pub fn event(&self) -> HookEventKind {
        self.event
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its code.
    pub fn handler(&self) -> &Arc<dyn HookHandler> {
        &self.handler
    }

    /// The tools it is for; `None` for all.
    pub fn filter(&self) -> Option<&[String]> {
        self.tool_names.as_deref()
    }

    /// Seconds of one run.
    pub fn limit_seconds(&self) -> f64 {
        self.timeout_seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_before_event_is_exactly_the_documented_json() {
        let event = HookEvent {
            event: HookEventKind::ToolBefore,
            agent_id: "main".into(),
            session_id: "telegram/main/group/-100".into(),
            workspace: "/srv/bot/data/workspace".into(),
            run_id: "t9".into(),
            activation_id: "a1".into(),
            occurred_at: DateTime::from_timestamp(1_772_359_200, 0).unwrap(),
            payload: HookPayload::ToolBefore {
                call_id: "c1".into(),
                tool_name: "maps__get-weather".into(),
                arguments: json!({"city": "Paris", "days": 2}).as_object().unwrap().clone(),
            },
            cancellation: CancellationSignal::new(),
            timeout_seconds: 10.0,
        };
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(
            text,
            r#"{"event":"tool.before","agent_id":"main","session_id":"telegram/main/group/-100","workspace":"/srv/bot/data/workspace","run_id":"t9","activation_id":"a1","occurred_at":"2026-03-01T10:00:00Z","call_id":"c1","tool_name":"maps__get-weather","arguments":{"city":"Paris","days":2}}"#
        );
        assert_eq!(serde_json::from_str::<HookEvent>(&text).unwrap().payload, event.payload);
    }

    #[test]
    fn an_after_event_reads_back_as_one() {
        let mut result = ToolResult::text("sunny");
        result.tool_use_id = "c1".into();
        let payload = HookPayload::ToolAfter {
            call_id: "c1".into(),
            tool_name: "w".into(),
            arguments: Map::new(),
            result: Box::new(result),
            body_status: BodyStatus::Success,
        };
        let value = serde_json::to_value(&payload).unwrap();
        assert_eq!(value["body_status"], "success");
        assert_eq!(serde_json::from_value::<HookPayload>(value).unwrap(), payload);
    }

    #[test]
    fn an_answer_has_no_other_key() {
        assert_eq!(serde_json::from_str::<HookResult>("{}").unwrap(), HookResult::nothing());
        assert!(serde_json::from_str::<HookResult>(r#"{"deny":"x"}"#).is_err());
        assert_eq!(HookResult::deny("x").misplaced(HookEventKind::ToolAfter), Some("deny_reason"));
        assert_eq!(HookResult::feedback("x").misplaced(HookEventKind::ToolAfter), None);
    }

    #[test]
    fn a_registration_is_judged() {
        let of = |kind| HookRegistration::new(kind, "h", |_event: HookEvent| async { Ok(HookResult::nothing()) });
        assert!(of(HookEventKind::RunStarted).check().is_ok());
        for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY, 60.5] {
            assert_eq!(
                of(HookEventKind::ToolBefore).timeout_seconds(seconds).check().unwrap_err().code,
                "hook::bad-value"
            );
        }
        assert_eq!(of(HookEventKind::RunStarted).tool_names(["a"]).check().unwrap_err().code, "hook::tools-filter");
        let blank = HookRegistration::new(HookEventKind::ToolBefore, " ", |_event: HookEvent| async {
            Ok(HookResult::nothing())
        });
        assert_eq!(blank.check().unwrap_err().code, "hook::bad-value");
    }
}
