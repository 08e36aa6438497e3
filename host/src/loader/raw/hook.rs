//! `hook.toml`.

use plugin_sdk::HookEventKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A hook manifest.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "hook.toml")]
pub(crate) struct HookFile {
    /// When it runs.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub(crate) events: Vec<HookEventKind>,
    /// Qualified names or globs of tools; empty = all.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true), inner(regex(pattern = r"\S")))]
    pub(crate) tools: Vec<String>,
    /// Limit of one run.
    #[serde(default = "ten")]
    #[schemars(range(max = 60), extend("exclusiveMinimum" = 0))]
    pub(crate) timeout_seconds: f64,
    /// Larger = earlier inside its level.
    #[serde(default = "fifty")]
    pub(crate) order: i64,
    /// What a failure of it means; `deny` for `tool.before`, else `continue`.
    #[serde(default)]
    pub(crate) on_failure: Option<OnFailure>,
    /// How it runs, always in the turn's workspace.
    #[expect(dead_code, reason = "read from the document, where its faults have places")]
    pub(crate) run: HookRun,
    /// Given to the code of a library or component.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the document, where its faults have places")]
    pub(crate) options: Map<String, Value>,
}

fn ten() -> f64 {
    10.0
}

fn fifty() -> i64 {
    50
}

/// `on_failure`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// The call is refused.
    Deny,
    /// Logged and counted.
    Continue,
}

/// `[run]` of a hook: exactly one of `command`, `native`, `wasm`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HookRun {
    /// Program and arguments, no shell.
    #[schemars(length(min = 1), inner(length(min = 1)))]
    pub(crate) command: Option<Vec<String>>,
    /// Function of the plugin's library.
    pub(crate) native: Option<String>,
    /// Function of the plugin's component.
    pub(crate) wasm: Option<String>,
}
