//! What the loader gives: plugin folders as checked values, before any code runs.

use super::agent::AgentSource;
use super::command::CommandSource;
use super::hook::HookSource;
use crate::config::doc::Doc;
use plugin_sdk::{Diagnostic, OwnerPath, Scope, Severity, ToolDef};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// Where an item is defined: its document, so that a later finding can name line and column.
#[derive(Debug, Clone)]
pub struct Place {
    /// Owner of the item.
    pub owner: OwnerPath,
    /// `KIND NAME`, e.g. `tool get-weather`.
    pub item: String,
    /// The document, with its path relative to the bot folder.
    pub doc: Arc<Doc>,
}

impl Place {
    /// Attaches owner, item, file and the span of the value at `pointer` (JSON pointer, `""` = none).
    pub fn diag(&self, diagnostic: Diagnostic, pointer: &str) -> Diagnostic {
        self.doc.diag(diagnostic.owner(&self.owner).item(self.item.clone()), pointer)
    }
}

/// Which of the four placements an item is in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Placement {
    /// `tools/T`, `skills/S`, `hooks/H`.
    Plugin,
    /// Below `agents/A`.
    Agent(String),
    /// Below `skills/S`.
    Skill(String),
    /// Below `agents/A/skills/S`.
    AgentSkill(String, String),
}

impl Placement {
    /// Name inside the owner: `T`, `agent__A__T`, `skill__S__T`, `agent__A__skill__S__T`.
    pub fn local(&self, name: &str) -> String {
        match self {
            Placement::Plugin => name.to_string(),
            Placement::Agent(a) => format!("agent__{a}__{name}"),
            Placement::Skill(s) => format!("skill__{s}__{name}"),
            Placement::AgentSkill(a, s) => format!("agent__{a}__skill__{s}__{name}"),
        }
    }

    /// Contract name: `plugin`, `agent`, `skill`, `agent-skill`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Placement::Plugin => "plugin",
            Placement::Agent(_) => "agent",
            Placement::Skill(_) => "skill",
            Placement::AgentSkill(..) => "agent-skill",
        }
    }
}

/// One file of a plugin's file set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Path relative to the plugin folder, `/`.
    pub path: String,
    /// SHA-256 of the content, lower-case hex.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
    /// Any execute bit.
    pub executable: bool,
    /// Where its bytes were read from (absolute, links resolved).
    pub source: PathBuf,
}

/// Working directory of a command tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunCwd {
    /// The item's folder (in the copy).
    #[default]
    Tool,
    /// The plugin folder (in the copy).
    Plugin,
    /// The turn's workspace.
    Workspace,
}

/// How a tool runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunSpec {
    /// A program per call.
    Command {
        /// Words, never a shell line.
        argv: Vec<String>,
        /// Working directory.
        cwd: RunCwd,
        /// A missing program leaves the item out instead of refusing.
        optional: bool,
    },
}

/// `[when]` of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct When {
    /// Configuration path (dotted) → value that must hold.
    pub config: Vec<(String, Value)>,
    /// Tokens that must be there.
    pub tokens: Vec<String>,
}

/// A checked `tool.toml`.
#[derive(Debug, Clone)]
pub struct ToolSource {
    /// Folder name.
    pub name: String,
    /// Placement.
    pub placement: Placement,
    /// Item folder relative to the plugin folder.
    pub folder: String,
    /// Definition; `preset` still holds `${config.…}` and `${secret.…}` texts; `input_schema` is the whole schema.
    pub def: ToolDef,
    /// How it runs.
    pub run: RunSpec,
    /// Condition.
    pub when: When,
    /// Where it stands.
    pub place: Place,
    /// Pointer of the schema in `place.doc`: `/input`, `/input_schema`, or `""` when it is a file of its own.
    pub schema_pointer: String,
    /// JSON file of the schema, relative to the bot folder, when it is one.
    pub schema_file: Option<String>,
}

/// Whom a skill is offered to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audience {
    /// Adapter kinds; empty = all.
    pub platforms: Vec<String>,
    /// Places; empty = all.
    pub scopes: Vec<Scope>,
    /// Permits, all must hold.
    pub permissions: Vec<String>,
}

/// A checked `SKILL.md`.
#[derive(Debug, Clone)]
pub struct SkillSource {
    /// Folder name, the identity.
    pub name: String,
    /// `Plugin` or `Agent`.
    pub placement: Placement,
    /// At most 1,024 characters.
    pub description: String,
    /// Body, not blank.
    pub body: String,
    /// Further tools it unlocks, as written.
    pub tools: Vec<String>,
    /// Whom it is offered to.
    pub audience: Audience,
    /// Ranking.
    pub keywords: Vec<String>,
    /// Ranking.
    pub tags: Vec<String>,
    /// In every turn that admits it.
    pub always: bool,
    /// Kept metadata, shown.
    pub metadata: Map<String, Value>,
    /// Where it stands.
    pub place: Place,
    /// Whether it comes from the workspace's skill root.
    pub workspace: bool,
}

/// What the budget may take from a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retention {
    /// Never silently lost.
    Required,
    /// Kept as long as possible.
    Preferred,
    /// Gives way first.
    Opportunistic,
}

impl Retention {
    /// Contract name.
    pub fn as_str(self) -> &'static str {
        match self {
            Retention::Required => "required",
            Retention::Preferred => "preferred",
            Retention::Opportunistic => "opportunistic",
        }
    }
}

