//! `bot.toml` as typed values. Field names are the keys; defaults are the contract's.
//! A key that is not here is unknown; sections of later builds are named in `unbuilt.rs`.

use super::Secret;
use plugin_sdk::PreviewMode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A table of string keys in a fixed order.
pub type Table<T> = BTreeMap<String, T>;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 08 §1
pub struct BotConfig {
    /// Names, language and data folder.
    pub bot: BotSection,
    /// Models by name.
    pub models: Table<ModelConfig>,
    /// Secrets a plugin may be granted by name.
    pub secrets: Table<Secret>,
    /// The agent loop.
    pub agent: AgentConfig,
    /// Endpoints: `adapters.<kind>.<name>`; each adapter checks its own table.
    pub adapters: Table<Table<Map<String, Value>>>,
    /// Who is let in.
    pub access: AccessConfig,
    /// When a person is asked.
    pub approval: ApprovalConfig,
    /// Limits.
    pub limits: LimitsConfig,
    /// Tool switches.
    pub tools: ToolsConfig,
    /// Files of turns.
    pub workspace: WorkspaceConfig,
    /// Reloading.
    pub reload: ReloadConfig,
    /// The store.
    pub store: StoreConfig,
    /// Logs.
    pub telemetry: TelemetryConfig,
    /// Plugins.
    pub plugins: PluginsConfig,
}

/// `[bot]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 08 §1
pub struct BotSection {
    /// Name in texts; the folder's name when left out.
    pub name: Option<String>,
    /// Language of system texts.
    pub language: Language,
    /// IANA zone in which times are shown.
    pub timezone: String,
    /// Answer to `/start`, Markdown.
    #[schemars(length(max = 2000))]
    pub greeting: Option<String>,
    /// Data folder, relative to the bot folder.
    #[schemars(length(min = 1))]
    pub data_dir: String,
}

impl Default for BotSection {
    fn default() -> Self {
        Self { name: None, language: Language::En, timezone: "UTC".into(), greeting: None, data_dir: "data".into() }
    }
}

/// Languages that ship.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

/// Wire formats of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// The built-in deterministic model.
    Offline,
    /// Chat completions.
    Openai,
}

/// Which subset of JSON Schema a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SchemaProfile {
    /// OpenAI's.
    Openai,
    /// Anthropic's.
    Anthropic,
    /// The smallest common one.
    Minimal,
}

/// `[models.NAME]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
// SHAPE: 08 §1
pub struct ModelConfig {
    /// Wire format.
    pub provider: Provider,
    /// Model id; required unless `offline`.
    #[serde(default)]
    pub model: String,
    /// Base URL; the vendor's when left out.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Key, sent as a bearer token.
    #[serde(default)]
    pub api_key: Option<Secret>,
    /// Tokens.
    #[serde(default = "default_context_window")]
    #[schemars(range(min = 1000))]
    pub context_window: u64,
    /// Tokens of one answer.
    #[serde(default = "default_max_output_tokens")]
    #[schemars(range(min = 1))]
    pub max_output_tokens: u64,
    /// Sent when set.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// Further headers; values may be secrets.
    #[serde(default)]
    pub headers: Table<Secret>,
    /// Whole request.
    #[serde(default = "default_model_timeout")]
    pub timeout_seconds: f64,
    /// Until the first byte.
    #[serde(default = "default_first_byte")]
    pub first_byte_seconds: f64,
    /// Repeats of a failed request.
    #[serde(default = "default_retries")]
    #[schemars(range(max = 10))]
    pub retries: u32,
    /// Whether a missing variable refuses.
    #[serde(default)]
    pub required: bool,
    /// Per million tokens.
    #[serde(default)]
    pub price_in: f64,
    /// Per million tokens.
    #[serde(default)]
    pub price_out: f64,
    /// Per million tokens; `price_in` when left out.
    #[serde(default)]
    pub price_cached: Option<f64>,
    /// The provider's when left out.
    #[serde(default)]
    pub schema_profile: Option<SchemaProfile>,
    /// Most tools in one request.
    #[serde(default = "default_max_tools")]
    #[schemars(range(min = 1))]
    pub max_tools: usize,
}

