//! `tool.toml`.

use super::SchemaSource;
use super::yes;
use plugin_sdk::{Approval, Capability, ChatCommand, ContextRetention, ExecutionMode, PreviewMode, Scope, ToolExample};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A tool manifest.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tool.toml")]
// SHAPE: 01 §3.2
pub(crate) struct ToolFile {
    /// What the model reads.
    #[schemars(length(max = 4096), regex(pattern = r"\S"), extend("x-help" = "write what the tool does and when to use it"))]
    pub(crate) description: String,
    /// When a call needs a person's yes.
    #[serde(default)]
    pub(crate) requires_approval: Approval,
    /// Adapter kinds; empty = all.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true), inner(regex(pattern = r"\S")))]
    pub(crate) platforms: Vec<String>,
    /// Places; empty = all.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) scopes: Vec<Scope>,
    /// The one adapter whose client it gets.
    #[serde(default)]
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) adapter: Option<String>,
    /// Permits that must all hold.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) permissions: Vec<String>,
    /// Never listed or sent to a model.
    #[serde(default)]
    pub(crate) hidden: bool,
    /// What it can do; left out = unknown, empty = pure.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) capabilities: Option<Vec<Capability>>,
    /// Catalog group.
    #[serde(default = "core")]
    #[schemars(length(min = 1))]
    pub(crate) group: String,
    /// Search tags.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true), inner(length(min = 1)))]
    pub(crate) tags: Vec<String>,
    /// Search keywords.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true), inner(length(min = 1)))]
    pub(crate) keywords: Vec<String>,
    /// Shown.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub(crate) version: Option<String>,
    /// Free.
    #[serde(default)]
    pub(crate) metadata: Map<String, Value>,
    /// Further names, qualified like the name.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) aliases: Vec<String>,
    /// Example calls.
    #[serde(default)]
    pub(crate) examples: Vec<ToolExample>,
    /// Whether it should no longer be used.
    #[serde(default)]
    pub(crate) deprecated: bool,
    /// What to use instead.
    #[serde(default)]
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) deprecation_message: Option<String>,
    /// In the first request of every turn that admits it.
    #[serde(default)]
    pub(crate) always_loaded: bool,
    /// Deadline of a call.
    #[serde(default)]
    #[schemars(range(max = 3600), extend("exclusiveMinimum" = 0))]
    pub(crate) timeout_seconds: Option<f64>,
    /// Longer model text becomes an artifact.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) max_result_chars: Option<usize>,
    /// Characters that stay.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) preview_chars: Option<usize>,
    /// Which part stays.
    #[serde(default)]
    pub(crate) preview_mode: Option<PreviewMode>,
    /// Whether an old result may be shortened.
    #[serde(default)]
    pub(crate) context_retention: ContextRetention,
    /// Whether read-only calls may overlap.
    #[serde(default = "yes")]
    pub(crate) concurrency_safe: bool,
    /// Where a synchronous native function runs.
    #[serde(default)]
    pub(crate) execution_mode: ExecutionMode,
    /// Input in short form: property = type name, or keywords plus `required`.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the document, where its faults have places")]
    pub(crate) input: Option<Map<String, Value>>,
    /// Input as JSON Schema: a table, or the path of a JSON file.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the document, where its faults have places")]
    pub(crate) input_schema: Option<SchemaSource>,
    /// Arguments bound by the host.
    #[serde(default)]
    pub(crate) preset: Map<String, Value>,
    /// How it runs.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the document, where its faults have places")]
    pub(crate) run: RunTable,
    /// When it exists.
    #[serde(default)]
    pub(crate) when: WhenTable,
    /// Chat command form.
    #[serde(default)]
    pub(crate) command: Option<ChatCommand>,
}

fn core() -> String {
    "core".into()
}

/// `[run]`: exactly one of `command`, `native`, `wasm`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RunTable {
    /// Program and arguments, no shell.
    #[schemars(length(min = 1), inner(length(min = 1)))]
    pub(crate) command: Option<Vec<String>>,
    /// Function of the plugin's library.
    pub(crate) native: Option<String>,
    /// Function of the plugin's component.
    pub(crate) wasm: Option<String>,
    /// Working directory of a command.
    pub(crate) cwd: Option<Cwd>,
    /// A missing program leaves the tool out.
    pub(crate) optional: Option<bool>,
}

/// `run.cwd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Cwd {
    /// The tool's folder.
    Tool,
    /// The plugin's folder.
    Plugin,
    /// The turn's workspace.
    Workspace,
}

/// `[when]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WhenTable {
    /// Configuration path = value.
    pub(crate) config: Map<String, Value>,
    /// Tokens that must be there.
    #[schemars(extend("uniqueItems" = true), inner(regex(pattern = "^[a-z][a-z0-9.-]*$")))]
    pub(crate) tokens: Vec<String>,
}
