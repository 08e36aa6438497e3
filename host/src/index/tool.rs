//! A tool of the ToolIndex: definition, names, schema, binding.

use crate::admission::Rules;
use crate::loader::{Place, Placement};
use plugin_sdk::{Callable, OwnerPath, ToolDef};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// Position in the index; dense from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolId(pub u32);

/// What declared a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A folder.
    Folder,
    /// The host itself.
    Builtin,
}

impl Source {
    /// Contract name.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Folder => "folder",
            Source::Builtin => "builtin",
        }
    }
}

/// A contribution to the index: what a plugin (or the host) declares, before checks and names.
#[derive(Clone)]
pub struct Contribution {
    /// Declaring owner.
    pub owner: OwnerPath,
    /// Local name.
    pub name: String,
    /// Placement.
    pub placement: Placement,
    /// What declared it.
    pub source: Source,
    /// Definition with resolved presets (a `${secret.NAME}` text stays until the call).
    pub def: ToolDef,
    /// Binding.
    pub callable: Arc<dyn Callable>,
    /// Runtime name shown: `command`, `builtin`.
    pub runtime: &'static str,
    /// Where it stands.
    pub place: Option<Place>,
    /// Pointer of the schema in the place's document (see `ToolSource`).
    pub schema_pointer: String,
    /// Digest of what runs (item folder, `lib/`; the host's version for built-ins).
    pub code_digest: String,
    /// The owner's resolved configuration, given to each call.
    pub config: Arc<Map<String, Value>>,
}

/// A sealed tool.
#[derive(Clone)]
pub struct Tool {
    /// Position.
    pub id: ToolId,
    /// Unique name.
    pub qualified: Arc<str>,
    /// What a model is sent.
    pub wire: Arc<str>,
    /// Local name inside the owner, placement included (`skill__S__T`).
    pub local: Arc<str>,
    /// The contribution it came from.
    pub from: Contribution,
    /// Admission fields.
    pub rules: Rules,
    /// Qualified aliases.
    pub aliases: Vec<String>,
    /// Schema, validator, visible form and hashes.
    pub input: Arc<super::InputSchema>,
}

impl Tool {
    /// Its definition.
    pub fn def(&self) -> &ToolDef {
        &self.from.def
    }

    /// Its owner.
    pub fn owner(&self) -> &OwnerPath {
        &self.from.owner
    }

    /// Whether it is the host's own.
    pub fn is_builtin(&self) -> bool {
        self.from.source == Source::Builtin
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("qualified", &self.qualified).field("wire", &self.wire).finish_non_exhaustive()
    }
}
