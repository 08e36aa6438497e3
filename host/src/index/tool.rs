//! A tool of the ToolIndex: definition, names, schema, binding.

use crate::admission::{Declared, Exposure, Gated, Guarded, Rules};
use crate::loader::{Place, Placement};
use plugin_sdk::{Callable, Diagnostic, OwnerPath, ToolDef};
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

impl Contribution {
    /// Attaches owner, item, file and the span of the value at `pointer`.
    pub fn diag(&self, diagnostic: Diagnostic, pointer: &str) -> Diagnostic {
        match &self.place {
            Some(p) => p.diag(diagnostic, pointer),
            None => diagnostic.owner(&self.owner).item(format!("tool {}", self.name)),
        }
    }

    /// The same with the span of the key at `pointer`.
    pub fn diag_key(&self, diagnostic: Diagnostic, pointer: &str) -> Diagnostic {
        match &self.place {
            Some(p) => p.doc.diag_key(diagnostic.owner(&p.owner).item(p.item.clone()), pointer),
            None => self.diag(diagnostic, pointer),
        }
    }

    /// Name inside the owner, placement included.
    pub fn local(&self) -> String {
        self.placement.local(&self.name)
    }

    /// Qualified name, then qualified aliases.
    pub fn names(&self) -> Vec<String> {
        std::iter::once(&self.name)
            .chain(&self.def.options.aliases)
            .map(|n| self.owner.qualify(&self.placement.local(n)))
            .collect()
    }

    /// Where a pointer inside the schema stands in the document of `place`.
    pub(super) fn schema_place(&self, pointer: &str) -> String {
        match self.schema_pointer.as_str() {
            // the short form has the properties at its root
            "/input" => format!("/input{}", pointer.strip_prefix("/properties").unwrap_or_default()),
            // a file of its own has no place here; the key that names it has
            "" => "/input_schema".into(),
            at => format!("{at}{pointer}"),
        }
    }
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
    /// Qualified name, then qualified aliases.
    pub names: Vec<String>,
    /// Schema, validator, visible form and hashes.
    pub input: Arc<super::InputSchema>,
    /// What its own check found; never an error.
    pub findings: Arc<[Diagnostic]>,
    /// What it says about asking, after the admin's replacement.
    pub declared: Declared,
    /// Sent from the first step.
    pub always: bool,
    /// Inside `tools.include_groups`, or let in by `tools.allow`.
    pub in_group: bool,
}

impl Tool {
    /// Qualified aliases.
    pub fn aliases(&self) -> &[String] {
        self.names.get(1..).unwrap_or_default()
    }

    /// What a model reads: the description, the deprecation sentence after a blank line.
    pub fn description(&self) -> String {
        match &self.def().options.deprecation {
            Some(note) => format!("{}\n\n{note}", self.def().description),
            None => self.def().description.clone(),
        }
    }

    /// For the predicate.
    pub fn guarded(&self) -> Guarded<'_> {
        Guarded { rules: &self.rules, owner: self.owner(), names: &self.names, in_group: self.in_group }
    }

    /// For the approval decision.
    pub fn gated(&self) -> Gated<'_> {
        Gated {
            names: &self.names,
            declared: &self.declared,
            capabilities: self.def().options.capabilities.as_deref(),
            builtin: self.is_builtin(),
        }
    }

    /// How it comes before a model.
    pub fn exposure(&self) -> Exposure {
        let private = |agent: Option<&String>, skill: Option<&String>| Exposure::Private {
            agent: agent.cloned(),
            skill: skill.cloned(),
        };
        match &self.from.placement {
            _ if self.def().options.hidden => Exposure::ByName,
            Placement::Plugin => Exposure::Listed,
            Placement::Agent(a) => private(Some(a), None),
            Placement::Skill(s) => private(None, Some(s)),
            Placement::AgentSkill(a, s) => private(Some(a), Some(s)),
        }
    }

    /// Hash that ends a session's grants when it changes.
    pub fn tool_hash(&self) -> String {
        super::tool_hash(&self.from.code_digest, &self.def().description, &self.input.schema_hash)
    }

    /// File it stands in.
    pub fn file(&self) -> Option<&str> {
        self.from.place.as_ref().map(|p| p.doc.file.as_str())
    }

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
