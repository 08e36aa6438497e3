//! `command.toml`.

use super::tool::RunTable;
use super::yes;
use plugin_sdk::{Approval, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A chat command manifest.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "command.toml")]
// SHAPE: 01 §8
pub(crate) struct CommandFile {
    /// Shown in the menu and in `/help`.
    #[schemars(length(max = 4096), regex(pattern = r"\S"), extend("x-help" = "write what the command does"))]
    pub(crate) description: String,
    /// Shown after the word; made from `arguments` when left out.
    #[serde(default)]
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) usage: Option<String>,
    /// The word; the folder's name when left out.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// Further words.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) aliases: Vec<String>,
    /// What is typed after the word, in order.
    #[serde(default)]
    pub(crate) arguments: Vec<CommandArgument>,
    /// Adapter kinds; empty = all.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true), inner(regex(pattern = r"\S")))]
    pub(crate) platforms: Vec<String>,
    /// Places; empty = all.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) scopes: Vec<Scope>,
    /// Permits that must all hold.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) permissions: Vec<String>,
    /// Not in `/help` and the menu.
    #[serde(default)]
    pub(crate) hidden: bool,
    /// Deadline of a call.
    #[serde(default)]
    #[schemars(range(max = 3600), extend("exclusiveMinimum" = 0))]
    pub(crate) timeout_seconds: Option<f64>,
    /// When a call needs a person's yes; the tool's own rule holds beside it.
    #[serde(default = "never")]
    pub(crate) requires_approval: Approval,
    /// The tool it calls: local name of this owner, or qualified.
    #[serde(default)]
    #[schemars(length(min = 1))]
    #[expect(dead_code, reason = "read from the document, where its faults have places")]
    pub(crate) tool: Option<String>,
    /// A program of its own instead.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the document, where its faults have places")]
    pub(crate) run: Option<RunTable>,
}

fn never() -> Approval {
    Approval::Never
}

/// One typed argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandArgument {
    /// Property that it becomes.
    #[schemars(regex(pattern = r"^[a-zA-Z0-9_.-]{1,64}$"))]
    pub name: String,
    /// How the words are read.
    #[serde(rename = "type")]
    pub kind: ArgumentKind,
    /// Whether it must be typed.
    #[serde(default = "yes")]
    pub required: bool,
    /// What it is.
    #[serde(default)]
    pub description: Option<String>,
}

/// `type` of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentKind {
    /// One word, or several in quotes.
    Text,
    /// A whole number.
    Int,
    /// A number.
    Number,
    /// Yes or no.
    Bool,
    /// Everything that is left.
    Rest,
}
