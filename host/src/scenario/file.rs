//! The scenario file: what `tests/*.toml` may say.

use crate::config::doc::Doc;
use crate::config::shape;
use plugin_sdk::{Diagnostic, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The whole file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// What it shows.
    #[schemars(length(min = 1))]
    pub description: String,
    /// Further `bot.toml` keys of this run.
    #[serde(default)]
    pub bot: Map<String, Value>,
    /// Steps in order.
    #[serde(default, rename = "step")]
    pub steps: Vec<Step>,
}

/// One step: exactly one of its keys.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 08 §2
pub struct Step {
    /// Starts the bot again after `stop`; the first start is implied.
    pub start: Option<bool>,
    /// A message.
    pub message: Option<Say>,
    /// A button that somebody presses.
    pub press: Option<Press>,
    /// What the model says next, instead of the offline model.
    pub model_says: Option<ModelSays>,
    /// The next reply.
    pub expect_reply: Option<ExpectReply>,
    /// The next model request.
    pub expect_request: Option<ExpectRequest>,
    /// The next call of a tool.
    pub expect_tool: Option<ExpectTool>,
    /// Who is offered what.
    pub expect_catalog: Option<ExpectCatalog>,
    /// A change of a file of the bot folder (a copy).
    pub edit: Option<Edit>,
    /// A reload and its verdict.
    pub reload: Option<ExpectReload>,
    /// Fields of the last reload record.
    pub expect_record: Option<Map<String, Value>>,
    /// Time passes.
    pub clock: Option<Advance>,
    /// Stops the bot.
    pub stop: Option<bool>,
}

impl Step {
    /// Names of the keys that are set.
    pub fn keys(&self) -> Vec<&'static str> {
        let all = [
            ("start", self.start.is_some()),
            ("message", self.message.is_some()),
            ("press", self.press.is_some()),
            ("model_says", self.model_says.is_some()),
            ("expect_reply", self.expect_reply.is_some()),
            ("expect_request", self.expect_request.is_some()),
            ("expect_tool", self.expect_tool.is_some()),
            ("expect_catalog", self.expect_catalog.is_some()),
            ("edit", self.edit.is_some()),
            ("reload", self.reload.is_some()),
            ("expect_record", self.expect_record.is_some()),
            ("clock", self.clock.is_some()),
            ("stop", self.stop.is_some()),
        ];
        all.into_iter().filter(|(_, set)| *set).map(|(name, _)| name).collect()
    }
}

/// `message`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Say {
    /// `platform:id`.
    #[schemars(regex(pattern = "^[^:]+:.+$"))]
    pub from: String,
    /// The text.
    pub text: String,
    /// Kind of place; `private`.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Chat id; the sender's own id.
    #[serde(default)]
    pub scene: Option<String>,
    /// Thread.
    #[serde(default)]
    pub thread: Option<String>,
}

/// `press`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Press {
    /// The button's label.
    #[schemars(length(min = 1))]
    pub label: String,
    /// `platform:id` of who presses.
    #[schemars(regex(pattern = "^[^:]+:.+$"))]
    pub by: String,
}

/// `model_says`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSays {
    /// Text.
    pub text: String,
    /// Calls; a tool that is not loaded is loaded first.
    pub calls: Vec<SaysCall>,
}

/// A scripted call.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaysCall {
    /// Qualified name.
    pub tool: String,
    /// Arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// `expect_reply`: exactly one of its keys.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectReply {
    /// The whole text.
    pub equals: Option<String>,
    /// A part of it.
    pub contains: Option<String>,
    /// A regular expression.
    pub matches: Option<String>,
}

/// `expect_request`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectRequest {
    /// Tools that are sent.
    pub tools_include: Vec<String>,
    /// Tools that are not sent.
    pub tools_exclude: Vec<String>,
    /// A text in the system prompt or the messages.
    pub text_contains: Option<String>,
}

/// `expect_tool`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectTool {
    /// Qualified name.
    pub tool: String,
    /// Arguments that it was given at least.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// `completed`, `failed`, `denied`, `cancelled`, `unknown`.
    #[serde(default)]
    pub status: Option<String>,
}

/// `expect_catalog`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectCatalog {
    /// `platform:id`, or a subject with its place.
    #[serde(rename = "as")]
    pub subject: String,
    /// Tools that can be found.
    #[serde(default)]
    pub include: Vec<String>,
    /// Tools that cannot.
    #[serde(default)]
    pub exclude: Vec<String>,
}

/// `edit`: exactly one of `write`, `replace`, `remove`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Path in the bot folder.
    pub file: String,
    /// New text.
    #[serde(default)]
    pub write: Option<String>,
    /// `[old, new]`.
    #[serde(default)]
    pub replace: Option<[String; 2]>,
    /// Delete it.
    #[serde(default)]
    pub remove: bool,
}

/// `reload`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectReload {
    /// `published`, `rejected`, `unchanged`, `restart_required`.
    pub outcome: Option<String>,
    /// A diagnostic code of its record.
    pub code: Option<String>,
}

/// `clock`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Advance {
    /// Seconds.
    #[schemars(range(min = 0))]
    pub advance_seconds: f64,
}

/// Reads a file; every fault at once.
pub fn parse(path: &str, text: &str) -> Result<ScenarioFile, Vec<Diagnostic>> {
    let doc = Doc::parse_toml("scenario", path, text)?;
    let (file, mut faults) = shape::check::<ScenarioFile>("scenario", &doc);
    if let Some(file) = &file {
        for (i, step) in file.steps.iter().enumerate() {
            let keys = step.keys();
            if keys.len() != 1 {
                let said = if keys.is_empty() { "none".to_string() } else { keys.join(", ") };
                let d = Diagnostic::error(
                    "scenario::bad-value",
                    format!("a step has exactly one key, this one has {said}"),
                );
                faults.push(doc.diag(d.item(format!("step {}", i + 1)), &format!("/step/{i}")));
            }
        }
    }
    match file {
        Some(file) if faults.iter().all(|d| !d.is_error()) => Ok(file),
        _ => Err(faults),
    }
}
