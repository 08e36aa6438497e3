//! `plugin.toml`.

use super::yes;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A plugin manifest.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "plugin.toml")]
// SHAPE: 01 §2
pub(crate) struct PluginFile {
    /// Display name; the folder's name when left out.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub(crate) name: Option<String>,
    /// Semantic version, compared by dependants.
    #[schemars(length(min = 1))]
    pub(crate) version: String,
    /// What it is for.
    #[schemars(length(max = 1024), regex(pattern = r"\S"), extend("x-help" = "write what the plugin is for"))]
    pub(crate) description: String,
    /// Range of the host contract; required with a library or component.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the document, where its faults have places")]
    pub(crate) sdk: Option<String>,
    /// Whether it runs.
    #[serde(default = "yes")]
    #[expect(dead_code, reason = "read from the document, where its faults have places")]
    pub(crate) enabled: bool,
    /// Further globs of its file set.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) include: Vec<String>,
    /// Tokens it needs.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true), inner(regex(pattern = "^[a-z][a-z0-9.-]*$")))]
    pub(crate) requires: Vec<String>,
    /// Tokens it gives.
    #[serde(default)]
    #[schemars(inner(regex(pattern = "^[a-z][a-z0-9.-]*$")))]
    pub(crate) provides: Vec<String>,
    /// A Rust library.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the document, where its faults have places")]
    pub(crate) native: Option<NativeTable>,
    /// A WebAssembly component.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the document, where its faults have places")]
    pub(crate) wasm: Option<WasmTable>,
    /// Its configuration.
    #[serde(default)]
    pub(crate) config: ConfigTable,
    /// What it asks for.
    #[serde(default)]
    pub(crate) permissions: PermissionsTable,
    /// Plugins it needs.
    #[serde(default)]
    pub(crate) depends: Vec<DependsTable>,
}

/// `[native]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "this build checks the keys and refuses the runtime")]
pub(crate) struct NativeTable {
    /// Path or file stem.
    #[schemars(length(min = 1))]
    pub(crate) library: String,
    /// Whether the host may build it.
    #[serde(default)]
    pub(crate) build: Build,
    /// Where it runs.
    #[serde(default)]
    pub(crate) isolation: Isolation,
}

/// `[native] build`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Build {
    /// By `chat` and `dev`.
    #[default]
    Auto,
    /// By its author only.
    Never,
}

/// `[native] isolation`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Isolation {
    /// In the host.
    #[default]
    InProcess,
    /// In a child.
    Process,
}

/// `[wasm]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "this build checks the keys and refuses the runtime")]
pub(crate) struct WasmTable {
    /// Path of the component.
    #[schemars(length(min = 1))]
    pub(crate) component: String,
}

/// `[config]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConfigTable {
    /// JSON Schema: a table, or the path of a JSON file.
    pub(crate) schema: Option<SchemaSource>,
    /// Values under those of `bot.toml`.
    pub(crate) defaults: Map<String, Value>,
}

/// A schema in place or in a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum SchemaSource {
    /// Path of a JSON file.
    Path(String),
    /// The schema itself.
    Inline(Map<String, Value>),
}

/// `[permissions]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 01 §2
pub(crate) struct PermissionsTable {
    /// Hosts: `name`, `name:port`, `*.domain`.
    #[schemars(extend("uniqueItems" = true))]
    pub(crate) http: Vec<String>,
    /// Environment variables.
    #[schemars(extend("uniqueItems" = true), inner(length(min = 1)))]
    pub(crate) env: Vec<String>,
    /// Names of `[secrets]`.
    #[schemars(extend("uniqueItems" = true), inner(length(min = 1)))]
    pub(crate) secrets: Vec<String>,
    /// Own key space in the store.
    pub(crate) store: bool,
    /// Files it may use.
    pub(crate) filesystem: Filesystem,
    /// Further processes.
    pub(crate) process: bool,
    /// Where it may post.
    pub(crate) send: SendTo,
    /// Schedules.
    pub(crate) schedule: bool,
    /// Tools or owner globs; its own and its dependencies' when left out.
    #[schemars(extend("uniqueItems" = true), inner(length(min = 1)))]
    pub(crate) call_tools: Option<Vec<String>>,
}

/// `permissions.filesystem`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Filesystem {
    /// Nothing.
    #[default]
    None,
    /// Its own data folder.
    Data,
    /// The turn's folder.
    Workspace,
}

/// `permissions.send`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SendTo {
    /// Nowhere.
    None,
    /// The conversation of the call.
    #[default]
    Origin,
    /// Everywhere.
    Any,
}

impl Filesystem {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Filesystem::None => "none",
            Filesystem::Data => "data",
            Filesystem::Workspace => "workspace",
        }
    }
}

impl SendTo {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            SendTo::None => "none",
            SendTo::Origin => "origin",
            SendTo::Any => "any",
        }
    }
}

/// One `[[depends]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DependsTable {
    /// Owner path.
    #[schemars(length(min = 1))]
    pub(crate) plugin: String,
    /// Version range.
    #[serde(default = "any_version")]
    pub(crate) version: String,
    /// Whether it may be absent.
    #[serde(default)]
    pub(crate) optional: bool,
}

fn any_version() -> String {
    "*".into()
}