fn default_context_window() -> u64 {
    128_000
}
fn default_max_output_tokens() -> u64 {
    4096
}
fn default_model_timeout() -> f64 {
    120.0
}
fn default_first_byte() -> f64 {
    30.0
}
fn default_retries() -> u32 {
    2
}
fn default_max_tools() -> usize {
    128
}

/// Who shares a session in groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SessionScope {
    /// Everybody in the conversation.
    #[default]
    Conversation,
    /// Each person has one.
    User,
}

/// What a message during a turn does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnNewMessage {
    /// Waits.
    #[default]
    Queue,
    /// Ends the running turn.
    Supersede,
}

/// `[agent]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 08 §1
pub struct AgentConfig {
    /// Main model: `default` if declared, else `offline`.
    pub model: Option<String>,
    /// Model steps of a turn.
    #[schemars(range(min = 1, max = 200))]
    pub max_iterations: u32,
    /// Clock of a turn.
    #[schemars(range(min = 1))]
    pub turn_timeout_seconds: f64,
    /// Read-only window.
    #[schemars(range(min = 1, max = 64))]
    pub max_parallel_tools: usize,
    /// Equal calls with equal results before the next is refused.
    #[schemars(range(min = 1))]
    pub loop_guard: u32,
    /// One budget for all prompt blocks, characters.
    #[schemars(range(min = 1))]
    pub system_prompt_max_chars: usize,
    /// Who shares a session in groups.
    pub session_scope: SessionScope,
    /// A message during a turn.
    pub on_new_message: OnNewMessage,
    /// Skills in the workspace.
    pub skills: WorkspaceSkills,
    /// The deferred controller.
    pub deferred_tools: DeferredConfig,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            model: None,
            max_iterations: 15,
            turn_timeout_seconds: 120.0,
            max_parallel_tools: 8,
            loop_guard: 3,
            system_prompt_max_chars: 100_000,
            session_scope: SessionScope::Conversation,
            on_new_message: OnNewMessage::Queue,
            skills: WorkspaceSkills::default(),
            deferred_tools: DeferredConfig::default(),
        }
    }
}

/// `[agent.skills]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkspaceSkills {
    /// Off by default.
    pub enabled: bool,
    /// Relative to `workspace.root`, inside it.
    pub root: String,
    /// Names that must be there.
    pub require: Vec<String>,
}

impl Default for WorkspaceSkills {
    fn default() -> Self {
        Self { enabled: false, root: ".agents/skills".into(), require: Vec::new() }
    }
}

/// How the model finds deferred tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeferredForm {
    /// `discover` and `load_tool`.
    #[default]
    Discover,
    /// `tool_search`, which loads its hits.
    ToolSearch,
}

/// `[agent.deferred_tools]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 08 §1
pub struct DeferredConfig {
    /// Form of discovery.
    pub form: DeferredForm,
    /// Loaded tools of a session.
    #[schemars(range(min = 1))]
    pub max_loaded_per_session: usize,
    /// Loaded skills of a session.
    #[schemars(range(min = 1))]
    pub max_skills_per_session: usize,
    /// Default `limit` of `discover`.
    #[schemars(range(min = 1, max = 20))]
    pub discover_top_k: usize,
    /// Send all when the schemas together are shorter; 0 = off.
    pub load_all_below_chars: usize,
    /// Always visible; `None` = the default list, whose absent names are skipped silently.
    pub always_loaded_tools: Option<Vec<String>>,
}

/// The default of `agent.deferred_tools.always_loaded_tools`.
pub const DEFAULT_ALWAYS_LOADED: [&str; 5] = ["ask_user", "spawn_task", "discover", "load_tool", "load_skill"];

impl Default for DeferredConfig {
    fn default() -> Self {
        Self {
            form: DeferredForm::Discover,
            max_loaded_per_session: 12,
            max_skills_per_session: 5,
            discover_top_k: 5,
            load_all_below_chars: 0,
            always_loaded_tools: None,
        }
    }
}

/// How strangers are met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AccessMode {
    /// Only who is listed.
    #[default]
    Allowlist,
    /// Everybody.
    Open,
    /// Strangers get a code.
    Pairing,
}