/// Layers of the prompt, in prompt order (host layers included).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Who the bot is.
    Role,
    /// Rules.
    Safety,
    /// What to do.
    Task,
    /// Host: how to find tools.
    Tools,
    /// Background.
    Context,
    /// Host: memory.
    Memory,
}

impl Layer {
    /// Contract name.
    pub fn as_str(self) -> &'static str {
        match self {
            Layer::Role => "role",
            Layer::Safety => "safety",
            Layer::Task => "task",
            Layer::Tools => "tools",
            Layer::Context => "context",
            Layer::Memory => "memory",
        }
    }
}

/// A checked `SECTION.md`.
#[derive(Debug, Clone)]
pub struct SectionSource {
    /// Folder name.
    pub name: String,
    /// Title line.
    pub title: String,
    /// Layer.
    pub layer: Layer,
    /// Larger = earlier.
    pub order: i64,
    /// Budget policy.
    pub retention: Retention,
    /// Characters.
    pub max_chars: Option<usize>,
    /// `interactive`, `schedule`.
    pub profiles: Vec<String>,
    /// Empty = all.
    pub platforms: Vec<String>,
    /// The text.
    pub body: String,
    /// Where it stands.
    pub place: Place,
}

/// A scenario file of `tests/`.
#[derive(Debug, Clone)]
pub struct TestSource {
    /// Path relative to the bot folder.
    pub path: String,
    /// Its text; empty when it cannot be read.
    pub text: String,
    /// Why it cannot be read.
    pub fault: Option<Diagnostic>,
}

/// `permissions` of a plugin, as asked for. Empty = the defaults.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Permissions {
    /// Hosts.
    pub http: Vec<String>,
    /// Environment variables.
    pub env: Vec<String>,
    /// Secret names.
    pub secrets: Vec<String>,
    /// Own store space.
    pub store: bool,
    /// `none`, `data` or `workspace`.
    pub filesystem: String,
    /// Further processes.
    pub process: bool,
    /// `none`, `origin` or `any`.
    pub send: String,
    /// Schedules.
    pub schedule: bool,
    /// Tools it may call; `None` = its own and its dependencies'.
    pub call_tools: Option<Vec<String>>,
}

/// One `[[depends]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependency {
    /// Owner path.
    pub plugin: OwnerPath,
    /// Version range.
    pub version: semver::VersionReq,
    /// Whether it may be absent.
    pub optional: bool,
}

/// A checked `plugin.toml` (the root may have none).
#[derive(Debug, Clone)]
pub struct PluginManifest {
    /// Display name.
    pub name: String,
    /// Version; `0.0.0` for a root without a manifest.
    pub version: semver::Version,
    /// Description.
    pub description: String,
    /// `enabled` of the manifest.
    pub enabled: bool,
    /// Tokens it needs.
    pub requires: Vec<String>,
    /// Tokens it gives.
    pub provides: Vec<String>,
    /// Schema of its configuration.
    pub config_schema: Option<Value>,
    /// Defaults of its configuration.
    pub config_defaults: Map<String, Value>,
    /// What it asks for.
    pub permissions: Permissions,
    /// Dependencies.
    pub depends: Vec<Dependency>,
    /// Where it stands; `None` for a root without a manifest.
    pub place: Option<Place>,
}

/// One plugin of the tree.
#[derive(Debug, Clone)]
// SHAPE: 01 §1
pub struct PluginSource {
    /// Owner path.
    pub owner: OwnerPath,
    /// Folder, absolute.
    pub dir: PathBuf,
    /// Manifest.
    pub manifest: PluginManifest,
    /// No switch is off.
    pub enabled: bool,
    /// Tools of all placements.
    pub tools: Vec<ToolSource>,
    /// Skills of both placements, workspace skills included (root only).
    pub skills: Vec<SkillSource>,
    /// Prompt sections.
    pub sections: Vec<SectionSource>,
    /// Agents.
    pub agents: Vec<AgentSource>,
    /// Hooks of all levels.
    pub hooks: Vec<HookSource>,
    /// Folders of refused hooks that could have refused no call.
    pub quiet_hooks: Vec<String>,
    /// Chat commands of folders.
    pub commands: Vec<CommandSource>,
    /// `AGENTS.md`.
    pub agents_md: Option<String>,
    /// Scenario files.
    pub tests: Vec<TestSource>,
    /// File set, sorted by path.
    pub files: Vec<FileEntry>,
    /// Dependency folders (`node_modules`, `venv`, `.venv`) that its copy links to: path in the plugin, target.
    pub links: Vec<(String, PathBuf)>,
    /// Findings of this plugin, in no order.
    pub diagnostics: Vec<Diagnostic>,
}

impl PluginSource {
    /// Whether a finding refuses it.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }
}

/// The whole tree.
#[derive(Debug, Clone)]
pub struct SourceTree {
    /// Plugins in preparation order: parent before child, dependency before dependant, ties by owner.
    pub plugins: Vec<PluginSource>,
    /// Findings that belong to no single plugin.
    pub diagnostics: Vec<Diagnostic>,
    /// Folders to watch, absolute.
    pub watch: Vec<PathBuf>,
    /// Bytes read and files opened, for the reload record.
    pub files_read: u64,
}
