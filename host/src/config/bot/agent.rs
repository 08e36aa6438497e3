//! `[agent]`.

use super::Table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Which agent answers a platform by itself, `OWNER/NAME`, where two would.
    pub platform_agents: Table<String>,
    /// Skills in the workspace.
    pub skills: WorkspaceSkills,
    /// The deferred controller.
    pub deferred_tools: DeferredConfig,
    /// Read-back of the history (`context_read`, `context_search`) and shortening of old results.
    pub context_tools: bool,
    /// Summaries in place of older messages.
    pub compaction: CompactionConfig,
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
            platform_agents: Table::default(),
            skills: WorkspaceSkills::default(),
            deferred_tools: DeferredConfig::default(),
            context_tools: true,
            compaction: CompactionConfig::default(),
        }
    }
}

/// `[agent.compaction]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CompactionConfig {
    /// Off: only the limit of the window acts.
    pub enabled: bool,
    /// Share of the model's window, in percent, that starts it.
    #[schemars(range(min = 10, max = 95))]
    pub at_percent: u64,
    /// Newest tokens that stay as they are.
    pub keep_tokens: u64,
    /// Newest messages that stay, however long.
    #[schemars(range(min = 1))]
    pub keep_messages: usize,
    /// Model that writes the summary; the turn's when left out.
    pub model: Option<String>,
}

impl Default for CompactionConfig {
    fn default() -> Self {
        Self { enabled: true, at_percent: 60, keep_tokens: 20_000, keep_messages: 2, model: None }
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
    #[schemars(extend("uniqueItems" = true))]
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
    #[schemars(extend("uniqueItems" = true))]
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
