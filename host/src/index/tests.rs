//! Tests of the room.

mod built;
mod named;
mod ranked;
mod registered;
mod schemas;

use super::*;
use crate::config::doc::Doc;
use crate::loader::{Place, Placement};
use plugin_sdk::{Callable, Diagnostic, OwnerPath, ToolDef, ToolExecutionContext, ToolResult};
use serde_json::{Map, Value};
use std::sync::Arc;

struct Nothing;

#[async_trait::async_trait]
impl Callable for Nothing {
    async fn call(&self, _: Map<String, Value>, _: &ToolExecutionContext) -> ToolResult {
        ToolResult::text("")
    }
}

fn place(owner: &str, item: &str, file: &str, text: &str) -> Place {
    let doc = Arc::new(Doc::parse_toml("tool", file, text).unwrap());
    Place { owner: OwnerPath::new(owner), item: item.into(), doc }
}

/// A folder tool as the loader gives it; the keys of `text` lie over the defaults.
fn tool_at(owner: &str, name: &str, placement: Placement, text: &str) -> Contribution {
    let file = format!("{owner}/{}/tool.toml", placement.local(name));
    let place = place(owner, &format!("tool {name}"), &file, text);
    let mut def = serde_json::to_value(ToolDef::new("A tool")).unwrap();
    for (k, v) in place.doc.root.value().as_object().unwrap() {
        def[k.as_str()] = v.clone();
    }
    Contribution {
        owner: OwnerPath::new(owner),
        name: name.into(),
        placement,
        source: Source::Folder,
        def: serde_json::from_value(def).unwrap(),
        callable: Arc::new(Nothing),
        runtime: "command",
        place: Some(place),
        schema_pointer: "/input_schema".into(),
        code_digest: "c0de".into(),
        config: Arc::new(Map::new()),
    }
}

fn tool(owner: &str, name: &str, text: &str) -> Contribution {
    tool_at(owner, name, Placement::Plugin, text)
}

fn builtin(name: &str, text: &str) -> Contribution {
    Contribution { source: Source::Builtin, runtime: "builtin", place: None, ..tool(".", name, text) }
}

/// `code file:line:column` of each finding.
fn places(found: &[Diagnostic]) -> Vec<String> {
    let at = |d: &Diagnostic| match (&d.file, d.line, d.column) {
        (Some(f), Some(l), Some(c)) => format!("{} {f}:{l}:{c}", d.code),
        (Some(f), ..) => format!("{} {f}", d.code),
        _ => d.code.clone(),
    };
    found.iter().map(at).collect()
}

fn registry(tools: impl IntoIterator<Item = Contribution>) -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    registry.register_many(tools).unwrap();
    registry
}

fn refused(tools: impl IntoIterator<Item = Contribution>) -> Vec<Diagnostic> {
    ToolRegistry::new().register_many(tools).unwrap_err().into_inner()
}
