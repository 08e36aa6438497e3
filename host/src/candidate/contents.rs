//! What a generation holds: immutable, complete, behind one shared pointer.

use super::Instance;
use crate::config::BotConfig;
use crate::index::{Contribution, Hook, Indexes};
use crate::loader::{AgentSource, CommandSource, FileEntry, Permissions, SectionSource, SkillSource};
use plugin_sdk::{Diagnostic, OwnerPath};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// The parts of a candidate that passed every step.
pub struct Contents {
    /// Configuration of the bot; process keys hold the value that the process runs with.
    pub bot: Arc<BotConfig>,
    /// Every plugin of the tree, disabled and failed ones too, in preparation order.
    pub plugins: Vec<PluginView>,
    /// Tools, skills, sections, commands, ranking.
    pub indexes: Arc<Indexes>,
    /// Warnings and remarks, sorted.
    pub warnings: Vec<Diagnostic>,
    /// Digest of the whole input.
    pub digest: String,
    /// Running plugins in order of setup; disposed in reverse.
    pub instances: Vec<Arc<Instance>>,
    /// What it was made from, for the store.
    pub inputs: Vec<PluginInput>,
    /// The parts that an unchanged plugin brings into the next candidate.
    pub(super) prepared: Vec<Arc<Prepared>>,
}

/// Whether a plugin of the tree runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginState {
    /// Runs.
    Active,
    /// A switch is off.
    Disabled,
    /// Was left out; the root then runs without its broken items.
    Failed,
}

impl PluginState {
    /// Contract name.
    pub fn as_str(self) -> &'static str {
        match self {
            PluginState::Active => "active",
            PluginState::Disabled => "disabled",
            PluginState::Failed => "failed",
        }
    }
}

/// A plugin as lists and turns see it.
#[derive(Debug, Clone)]
pub struct PluginView {
    /// Owner path.
    pub owner: OwnerPath,
    /// Display name.
    pub name: String,
    /// Version.
    pub version: String,
    /// Description.
    pub description: String,
    /// Manifest relative to the bot folder; `None` for a root without one.
    pub file: Option<String>,
    /// Whether it runs.
    pub state: PluginState,
    /// Plugin hash; empty unless it runs.
    pub hash: String,
    /// Its own resolved configuration.
    pub config: Arc<Map<String, Value>>,
    /// Schema of its configuration, for masking.
    pub config_schema: Option<Arc<Value>>,
    /// Permissions in force.
    pub permissions: Arc<Permissions>,
    /// Plugins it depends on, its parent not included.
    pub depends: Vec<OwnerPath>,
}

/// A plugin that was left out, with its cause.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedPlugin {
    /// Owner path.
    pub owner: OwnerPath,
    /// Why.
    pub causes: Vec<Diagnostic>,
    /// Digest of its own input, so that a later reload knows whether it changed.
    pub digest: String,
    /// It is sound itself, but inside or dependent on this one.
    pub because_of: Option<OwnerPath>,
    /// Of the root only: the items that are left out, everything else of it runs.
    pub items: Vec<BrokenItem>,
}

/// An item by its label and file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BrokenItem {
    /// `tool get-weather`.
    pub label: String,
    /// Path relative to the bot folder.
    pub file: String,
}

/// What a plugin was made from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PluginInput {
    /// Owner path.
    pub owner: OwnerPath,
    /// Plugin hash.
    pub hash: String,
    /// File set.
    pub files: Vec<InputFile>,
}

/// One file of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InputFile {
    /// Path relative to the plugin folder.
    pub path: String,
    /// Digest of the content.
    pub sha256: String,
    /// Any execute bit.
    pub executable: bool,
}

/// One plugin that passed its own steps: carried over as a whole while its hash is equal.
pub(crate) struct Prepared {
    pub(super) view: PluginView,
    pub(super) instance: Option<Arc<Instance>>,
    pub(super) contributions: Vec<Contribution>,
    /// Qualified names of tools that a condition left out.
    pub(super) left_out: Vec<String>,
    pub(super) skills: Vec<SkillSource>,
    pub(super) sections: Vec<SectionSource>,
    pub(super) acting: Acting,
    pub(super) agents_md: Option<String>,
    /// Findings of its own steps, the loader's not included.
    pub(super) findings: Vec<Diagnostic>,
    pub(super) files: Arc<Vec<FileEntry>>,
    pub(super) links: Vec<(String, PathBuf)>,
}

/// What of a plugin acts beside its tools.
#[derive(Default)]
pub(super) struct Acting {
    pub(super) agents: Vec<AgentSource>,
    pub(super) hooks: Vec<Hook>,
    pub(super) commands: Vec<CommandSource>,
}

impl Prepared {
    pub(super) fn input(&self) -> PluginInput {
        let files = self.files.iter().map(|f| InputFile {
            path: f.path.clone(),
            sha256: f.sha256.clone(),
            executable: f.executable,
        });
        PluginInput { owner: self.view.owner.clone(), hash: self.view.hash.clone(), files: files.collect() }
    }
}

impl Contents {
    /// Nothing but a configuration and instances.
    #[cfg(test)]
    pub(crate) fn for_tests(bot: BotConfig, instances: Vec<Arc<Instance>>) -> Self {
        let parts = crate::index::Parts {
            contributions: Vec::new(),
            left_out: Vec::new(),
            inactive: Vec::new(),
            skills: Vec::new(),
            sections: Vec::new(),
            agents: Vec::new(),
            hooks: Vec::new(),
            commands: Vec::new(),
            agents_md: Vec::new(),
            bot: &bot,
            bot_doc: None,
        };
        let indexes = crate::index::build(parts).0.expect("an empty bot has no errors");
        Self {
            indexes: Arc::new(indexes),
            bot: Arc::new(bot),
            plugins: Vec::new(),
            warnings: Vec::new(),
            digest: String::new(),
            instances,
            inputs: Vec::new(),
            prepared: Vec::new(),
        }
    }

    /// Plugins that run.
    pub fn running_plugins(&self) -> usize {
        let runs = |p: &&PluginView| p.state == PluginState::Active || p.owner.is_root();
        self.plugins.iter().filter(runs).count()
    }

    /// Tools in the index.
    pub fn tool_count(&self) -> usize {
        self.indexes.tools.tools().len()
    }

    /// A plugin by owner.
    pub fn plugin(&self, owner: &OwnerPath) -> Option<&PluginView> {
        self.plugins.iter().find(|p| p.owner == *owner)
    }
}
