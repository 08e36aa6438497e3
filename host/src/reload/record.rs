//! The record of one reload: the contract of `reload`, `status`, the console and the log.

use crate::candidate::Report;
use chrono::{DateTime, Utc};
use plugin_sdk::Diagnostic;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What asked for a reload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// The start of the process.
    Start,
    /// Files changed.
    Watch,
    /// The command line.
    Command,
    /// A chat command of a master.
    Chat,
    /// The console or its API.
    Api,
    /// SIGHUP.
    Signal,
    /// A refusal that time may have cured.
    Retry,
}

impl Trigger {
    /// Contract name.
    pub fn as_str(self) -> &'static str {
        match self {
            Trigger::Start => "start",
            Trigger::Watch => "watch",
            Trigger::Command => "command",
            Trigger::Chat => "chat",
            Trigger::Api => "api",
            Trigger::Signal => "signal",
            Trigger::Retry => "retry",
        }
    }

    /// By contract name.
    pub fn parse(name: &str) -> Option<Self> {
        use Trigger::{Api, Chat, Command, Retry, Signal, Start, Watch};
        [Start, Watch, Command, Chat, Api, Signal, Retry].into_iter().find(|t| t.as_str() == name)
    }

    /// Whether a person or program asked, as opposed to the host itself.
    pub fn is_explicit(self) -> bool {
        !matches!(self, Trigger::Watch | Trigger::Retry)
    }
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A new generation answers.
    Published,
    /// Errors; the former generation answers on.
    Rejected,
    /// Nothing had changed.
    Unchanged,
    /// Only process keys had changed.
    RestartRequired,
}

/// The smallest true description of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Plan {
    /// Contents of one plugin, no name came or went.
    Slot,
    /// One plugin, with what lies in it or depends on it.
    Subtree,
    /// Plugins came or went, or several changed that have nothing to do with each other.
    Topology,
    /// Only process keys.
    Restart,
    /// Nothing.
    Nothing,
}

/// Names of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Changes {
    /// New.
    pub added: Vec<String>,
    /// Gone.
    pub removed: Vec<String>,
    /// Different.
    pub changed: Vec<String>,
}

impl Changes {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }

    /// Whether a name came or went.
    pub fn moves_names(&self) -> bool {
        !self.added.is_empty() || !self.removed.is_empty()
    }
}

/// Scenario files of the gate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TestCounts {
    /// Ran.
    pub run: u64,
    /// Failed.
    pub failed: u64,
}

/// One reload.
// SHAPE: 02 §14
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReloadRecord {
    /// `r42`.
    pub id: String,
    /// What asked for it, each once, sorted.
    pub triggers: Vec<Trigger>,
    /// Text form of the principal.
    pub requested_by: Option<String>,
    /// When.
    pub started_at: DateTime<Utc>,
    /// How long.
    pub duration_ms: f64,
    /// Milliseconds per step.
    pub steps: Map<String, Value>,
    /// Generation before.
    pub from: Option<u64>,
    /// Generation published by it.
    pub to: Option<u64>,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the live policy was exchanged.
    pub policy_applied: bool,
    /// First step with an error.
    pub failed_step: Option<String>,
    /// Kind of change.
    pub plan: Plan,
    /// Owners that changed.
    pub owners: Vec<String>,
    /// Changed names per kind.
    pub changes: BTreeMap<String, Changes>,
    /// Plugins carried over.
    pub plugins_reused: u64,
    /// Plugins made anew.
    pub plugins_rebuilt: u64,
    /// Owners kept at their former version.
    pub kept: Vec<String>,
    /// Owners left out.
    pub failed: Vec<String>,
    /// Owners whose files still changed.
    pub settling: Vec<String>,
    /// Files opened.
    pub files_read: u64,
    /// Bytes copied.
    pub bytes_copied: u64,
    /// Scenario gate.
    pub tests: TestCounts,
    /// Permissions that grew.
    pub permissions_widened: Vec<String>,
    /// Endpoints restarted by it.
    pub endpoints_restarted: Vec<String>,
    /// Process keys that wait for a restart.
    pub restart_keys: Vec<String>,
    /// Digest of the active input before.
    pub digest_before: Option<String>,
    /// Digest of the input that was prepared.
    pub digest_after: Option<String>,
    /// Number of the canary, when it published one.
    pub canary: Option<u64>,
    /// Number whose inputs it published again.
    pub rollback_of: Option<u64>,
    /// All findings, sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// When the last lease on `from` came back.
    pub drained_at: Option<DateTime<Utc>>,
    /// When `from` was disposed.
    pub disposed_at: Option<DateTime<Utc>>,
    /// Turns of `from` that its deadline cancelled.
    pub turns_cancelled: u64,
    /// Owners of instances that could not be disposed.
    pub quarantined: Vec<String>,
}

impl ReloadRecord {
    /// A record of what a preparation did; the verdict is still to come.
    pub(super) fn of(report: &Report, began: &Began) -> Self {
        let steps = report.steps.iter().map(|(name, ms)| ((*name).to_owned(), Value::from(*ms))).collect();
        let text = |owners: &[plugin_sdk::OwnerPath]| owners.iter().map(ToString::to_string).collect::<Vec<_>>();
        Self {
            id: began.id.clone(),
            triggers: began.triggers.clone(),
            requested_by: began.requested_by.clone(),
            started_at: began.at,
            duration_ms: 0.0,
            steps,
            from: began.from,
            to: None,
            outcome: Outcome::Unchanged,
            policy_applied: report.policy_applied,
            failed_step: None,
            plan: Plan::Nothing,
            owners: Vec::new(),
            changes: BTreeMap::new(),
            plugins_reused: report.reused.len() as u64,
            plugins_rebuilt: report.rebuilt.len() as u64,
            kept: Vec::new(),
            failed: Vec::new(),
            settling: text(&report.settling),
            files_read: report.files_read,
            bytes_copied: report.bytes_copied,
            tests: TestCounts::default(),
            permissions_widened: Vec::new(),
            endpoints_restarted: Vec::new(),
            restart_keys: report.restart_keys.clone(),
            digest_before: began.digest.clone(),
            digest_after: Some(report.digest.clone()).filter(|d| !d.is_empty()),
            canary: None,
            rollback_of: None,
            diagnostics: report.diagnostics.clone(),
            drained_at: None,
            disposed_at: None,
            turns_cancelled: 0,
            quarantined: Vec::new(),
        }
    }

    /// Whether every error may pass by itself.
    pub fn may_pass(&self) -> bool {
        let mut errors = self.diagnostics.iter().filter(|d| d.is_error()).peekable();
        errors.peek().is_some() && errors.all(|d| PASSING.contains(&d.code.as_str()))
    }
}

/// Codes of faults that only time can cure.
pub(super) const PASSING: [&str; 3] = ["reload::copy-failed", "reload::unstable-input", "seal::not-recorded"];

/// What is known of a reload at its beginning.
#[derive(Debug, Clone)]
pub(super) struct Began {
    pub(super) id: String,
    pub(super) triggers: Vec<Trigger>,
    pub(super) requested_by: Option<String>,
    pub(super) at: DateTime<Utc>,
    pub(super) from: Option<u64>,
    pub(super) digest: Option<String>,
}
