//! What a tool is: its definition, whoever declares it and however it runs.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// When a call needs a person's yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Approval {
    /// The tool itself never asks; capability policies still may.
    Never,
    /// Asks unless the call is known to be harmless.
    #[default]
    OnRisk,
    /// Asks once a session.
    Once,
    /// Asks every time.
    Always,
}

/// What a tool can do. Undeclared is unknown, not harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Capability {
    /// Reads data.
    Read,
    /// Changes data.
    Write,
    /// Executes programs.
    Execute,
    /// Uses the network.
    Network,
    /// Calls an MCP server.
    Mcp,
    /// Starts another agent.
    Agent,
}

/// What the context view may do with old results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ContextRetention {
    /// Stays whole.
    #[default]
    Keep,
    /// May be shortened later.
    Observation,
}

/// Which part of a saved long result stays visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PreviewMode {
    /// The first characters.
    #[default]
    Head,
    /// Both ends.
    HeadTail,
}

/// Where a synchronous native function runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExecutionMode {
    /// On the caller's task.
    #[default]
    Inline,
    /// On a worker thread.
    Thread,
}

/// An example call; its input must satisfy the visible schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolExample {
    /// Arguments.
    pub input: Map<String, Value>,
    /// What it shows.
    #[serde(default)]
    pub note: Option<String>,
}

/// A tool offered as a chat command too.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChatCommand {
    /// Command word; the tool's local name when left out.
    pub name: Option<String>,
    /// Further words.
    pub aliases: Vec<String>,
    /// String property that takes the rest of the line.
    pub argument: Option<String>,
    /// Shown after the word in help.
    pub usage: Option<String>,
}

/// The optional part of a definition; the defaults are those of `tool.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
// SHAPE: 01 §3.2
pub struct ToolOptions {
    /// When a call asks.
    pub requires_approval: Approval,
    /// Adapter kinds it exists for; empty = all.
    pub platforms: Vec<String>,
    /// Places it exists in; empty = all.
    pub scopes: Vec<crate::Scope>,
    /// Permits, all must hold.
    pub permissions: Vec<String>,
    /// Adapter whose client the tool gets.
    pub adapter: Option<String>,
    /// Never listed or sent to a model.
    pub hidden: bool,
    /// `None` = unknown, empty = pure.
    pub capabilities: Option<Vec<Capability>>,
    /// Catalog group.
    pub group: String,
    /// Search tags.
    pub tags: Vec<String>,
    /// Search keywords.
    pub keywords: Vec<String>,
    /// Shown version.
    pub version: Option<String>,
    /// Free metadata.
    pub metadata: Map<String, Value>,
    /// Further local names.
    pub aliases: Vec<String>,
    /// Example calls.
    pub examples: Vec<ToolExample>,
    /// Sentence after the description when deprecated (already resolved).
    pub deprecation: Option<String>,
    /// Sent from the first step.
    pub always_loaded: bool,
    /// Deadline in seconds; `None` = `tools.timeout_seconds`.
    pub timeout_seconds: Option<f64>,
    /// Longer text becomes an artifact; `None` = the bot's value.
    pub max_result_chars: Option<usize>,
    /// Preview length; `None` = the bot's value.
    pub preview_chars: Option<usize>,
    /// Preview form; `None` = the bot's value.
    pub preview_mode: Option<PreviewMode>,
    /// What the context view may do.
    pub context_retention: ContextRetention,
    /// Whether calls may overlap.
    pub concurrency_safe: bool,
    /// Where a synchronous function runs.
    pub execution_mode: ExecutionMode,
    /// Chat command form.
    pub command: Option<ChatCommand>,
}

impl Default for ToolOptions {
    fn default() -> Self {
        Self {
            requires_approval: Approval::OnRisk,
            platforms: Vec::new(),
            scopes: Vec::new(),
            permissions: Vec::new(),
            adapter: None,
            hidden: false,
            capabilities: None,
            group: "core".into(),
            tags: Vec::new(),
            keywords: Vec::new(),
            version: None,
            metadata: Map::new(),
            aliases: Vec::new(),
            examples: Vec::new(),
            deprecation: None,
            always_loaded: false,
            timeout_seconds: None,
            max_result_chars: None,
            preview_chars: None,
            preview_mode: None,
            context_retention: ContextRetention::Keep,
            concurrency_safe: true,
            execution_mode: ExecutionMode::Inline,
            command: None,
        }
    }
}

/// A tool definition: the same value from a folder, a `setup`, an MCP server or the host itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDef {
    /// What the model reads; not blank, at most 4,096 characters.
    pub description: String,
    /// JSON Schema (draft 2020-12 unless it names another), root `object`.
    pub input_schema: Value,
    /// Arguments bound by the host; they leave the visible schema.
    pub preset: Map<String, Value>,
    /// Everything optional.
    #[serde(flatten)]
    pub options: ToolOptions,
}

impl ToolDef {
    /// A definition with an empty input schema and default options.
    pub fn new(description: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            input_schema: serde_json::json!({"type": "object", "properties": {}}),
            preset: Map::new(),
            options: ToolOptions::default(),
        }
    }

    /// Sets the input schema.
    #[must_use]
    pub fn input_schema(mut self, schema: Value) -> Self {
        self.input_schema = schema;
        self
    }

    /// Sets when a call asks.
    #[must_use]
    pub fn requires_approval(mut self, approval: Approval) -> Self {
        self.options.requires_approval = approval;
        self
    }

    /// Declares capabilities; an empty list says pure.
    #[must_use]
    pub fn capabilities(mut self, list: impl IntoIterator<Item = Capability>) -> Self {
        self.options.capabilities = Some(list.into_iter().collect());
        self
    }

    /// Read-only by declaration: capabilities declared and without write, execute, network, mcp, agent.
    pub fn is_read_only(&self) -> bool {
        self.options.capabilities.as_ref().is_some_and(|c| c.iter().all(|c| *c == Capability::Read))
    }

    /// Whether it declares writing or executing.
    pub fn is_destructive(&self) -> bool {
        self.options
            .capabilities
            .as_ref()
            .is_some_and(|c| c.iter().any(|c| matches!(c, Capability::Write | Capability::Execute)))
    }
}
