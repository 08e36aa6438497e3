//! Digests beside the plugin hash: of what makes a plugin fail, and of the whole input.

use super::contents::{FailedPlugin, Prepared};
use crate::loader::{HashInput, PluginSource, plugin_hash};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Changes when the plugin's own files or its part of `bot.toml` do: a `failed` one is judged again then.
pub(super) fn source_digest(plugin: &PluginSource, written: Option<&Map<String, Value>>) -> String {
    plugin_hash(plugin, HashInput { config: written, ..HashInput::default() })
}

/// Digest of the whole input: equal exactly when a reload has nothing to publish.
pub(super) fn input_digest(bot: &str, prepared: &[Arc<Prepared>], failed: &[FailedPlugin]) -> String {
    let mut hash = Sha256::new();
    let mut add = |part: &str| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(bot);
    add(plugin_sdk::SDK_VERSION);
    for plugin in prepared {
        add(plugin.view.owner.as_str());
        add(&plugin.view.hash);
    }
    for plugin in failed {
        add(plugin.owner.as_str());
        add(&plugin.digest);
    }
    hex::encode(hash.finalize())
}
