//! Everything of a generation that `diff` compares: the items of `list`, marks of what `list` does not show, and the
//! settings.

use super::list::{LIST_KINDS, list};
use super::view::View;
use crate::config::{BotConfig, settings};
use crate::index::sha256_hex;
use serde_json::{Map, Value, json};

/// Items by kind and name, and settings by key.
pub fn inventory(view: &View<'_>, bot: &BotConfig) -> Value {
    let mut kinds = Map::new();
    for kind in LIST_KINDS {
        let found = list(view, kind, None, false);
        let items = found["items"].as_array().into_iter().flatten();
        let named = items.map(|item| (item["qualified"].as_str().unwrap_or_default().to_string(), item.clone()));
        kinds.insert(kind.into(), Value::Object(named.collect()));
    }
    for (kind, name, key, mark) in marks(view) {
        if let Some(Value::Object(item)) = kinds.get_mut(kind).and_then(|k| k.get_mut(&name)) {
            item.insert(key.into(), json!(mark));
        }
    }
    json!({"generation": view.generation, "kinds": kinds, "config": settings(bot)})
}

/// Kind, name, key and mark of every text and code. Texts themselves stay out: they may hold internal policy.
fn marks(view: &View<'_>) -> Vec<(&'static str, String, &'static str, String)> {
    let of_text = |text: &str| sha256_hex(text.as_bytes());
    let mut out = Vec::new();
    for tool in view.indexes.tools.tools() {
        out.push(("tools", tool.qualified.to_string(), "code_sha256", tool.tool_hash()));
    }
    for skill in &view.indexes.skills {
        out.push(("skills", skill.qualified.clone(), "text_sha256", of_text(&skill.source.body)));
    }
    for section in &view.indexes.sections {
        out.push(("sections", section.qualified.clone(), "text_sha256", of_text(&section.source.body)));
    }
    for agent in &view.indexes.agents {
        let source = &agent.source;
        let texts = format!("{:?} {:?} {:?}", source.entry_points, source.workflows, source.knowledge);
        out.push(("agents", agent.qualified.clone(), "text_sha256", of_text(&texts)));
    }
    for plugin in view.plugins {
        out.push(("plugins", plugin.owner.to_string(), "hash", plugin.hash.clone()));
    }
    out
}
