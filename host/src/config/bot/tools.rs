//! `[tools]`.

use super::Table;
use plugin_sdk::PreviewMode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    #[schemars(extend("uniqueItems" = true))]
    pub allow: Option<Vec<String>>,
    /// Out, whatever else says.
    #[schemars(extend("uniqueItems" = true))]
    pub deny: Vec<String>,
    /// Only these groups.
    #[schemars(extend("uniqueItems" = true))]
    pub include_groups: Option<Vec<String>>,
    /// Switched off.
    #[schemars(extend("uniqueItems" = true))]
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
    #[schemars(range(max = 3600), extend("exclusiveMinimum" = 0))]
    pub timeout_seconds: f64,
    /// Rest for tools that keep failing.
    pub breaker: BreakerConfig,
}

/// `[tools.breaker]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BreakerConfig {
    /// A tool whose body fails again and again is refused for a while.
    pub enabled: bool,
    /// Failures in a row until then.
    #[schemars(range(min = 1, max = 1000))]
    pub failure_threshold: u32,
    /// How long it rests before one call tries it again.
    #[schemars(range(max = 3600), extend("exclusiveMinimum" = 0))]
    pub cooldown_seconds: f64,
}

impl Default for BreakerConfig {
    fn default() -> Self {
        Self { enabled: false, failure_threshold: 3, cooldown_seconds: 30.0 }
    }
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
            breaker: BreakerConfig::default(),
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
