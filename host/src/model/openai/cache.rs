//! Tools as sent: each is written once for as long as it stays the same, and one the provider refused is
//! remembered until it changes.

use crate::config::SchemaProfile;
use crate::model::{ModelTool, cut_description, wire_schema};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// More names than a process ever sends at a time; beyond it the cache starts again.
const MAX_ENTRIES: usize = 4096;

#[derive(Debug)]
pub(super) struct ToolCache {
    profile: SchemaProfile,
    entries: Mutex<HashMap<Arc<str>, Entry>>,
}

#[derive(Debug, Clone)]
struct Entry {
    schema: Arc<Value>,
    description: Arc<str>,
    wire: Arc<Value>,
    refused: Option<String>,
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

    pub(super) fn wire(&self, tool: &ModelTool) -> Arc<Value> {
        self.entry(tool).wire
    }

    /// Why the provider refused this very tool before, if it did.
    pub(super) fn refused(&self, tool: &ModelTool) -> Option<String> {
        self.lock().get(&tool.wire).filter(|e| e.is_of(tool)).and_then(|e| e.refused.clone())
    }

    pub(super) fn refuse(&self, tool: &ModelTool, reason: &str) {
        let mut entry = self.entry(tool);
        entry.refused = Some(reason.to_owned());
        self.lock().insert(tool.wire.clone(), entry);
    }

    fn entry(&self, tool: &ModelTool) -> Entry {
        if let Some(entry) = self.lock().get(&tool.wire).filter(|e| e.is_of(tool)) {
            return entry.clone();
        }
        let entry = Entry {
            schema: tool.schema.clone(),
            description: tool.description.clone(),
            wire: Arc::new(self.written(tool)),
            refused: None,
        };
        let mut entries = self.lock();
        if entries.len() >= MAX_ENTRIES {
            entries.clear();
        }
        entries.insert(tool.wire.clone(), entry.clone());
        entry
    }

    fn written(&self, tool: &ModelTool) -> Value {
        let mut function = Map::new();
        function.insert("name".into(), json!(&*tool.wire));
        function.insert("description".into(), json!(cut_description(&tool.description)));
        function.insert("parameters".into(), wire_schema(&tool.schema, self.profile));
        if self.profile == SchemaProfile::Openai {
            function.insert("strict".into(), json!(false));
        }
        json!({"type": "function", "function": function})
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
