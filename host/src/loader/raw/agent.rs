//! `agent.json`.

use super::yes;
use crate::config::Mode;
use plugin_sdk::Scope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An agent manifest.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "agent.json")]
// SHAPE: 01 §5
pub(crate) struct AgentFile {
    /// Shown.
    #[schemars(regex(pattern = r"\S"), extend("x-help" = "write the name that people see"))]
    pub(crate) name: String,
    /// What it is for.
    #[schemars(regex(pattern = r"\S"), extend("x-help" = "write what the agent is for"))]
    pub(crate) description: String,
    /// Semantic version.
    pub(crate) version: String,
    /// Markdown files in the agent's folder, in the order of the prompt.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    #[expect(dead_code, reason = "read from the document, where its faults have places")]
    pub(crate) entry_points: Option<Vec<String>>,
    /// Ranks the agent; never chooses it.
    #[serde(default)]
    pub(crate) trigger_rules: TriggerRules,
    /// Public tools added while it is chosen.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true), inner(length(min = 1)))]
    pub(crate) tools: Vec<String>,
    /// Public skills added while it is chosen.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true), inner(length(min = 1)))]
    pub(crate) skills: Vec<String>,
    /// Tools removed last.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true), inner(length(min = 1)))]
    pub(crate) disallowed_tools: Vec<String>,
    /// Adapter kinds whose messages it answers; the folder's own name when that is one, else none.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true), inner(regex(pattern = r"\S")))]
    pub(crate) platforms: Option<Vec<String>>,
    /// Whether it is chosen by itself on these platforms.
    #[serde(default = "yes")]
    pub(crate) auto_select: bool,
    /// Places; empty = all.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) scopes: Vec<Scope>,
    /// Permits that must all hold.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) permissions: Vec<String>,
    /// Search tags.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true), inner(length(min = 1)))]
    pub(crate) tags: Vec<String>,
    /// Free label.
    #[serde(default)]
    pub(crate) role: Option<String>,
    /// What it sees of a conversation as a sub-agent.
    #[serde(default)]
    pub(crate) context_mode: ContextMode,
    /// Model steps in words.
    #[serde(default)]
    pub(crate) effort: Option<Effort>,
    /// Model steps; wins over `effort`.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) max_iterations: Option<u32>,
    /// A model of `[models]`; the bot's when left out.
    #[serde(default)]
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) model: Option<String>,
    /// A provider of `[models]`.
    #[serde(default)]
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) provider: Option<String>,
    /// Whose memory it uses.
    #[serde(default)]
    pub(crate) memory: MemoryScope,
    /// Folder as a sub-agent; relative to the parent's.
    #[serde(default)]
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) workspace: Option<String>,
    /// Policies as a sub-agent; never wider than the parent's.
    #[serde(default)]
    pub(crate) approval: AgentApproval,
}

/// `trigger_rules`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TriggerRules {
    /// Search words.
    #[schemars(extend("uniqueItems" = true), inner(length(min = 1)))]
    pub keywords: Vec<String>,
    /// File names it is good with, as globs.
    #[schemars(extend("uniqueItems" = true), inner(length(min = 1)))]
    pub file_patterns: Vec<String>,
}

/// `context_mode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ContextMode {
    /// The conversation so far.
    Fork,
    /// Nothing but its task.
    #[default]
    Fresh,
}

/// `effort`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// 3 steps.
    Low,
    /// 5 steps.
    Medium,
    /// 10 steps.
    High,
    /// 20 steps.
    Max,
}

impl Effort {
    /// Model steps.
    pub fn steps(self) -> u32 {
        match self {
            Effort::Low => 3,
            Effort::Medium => 5,
            Effort::High => 10,
            Effort::Max => 20,
        }
    }
}

/// `memory`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemoryScope {
    /// The person's.
    User,
    /// The conversation's.
    #[default]
    Session,
    /// The agent's own.
    Agent,
}

/// `approval`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentApproval {
    /// Policy of writing tools; the bot's when left out.
    pub write_mode: Option<Mode>,
    /// Policy of executing tools; the bot's when left out.
    pub execute_mode: Option<Mode>,
}
