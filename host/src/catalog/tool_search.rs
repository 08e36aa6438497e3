//! `tool_search`: one hit per query, loaded at once.

use super::controller::{Controller, Load};
use super::discover::{DESCRIPTION_MAX, short};
use super::loaded::LoadedSet;
use crate::index::{ItemId, Tool, ToolId, in_groups};
use plugin_sdk::{ContentBlock, ToolError, ToolResult};
use serde_json::{Value, json};

/// Input of `tool_search`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolSearchQuery {
    /// One search each, not blank.
    pub queries: Vec<String>,
    /// Only these groups; `None` = all, empty = none.
    pub include_groups: Option<Vec<String>>,
}

impl Controller {
    /// Selects at most one deferred tool per query and loads each.
    pub fn tool_search(&self, query: &ToolSearchQuery, call_id: &str) -> Result<ToolResult, ToolError> {
        if query.queries.is_empty() || query.queries.iter().any(|q| q.trim().is_empty()) {
            return Err(ToolError::new("VALIDATION_ERROR", "queries needs at least one query, none of them blank"));
        }
        let groups = query.include_groups.as_deref();
        let mut state = self.lock();
        let best = |q: &str| self.best_deferred(&state.set, q, groups);
        let hits: Vec<(&str, Option<&Tool>)> = query.queries.iter().map(|q| (q.trim(), best(q.trim()))).collect();
        let mut ids: Vec<ToolId> = Vec::new();
        for tool in hits.iter().filter_map(|(_, t)| *t) {
            if !ids.contains(&tool.id) {
                ids.push(tool.id);
            }
        }
        let load = Load::Tools(ids.clone());
        let evicted = self.apply(&mut state, &load);
        self.record(&mut state, call_id, load);
        drop(state);
        let selections: Vec<Value> =
            hits.iter().map(|(q, t)| json!({"query": q, "tool": t.map(|t| &*t.qualified)})).collect();
        let tools: Vec<Value> = ids.iter().filter_map(|id| self.indexes.tools.by_id(*id)).map(described).collect();
        let data = json!({"selections": selections, "tools": tools});
        let mut result = ToolResult::text(data.to_string()).with_data(data);
        let lines = self.told(&evicted);
        if !lines.is_empty() {
            result.content.push(ContentBlock::text(lines.join("\n")));
        }
        Ok(result)
    }

    fn best_deferred(&self, set: &LoadedSet, query: &str, groups: Option<&[String]>) -> Option<&Tool> {
        let wanted = |tool: &Tool| {
            self.findable(set, tool)
                && !self.is_sent_anyway(tool)
                && groups.is_none_or(|g| in_groups(&tool.def().options.group, g))
        };
        let tool_of = |id: ItemId| self.indexes.tools.ranked_tool(id);
        let ranking = self.indexes.tools.ranking();
        let best = ranking.search(query, |id| tool_of(id).is_some_and(wanted), 1);
        best.first().and_then(|(id, _)| tool_of(*id))
    }
}

fn described(tool: &Tool) -> Value {
    json!({
        "name": &*tool.qualified,
        "description": short(&tool.def().description, DESCRIPTION_MAX),
        "group": tool.def().options.group,
    })
}
