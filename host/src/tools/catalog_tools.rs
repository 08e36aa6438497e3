//! `discover`, `load_tool`, `load_skill` and `tool_search`: arguments in, the turn's controller asked.

use crate::catalog::{Controller, DiscoverKind, DiscoverQuery, ToolSearchQuery};
use async_trait::async_trait;
use plugin_sdk::{Callable, ToolError, ToolExecutionContext, ToolResult};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Finds.
pub(super) struct Discover;
/// Loads one tool.
pub(super) struct LoadTool;
/// Reads a skill and loads its tools.
pub(super) struct LoadSkill;
/// Finds and loads.
pub(super) struct ToolSearch;

/// The turn's controller. Outside a turn there is no catalog to change.
fn controller(cx: &ToolExecutionContext) -> Result<Arc<Controller>, ToolError> {
    super::reach::in_turn(cx).map(|turn| turn.catalog.clone())
}

fn answer(result: Result<ToolResult, ToolError>) -> ToolResult {
    result.unwrap_or_else(ToolResult::error)
}

fn text<'a>(input: &'a Map<String, Value>, key: &str) -> &'a str {
    input.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn texts(input: &Map<String, Value>, key: &str) -> Option<Vec<String>> {
    let list = input.get(key)?.as_array()?;
    Some(list.iter().filter_map(Value::as_str).map(str::to_string).collect())
}

#[async_trait]
impl Callable for Discover {
    async fn call(&self, input: Map<String, Value>, cx: &ToolExecutionContext) -> ToolResult {
        let query = DiscoverQuery {
            query: text(&input, "query").into(),
            kind: match text(&input, "kind") {
                "tool" => DiscoverKind::Tool,
                "skill" => DiscoverKind::Skill,
                "agent" => DiscoverKind::Agent,
                _ => DiscoverKind::All,
            },
            mcp_server: input.get("mcp_server").and_then(Value::as_str).map(str::to_string),
            limit: input.get("limit").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()),
        };
        answer(controller(cx).and_then(|c| c.discover(&query)))
    }
}

#[async_trait]
impl Callable for LoadTool {
    async fn call(&self, input: Map<String, Value>, cx: &ToolExecutionContext) -> ToolResult {
        answer(controller(cx).and_then(|c| c.load_tool(text(&input, "name"), &cx.call_id)))
    }
}

#[async_trait]
impl Callable for LoadSkill {
    async fn call(&self, input: Map<String, Value>, cx: &ToolExecutionContext) -> ToolResult {
        answer(controller(cx).and_then(|c| c.load_skill(text(&input, "name"), &cx.call_id)))
    }
}

#[async_trait]
impl Callable for ToolSearch {
    async fn call(&self, input: Map<String, Value>, cx: &ToolExecutionContext) -> ToolResult {
        let query = ToolSearchQuery {
            queries: texts(&input, "queries").unwrap_or_default(),
            include_groups: texts(&input, "include_groups"),
        };
        answer(controller(cx).and_then(|c| c.tool_search(&query, &cx.call_id)))
    }
}