/// `[access]`: part of `LivePolicy`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 08 §1
pub struct AccessConfig {
    /// Mode.
    pub mode: AccessMode,
    /// `platform:id`.
    pub masters: Vec<String>,
    /// `platform:id`.
    pub trusted: Vec<String>,
    /// `platform:id`, private chats.
    pub users: Vec<String>,
    /// `platform:scene`, `platform:*`.
    pub groups: Vec<String>,
    /// Wins over all but masters.
    pub deny: Vec<String>,
    /// One sentence a day to private strangers.
    pub stranger_reply: bool,
}

impl Default for AccessConfig {
    fn default() -> Self {
        Self {
            mode: AccessMode::Allowlist,
            masters: Vec::new(),
            trusted: Vec::new(),
            users: Vec::new(),
            groups: Vec::new(),
            deny: Vec::new(),
            stranger_reply: true,
        }
    }
}

/// A capability policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A person is asked.
    #[default]
    Confirm,
    /// Runs.
    Allow,
    /// Refused.
    Deny,
}

/// `[approval]`: part of `LivePolicy`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 08 §1
pub struct ApprovalConfig {
    /// Policy of writing tools.
    pub write_mode: Mode,
    /// Policy of executing tools.
    pub execute_mode: Mode,
    /// A master's own request is not asked about, in private and on the console only.
    pub auto_approve_master: bool,
    /// Permits of who may answer.
    pub approvers: Vec<String>,
    /// Seconds a question stays open.
    #[schemars(range(min = 10, max = 3600))]
    pub timeout_seconds: u64,
    /// Questions of one turn.
    #[schemars(range(min = 1))]
    pub max_per_turn: u32,
}

impl Default for ApprovalConfig {
    fn default() -> Self {
        Self {
            write_mode: Mode::Confirm,
            execute_mode: Mode::Confirm,
            auto_approve_master: false,
            approvers: vec!["role(trusted)".into()],
            timeout_seconds: 180,
            max_per_turn: 10,
        }
    }
}

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
            artifacts_max_mb: 1024,
            artifact_days: 30,
            command_parallel: 8,
            shutdown_seconds: 8,
        }
    }
}

/// `[tools]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 08 §1
pub struct ToolsConfig {
    /// Built-in keys that are on.
    pub builtin: Vec<String>,
    /// Permits per built-in key or tool.
    pub permissions: Table<Vec<String>>,
    /// Lets in and sends from the start.
    pub allow: Option<Vec<String>>,
    /// Out, whatever else says.
    pub deny: Vec<String>,
    /// Only these groups.
    pub include_groups: Option<Vec<String>>,
    /// Switched off.
    pub disabled: Vec<String>,
    /// Per tool or glob.
    #[serde(rename = "override")]
    pub overrides: Table<ToolOverride>,
    /// Longer model text becomes an artifact.
    #[schemars(range(min = 100))]
    pub max_result_chars: usize,
    /// Preview of a saved text.
    #[schemars(range(min = 1))]
    pub preview_chars: usize,
    /// Form of the preview.
    pub preview_mode: PreviewMode,
    /// Deadline of a call.
    #[schemars(range(max = 3600))]
    pub timeout_seconds: f64,
}

impl Default for ToolsConfig {
    fn default() -> Self {
        Self {
            builtin: vec!["human.ask".into()],
            permissions: Table::new(),
            allow: None,
            deny: Vec::new(),
            include_groups: None,
            disabled: Vec::new(),
            overrides: Table::new(),
            max_result_chars: 50_000,
            preview_chars: 8_000,
            preview_mode: PreviewMode::Head,
            timeout_seconds: 60.0,
        }
    }
}

/// The only value of `tools.override.NAME.approval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OverrideApproval {
    /// Refuses everybody.
    Deny,
}

/// `[tools.override."NAME"]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolOverride {
    /// Replaces the tool's declaration.
    pub requires_approval: Option<plugin_sdk::Approval>,
    /// Refuses everybody.
    pub approval: Option<OverrideApproval>,
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
    pub disabled: Vec<String>,
    /// Further globs of the root plugin's file set.
    pub include: Vec<String>,
    /// Further ignore rules, gitignore syntax.
    pub ignore: Vec<String>,
    /// Runtimes that are on.
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
