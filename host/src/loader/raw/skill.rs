//! Front matter of `SKILL.md` and `SECTION.md`.

use plugin_sdk::Scope;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Keys of `SKILL.md` that mean something here.
pub(crate) const SKILL_KEYS: [&str; 13] = [
    "description",
    "name",
    "tools",
    "platforms",
    "scopes",
    "permissions",
    "keywords",
    "tags",
    "always",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
];

/// Keys whose value may hold `: ` without quotes.
pub(crate) const SKILL_TEXT_KEYS: [&str; 4] = ["description", "name", "license", "compatibility"];

/// The same for `SECTION.md`.
pub(crate) const SECTION_TEXT_KEYS: [&str; 1] = ["title"];

/// Front matter of a skill. The format is public: other keys are kept as metadata.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(title = "SKILL.md front matter")]
// SHAPE: 01 §4
pub(crate) struct SkillFile {
    /// When to use it; cut at 1,024 characters.
    #[schemars(regex(pattern = r"\S"), extend("x-help" = "write what the skill is for and when to use it"))]
    pub(crate) description: String,
    /// The folder's name.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// Further tools unlocked with it.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true), inner(length(min = 1)))]
    pub(crate) tools: Vec<String>,
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
    /// Search keywords: a list, or a text split at commas.
    #[serde(default)]
    pub(crate) keywords: Words,
    /// Search tags: a list, or a text split at commas.
    #[serde(default)]
    pub(crate) tags: Words,
    /// In every turn that admits it.
    #[serde(default)]
    pub(crate) always: bool,
    /// Shown.
    #[serde(default)]
    pub(crate) license: Option<String>,
    /// Shown.
    #[serde(default)]
    pub(crate) compatibility: Option<Value>,
    /// Shown.
    #[serde(default)]
    pub(crate) metadata: Option<Value>,
    /// Shown; grants and restricts nothing.
    #[serde(default, rename = "allowed-tools")]
    pub(crate) allowed_tools: Option<Value>,
    /// What people add.
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

/// Words as a list or as one text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Words {
    /// A list.
    List(#[schemars(extend("uniqueItems" = true))] Vec<String>),
    /// Split at commas.
    Text(String),
}

impl Default for Words {
    fn default() -> Self {
        Words::List(Vec::new())
    }
}

impl Words {
    /// The words, without blanks, in their order.
    pub(crate) fn into_list(self) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let words = match self {
            Words::List(list) => list,
            Words::Text(text) => text.split(',').map(str::to_string).collect(),
        };
        for word in words.iter().map(|w| w.trim()).filter(|w| !w.is_empty()) {
            if !out.iter().any(|o| o == word) {
                out.push(word.to_string());
            }
        }
        out
    }
}

/// Front matter of a prompt section.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "SECTION.md front matter")]
pub(crate) struct SectionFile {
    /// Title line.
    #[schemars(regex(pattern = r"\S"), extend("x-help" = "write a title"))]
    pub(crate) title: String,
    /// Layer of the prompt.
    #[serde(default)]
    pub(crate) layer: SectionLayer,
    /// Larger = earlier inside its layer.
    #[serde(default = "fifty")]
    pub(crate) order: i64,
    /// What the budget may take.
    #[serde(default)]
    pub(crate) retention: SectionRetention,
    /// Most characters.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) max_chars: Option<usize>,
    /// Kinds of turn.
    #[serde(default = "interactive")]
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub(crate) profiles: Vec<Profile>,
    /// Adapter kinds; empty = all.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true), inner(regex(pattern = r"\S")))]
    pub(crate) platforms: Vec<String>,
}

fn fifty() -> i64 {
    50
}

fn interactive() -> Vec<Profile> {
    vec![Profile::Interactive]
}

/// `layer`.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SectionLayer {
    /// Who the bot is.
    Role,
    /// What to do.
    Task,
    /// Background.
    #[default]
    Context,
    /// Rules.
    Safety,
}

/// `retention`.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SectionRetention {
    /// Never silently lost.
    Required,
    /// Kept as long as possible.
    #[default]
    Preferred,
    /// Gives way first.
    Opportunistic,
}

/// `profiles`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Profile {
    /// A person speaks.
    Interactive,
    /// A schedule is due.
    Schedule,
}

impl Profile {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Profile::Interactive => "interactive",
            Profile::Schedule => "schedule",
        }
    }
}
