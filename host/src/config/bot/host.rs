//! What the host itself keeps to: limits, workspace, reloads, store, logs, plugins.

use super::Table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `[limits]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 08 §1
pub struct LimitsConfig {
    /// Turn places.
    #[schemars(range(min = 1))]
    pub max_concurrent_turns: usize,
    /// Waiting messages of a conversation.
    #[schemars(range(min = 1))]
    pub queue_per_conversation: usize,
    /// Turn places of one person.
    #[schemars(range(min = 1))]
    pub places_per_principal: usize,
    /// Open cards and questions of one person, over all sessions.
    #[schemars(range(min = 1))]
    pub cards_per_principal: usize,
    /// Turns one person may start within a minute; 0 = no limit.
    pub turns_per_user_per_minute: usize,
    /// Seconds a person waits who was too fast.
    #[schemars(range(min = 1, max = 3600))]
    pub cooldown_seconds: u64,
    /// Tokens of one person a UTC day; 0 = no limit.
    pub tokens_per_user_per_day: u64,
    /// Cost of all a UTC day; 0 = no limit.
    #[schemars(range(min = 0.0))]
    pub usd_per_day: f64,
    /// Disk for artifacts.
    #[schemars(range(min = 1))]
    pub artifacts_max_mb: u64,
    /// Age of artifacts.
    #[schemars(range(min = 1))]
    pub artifact_days: u64,
    /// Plugin commands at a time.
    #[schemars(range(min = 1))]
    pub command_parallel: usize,
    /// Whole shutdown budget.
    #[schemars(range(min = 1))]
    pub shutdown_seconds: u64,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            max_concurrent_turns: 16,
            queue_per_conversation: 20,
            places_per_principal: 2,
            cards_per_principal: 3,
            turns_per_user_per_minute: 20,
            cooldown_seconds: 10,
            tokens_per_user_per_day: 0,
            usd_per_day: 0.0,
            artifacts_max_mb: 1024,
            artifact_days: 30,
            command_parallel: 8,
            shutdown_seconds: 8,
        }
    }
}

/// Folder of a turn's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkspaceScope {
    /// One folder per session.
    #[default]
    Session,
    /// One for all.
    Bot,
}

/// `[workspace]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkspaceConfig {
    /// Relative to the data folder.
    #[schemars(length(min = 1))]
    pub root: String,
    /// Folder of a turn.
    pub scope: WorkspaceScope,
    /// Allows a root that lets the model rewrite its plugins.
    pub allow_bot_folder: bool,
}

impl Default for WorkspaceConfig {
    fn default() -> Self {
        Self { root: "workspace".into(), scope: WorkspaceScope::Session, allow_bot_folder: false }
    }
}

/// How changes are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WatchMode {
    /// Events, polling where they fail.
    #[default]
    Auto,
    /// Events only.
    Events,
    /// Polling only.
    Poll,
    /// Explicit reloads only.
    Off,
}

/// What a broken plugin does to a reload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnBrokenPlugin {
    /// The candidate is rejected.
    #[default]
    Refuse,
}

/// `[reload]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 08 §1
pub struct ReloadConfig {
    /// How changes are noticed.
    pub watch: WatchMode,
    /// Quiet time after the last event.
    #[schemars(range(min = 1))]
    pub settle_ms: u64,
    /// At most this long after the first.
    #[schemars(range(min = 1))]
    pub max_settle_ms: u64,
    /// Poll interval.
    #[schemars(range(min = 50))]
    pub poll_ms: u64,
    /// A broken plugin.
    pub on_broken_plugin: OnBrokenPlugin,
    /// Repeats refusals by passing faults.
    pub retry: bool,
    /// Whole prepare.
    #[schemars(range(min = 1))]
    pub prepare_timeout_seconds: f64,
    /// After retirement; 0 = never.
    #[schemars(range(min = 0))]
    pub lease_deadline_seconds: f64,
    /// Retired generations alive before reloads wait.
    #[schemars(range(min = 1))]
    pub max_retired: usize,
    /// Quarantined instances before `ready` says so.
    #[schemars(range(min = 1))]
    pub max_quarantined: usize,
}

impl Default for ReloadConfig {
    fn default() -> Self {
        Self {
            watch: WatchMode::Auto,
            settle_ms: 200,
            max_settle_ms: 2000,
            poll_ms: 1000,
            on_broken_plugin: OnBrokenPlugin::Refuse,
            retry: true,
            prepare_timeout_seconds: 60.0,
            lease_deadline_seconds: 600.0,
            max_retired: 8,
            max_quarantined: 16,
        }
    }
}

/// `[store]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StoreConfig {
    /// Background flush.
    #[schemars(range(min = 10, max = 10000))]
    pub flush_every_ms: u64,
    /// Page cache.
    #[schemars(range(min = 1))]
    pub cache_mb: u64,
    /// Less free space than this is a warning.
    pub min_free_mb: u64,
    /// Age of journal events.
    #[schemars(range(min = 1))]
    pub journal_days: u64,
    /// Idle sessions; 0 = keep.
    pub session_days: u64,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self { flush_every_ms: 500, cache_mb: 64, min_free_mb: 200, journal_days: 90, session_days: 0 }
    }
}

/// Log levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Errors.
    Error,
    /// And warnings.
    Warn,
    /// And what happens.
    #[default]
    Info,
    /// And details.
    Debug,
    /// Everything.
    Trace,
}

/// Log forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One object a line.
    Json,
}

/// `[telemetry]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TelemetryConfig {
    /// Level.
    pub log_level: LogLevel,
    /// `text`; `json` without a terminal.
    pub log_format: Option<LogFormat>,
    /// File instead of stderr.
    pub log_file: Option<String>,
    /// Message texts in logs.
    pub log_content: bool,
}

/// `[plugins]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 08 §1
pub struct PluginsConfig {
    /// Search folders.
    pub paths: Vec<String>,
    /// Owners switched off.
    #[schemars(extend("uniqueItems" = true))]
    pub disabled: Vec<String>,
    /// Further globs of the root plugin's file set.
    pub include: Vec<String>,
    /// Further ignore rules, gitignore syntax.
    pub ignore: Vec<String>,
    /// Runtimes that are on.
    #[schemars(extend("uniqueItems" = true))]
    pub runtimes: Vec<String>,
    /// Configuration by owner.
    pub config: Table<Map<String, Value>>,
}

impl Default for PluginsConfig {
    fn default() -> Self {
        Self {
            paths: vec!["plugins".into()],
            disabled: Vec::new(),
            include: Vec::new(),
            ignore: Vec::new(),
            runtimes: vec!["command".into(), "native".into(), "wasm".into()],
            config: Table::new(),
        }
    }
}
