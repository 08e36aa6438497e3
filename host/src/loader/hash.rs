//! The hash by which a plugin is known to be unchanged.

use super::source::{FileEntry, PluginSource};
use plugin_sdk::SDK_VERSION;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// What beside its files decides how a plugin behaves.
#[derive(Debug, Clone, Copy, Default)]
pub struct HashInput<'a> {
    /// Resolved configuration.
    pub config: Option<&'a Map<String, Value>>,
    /// Name and digest of each variable and secret it may read, sorted.
    pub environment: &'a [(String, String)],
    /// Hashes of its parent and its dependencies, in this order.
    pub upstream: &'a [String],
}

/// Length-prefixed parts: no two inputs join to one.
struct Parts(Sha256);

impl Parts {
    fn add(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort_unstable();
                self.add(b"{");
                for key in keys {
                    self.add(key.as_bytes());
                    self.value(&map[key]);
                }
                self.add(b"}");
            }
            Value::Array(list) => {
                self.add(b"[");
                list.iter().for_each(|v| self.value(v));
                self.add(b"]");
            }
            scalar => self.add(scalar.to_string().as_bytes()),
        }
    }

    fn files(&mut self, files: &[FileEntry]) {
        self.0.update((files.len() as u64).to_be_bytes());
        for file in files {
            self.add(file.path.as_bytes());
            self.add(if file.executable { b"x" } else { b"-" });
            self.add(file.sha256.as_bytes());
        }
    }
}

/// SHA-256 over file set, configuration, environment digests, permissions, contract version, parent and dependencies.
pub fn plugin_hash(plugin: &PluginSource, input: HashInput<'_>) -> String {
    let mut parts = Parts(Sha256::new());
    parts.add(plugin.owner.as_str().as_bytes());
    parts.add(if plugin.enabled { b"on" } else { b"off" });
    parts.files(&plugin.files);
    // Skills of the workspace are no files of a plugin, yet their sealed texts are part of it.
    for skill in plugin.skills.iter().filter(|s| s.workspace) {
        parts.add(skill.name.as_bytes());
        parts.add(skill.place.doc.text.as_bytes());
        parts.add(skill.body.as_bytes());
    }
    parts.value(&input.config.map_or(Value::Null, |c| Value::Object(c.clone())));
    for (name, digest) in input.environment {
        parts.add(name.as_bytes());
        parts.add(digest.as_bytes());
    }
    parts.add(format!("{:?}", plugin.manifest.permissions).as_bytes());
    parts.add(SDK_VERSION.as_bytes());
    for hash in input.upstream {
        parts.add(hash.as_bytes());
    }
    hex::encode(parts.0.finalize())
}
