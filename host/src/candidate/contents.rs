//! What a generation holds: immutable, complete, behind one shared pointer.

use super::Instance;
use crate::config::BotConfig;
use plugin_sdk::{Diagnostic, OwnerPath};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The parts of a candidate that passed every step.
pub struct Contents {
    /// Configuration of the bot.
    pub bot: Arc<BotConfig>,
    /// Every plugin of the tree, disabled ones too, in preparation order.
    pub plugins: Vec<PluginView>,
    /// Warnings and remarks.
    pub warnings: Vec<Diagnostic>,
    /// Digest of the whole input.
    pub digest: String,
    /// Running plugins in order of setup; disposed in reverse.
    pub instances: Vec<Arc<Instance>>,
    /// What it was made from, for the store.
    pub inputs: Vec<PluginInput>,
}

/// Whether a plugin of the tree runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginState {
    /// Runs.
    Active,
    /// A switch is off.
    Disabled,
    /// Was left out.
    Failed,
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
    /// Permissions in force.
    pub permissions: Arc<crate::loader::Permissions>,
}

/// A plugin that was left out, with its cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailedPlugin {
    /// Owner path.
    pub owner: OwnerPath,
    /// Why.
    pub causes: Vec<Diagnostic>,
    /// Digest of its files, so that a later reload knows whether it changed.
    pub digest: String,
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

impl Contents {
    /// Nothing but a configuration and instances.
    #[cfg(test)]
    pub(crate) fn for_tests(bot: BotConfig, instances: Vec<Arc<Instance>>) -> Self {
        Self {
            bot: Arc::new(bot),
            plugins: Vec::new(),
            warnings: Vec::new(),
            digest: String::new(),
            instances,
            inputs: Vec::new(),
        }
    }

    /// Plugins that run.
    pub fn running_plugins(&self) -> usize {
        self.plugins.iter().filter(|p| p.state == PluginState::Active).count()
    }

    /// Tools in the index.
    pub fn tool_count(&self) -> usize {
        0
    }

    /// A plugin by owner.
    pub fn plugin(&self, owner: &OwnerPath) -> Option<&PluginView> {
        self.plugins.iter().find(|p| p.owner == *owner)
    }
}
