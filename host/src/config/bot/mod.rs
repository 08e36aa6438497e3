//! `bot.toml` as typed values. Field names are the keys; defaults are the contract's.
//! A key that is not here is unknown; those of later builds are named in `load/contract.rs`.

mod access;
mod agent;
mod host;
mod models;
mod tools;

pub use access::*;
pub use agent::*;
pub use host::*;
pub use models::*;
pub use tools::*;

use super::Secret;
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
