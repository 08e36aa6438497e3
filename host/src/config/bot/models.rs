//! `[models.NAME]`.

use super::Table;
use crate::config::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Wire formats of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// The built-in deterministic model.
    Offline,
    /// Chat completions.
    Openai,
    /// Messages.
    Anthropic,
}

/// Whether a model that knows deferred tools is told of the whole catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeferLoading {
    /// Yes, unless the catalog is too large or the server does not know them.
    #[default]
    Auto,
    /// No: it gets what is always loaded and what was loaded.
    Off,
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
    /// Key: a bearer token for `openai`, the header `x-api-key` for `anthropic`.
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
    #[schemars(range(min = 0))]
    pub temperature: Option<f64>,
    /// Whether it sees images.
    #[serde(default)]
    pub images: bool,
    /// Further headers; values may be secrets.
    #[serde(default)]
    pub headers: Table<Secret>,
    /// Whole request.
    #[serde(default = "default_model_timeout")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub timeout_seconds: f64,
    /// Until the first byte.
    #[serde(default = "default_first_byte")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub first_byte_seconds: f64,
    /// Repeats of a failed request.
    #[serde(default = "default_retries")]
    #[schemars(range(max = 10))]
    pub retries: u32,
    /// Models that answer instead, in this order, while this one gives no answer.
    #[serde(default)]
    pub fallback: Vec<String>,
    /// Whether a missing variable refuses.
    #[serde(default)]
    pub required: bool,
    /// Per million tokens.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub price_in: f64,
    /// Per million tokens.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub price_out: f64,
    /// Per million tokens; `price_in` when left out.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub price_cached: Option<f64>,
    /// The provider's when left out.
    #[serde(default)]
    pub schema_profile: Option<SchemaProfile>,
    /// Most tools in one request.
    #[serde(default = "default_max_tools")]
    #[schemars(range(min = 1))]
    pub max_tools: usize,
    /// Tools that a model finds by itself; only `anthropic`.
    #[serde(default)]
    pub defer_loading: DeferLoading,
    /// Values of the header `anthropic-beta`; only `anthropic`.
    #[serde(default = "default_betas")]
    pub betas: Vec<String>,
    /// Why an optional model is off, for example a variable that is not set.
    #[serde(skip)]
    pub unavailable: Option<String>,
}

fn default_betas() -> Vec<String> {
    vec!["advanced-tool-use-2025-11-20".to_owned()]
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
