//! Tools as sent: each is written once for as long as it stays the same, and one the provider refused is
//! remembered until it changes.

use super::Remote;
use crate::config::SchemaProfile;
use crate::model::ModelTool;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// More names than a process ever sends at a time; beyond it the cache starts again.
const MAX_ENTRIES: usize = 4096;

/// What was written.
#[derive(Debug)]
pub(in crate::model) struct ToolCache {
    profile: SchemaProfile,
    entries: Mutex<HashMap<Arc<str>, Entry>>,
}

#[derive(Debug, Clone)]
struct Entry {
    schema: Arc<Value>,
    description: Arc<str>,
    written: Written,
    refused: Option<String>,
}

/// A tool as it is sent.
#[derive(Debug, Clone)]
pub(in crate::model) struct Written {
    pub(in crate::model) value: Arc<Value>,
    /// Its length.
    pub(super) bytes: usize,
}

impl Entry {
    fn is_of(&self, tool: &ModelTool) -> bool {
        let same = |a: &Arc<Value>, b: &Arc<Value>| Arc::ptr_eq(a, b) || a == b;
        same(&self.schema, &tool.schema) && self.description == tool.description
    }
}

impl ToolCache {
    pub(super) fn new(profile: SchemaProfile) -> Self {
        Self { profile, entries: Mutex::default() }
    }

    /// Why the provider refused this very tool before, if it did.
    pub(super) fn refused(&self, tool: &ModelTool) -> Option<String> {
        self.lock().get(&tool.wire).filter(|e| e.is_of(tool)).and_then(|e| e.refused.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Remote {
    /// A tool as this format has it.
    pub(in crate::model) fn tool(&self, tool: &ModelTool) -> Written {
        self.entry(tool).written
    }

    /// Remembers that the provider refused this very tool.
    pub(super) fn refuse(&self, tool: &ModelTool, reason: &str) {
        let mut entry = self.entry(tool);
        entry.refused = Some(reason.to_owned());
        self.cache.lock().insert(tool.wire.clone(), entry);
    }

    fn entry(&self, tool: &ModelTool) -> Entry {
        if let Some(entry) = self.cache.lock().get(&tool.wire).filter(|e| e.is_of(tool)) {
            return entry.clone();
        }
        let value = self.wire.tool(tool, self.cache.profile);
        let written = Written { bytes: value.to_string().len(), value: Arc::new(value) };
        let entry =
            Entry { schema: tool.schema.clone(), description: tool.description.clone(), written, refused: None };
        let mut entries = self.cache.lock();
        if entries.len() >= MAX_ENTRIES {
            entries.clear();
        }
        entries.insert(tool.wire.clone(), entry.clone());
        entry
    }
}
