//! A tool as a model is sent it. Everything in it comes from the sealed generation, so two turns of one
//! generation send the same bytes.

use crate::index::{Tool, ToolId, terms_of};
use serde_json::Value;
use std::sync::Arc;

/// One entry of the tool list.
#[derive(Debug, Clone)]
pub struct SentTool {
    /// Position in the index.
    pub id: ToolId,
    /// Wire name.
    pub wire: Arc<str>,
    /// Qualified name.
    pub qualified: Arc<str>,
    /// Description, deprecation sentence included.
    pub description: Arc<str>,
    /// Visible schema, shared with the index.
    pub schema: Arc<Value>,
    /// Terms of name, tags and keywords.
    pub words: Arc<[String]>,
    /// Whether it belongs to the controller or asks the person.
    pub meta: bool,
    /// Whether it is here because it was loaded.
    pub loaded: bool,
}

impl SentTool {
    pub(super) fn of(tool: &Tool, loaded: bool) -> Self {
        let options = &tool.def().options;
        let mut words = terms_of(&tool.from.name);
        for text in options.tags.iter().chain(&options.keywords) {
            words.extend(terms_of(text));
        }
        words.sort();
        words.dedup();
        Self {
            id: tool.id,
            wire: tool.wire.clone(),
            qualified: tool.qualified.clone(),
            description: tool.description().into(),
            schema: tool.input.visible.clone(),
            words: words.into(),
            meta: is_meta(tool),
            loaded,
        }
    }
}

/// Whether a tool is the host's own way to find, load or ask.
pub(super) fn is_meta(tool: &Tool) -> bool {
    tool.is_builtin() && (super::META_TOOLS.contains(&&*tool.local) || &*tool.local == "ask_user")
}
