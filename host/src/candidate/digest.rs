//! Digests: of a plugin, of what makes it fail, of the whole input.

use crate::config::Env;
use crate::loader::{Permissions, PluginSource};
use plugin_sdk::OwnerPath;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A hash over parts whose lengths count too, so that no two lists of parts run together.
pub(super) struct Parts(Sha256);

impl Parts {
    pub(super) fn new(kind: &str) -> Self {
        let mut parts = Self(Sha256::new());
        parts.add(kind);
        parts
    }

    pub(super) fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    pub(super) fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// Lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [DIGITS[(b >> 4) as usize] as char, DIGITS[(b & 15) as usize] as char]).collect()
}

/// What a plugin hash covers besides the files.
pub(super) struct Surroundings<'a> {
    /// Its resolved configuration.
    pub(super) config: &'a Map<String, Value>,
    /// Variables it may read.
    pub(super) env: &'a Env,
    /// Secrets it may read, by name.
    pub(super) secrets: &'a crate::config::Table<crate::config::Secret>,
    /// Hashes of parent and dependencies.
    pub(super) needs: BTreeMap<OwnerPath, String>,
}

/// The plugin hash: equal exactly when the same instance may be carried over.
pub(super) fn plugin_hash(plugin: &PluginSource, around: &Surroundings<'_>) -> String {
    let mut parts = Parts::new("plugin");
    parts.add(plugin_sdk::SDK_VERSION);
    parts.add(plugin.owner.as_str());
    add_files(&mut parts, plugin);
    parts.add(crate::index::canonical_json(&Value::Object(around.config.clone())));
    let granted: &Permissions = &plugin.manifest.permissions;
    parts.add(format!("{granted:?}"));
    for name in &granted.env {
        parts.add(name);
        parts.add(Sha256::digest(around.env.get(name).unwrap_or_default()));
    }
    for (name, secret) in around.secrets {
        if plugin.owner.is_root() || granted.secrets.contains(name) {
            parts.add(name);
            parts.add(Sha256::digest(secret.expose()));
        }
    }
    for (owner, hash) in &around.needs {
        parts.add(owner.as_str());
        parts.add(hash);
    }
    parts.finish()
}

/// Changes when the plugin's own files or its part of `bot.toml` do: a `failed` one is judged again then.
pub(super) fn source_digest(plugin: &PluginSource, written: Option<&Map<String, Value>>) -> String {
    let mut parts = Parts::new("source");
    parts.add(plugin.owner.as_str());
    add_files(&mut parts, plugin);
    parts.add(crate::index::canonical_json(&Value::Object(written.cloned().unwrap_or_default())));
    parts.finish()
}

fn add_files(parts: &mut Parts, plugin: &PluginSource) {
    for file in plugin.files.iter().chain(&plugin.workspace_files) {
        parts.add(&file.path);
        parts.add(&file.sha256);
        parts.add(if file.executable { "x" } else { "-" });
    }
}
