//! What is ranked: an item and its weighted terms.

use super::terms::words_of;
use serde_json::Value;
use std::collections::HashMap;

/// Kinds of ranked items, in the order that breaks ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    /// A tool.
    Tool,
    /// A skill.
    Skill,
    /// An agent.
    Agent,
}

impl ItemKind {
    /// Contract name.
    pub fn as_str(self) -> &'static str {
        match self {
            ItemKind::Tool => "tool",
            ItemKind::Skill => "skill",
            ItemKind::Agent => "agent",
        }
    }
}

/// A root parameter of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RankParam {
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// String enum values, at most 20.
    pub values: Vec<String>,
}

/// One item to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankItem {
    /// Kind.
    pub kind: ItemKind,
    /// Local name.
    pub name: String,
    /// Qualified name.
    pub qualified: String,
    /// Wire name; the qualified one where there is none.
    pub wire: String,
    /// Tags and keywords.
    pub tags: Vec<String>,
    /// Catalog group.
    pub group: String,
    /// Description.
    pub description: String,
    /// Root parameters.
    pub params: Vec<RankParam>,
}

/// Most enum values that count.
const ENUM_VALUES: usize = 20;

/// Root parameters of an input schema.
pub fn params_of(schema: &Value) -> Vec<RankParam> {
    let Some(Value::Object(properties)) = schema.get("properties") else { return Vec::new() };
    let text = |v: &Value, key: &str| v.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    properties
        .iter()
        .map(|(name, p)| {
            let own = strings(p.get("enum"));
            let items = strings(p.get("items").and_then(|i| i.get("enum")));
            RankParam {
                name: name.clone(),
                description: text(p, "description"),
                values: own.chain(items).take(ENUM_VALUES).collect(),
            }
        })
        .collect()
}

fn strings(list: Option<&Value>) -> impl Iterator<Item = String> + '_ {
    let values = list.and_then(Value::as_array).into_iter().flatten();
    values.filter_map(Value::as_str).map(str::to_string)
}

/// The weight of every term of an item, in no order.
pub(super) fn weights(item: &RankItem) -> HashMap<String, f64> {
    let mut out = HashMap::new();
    let mut add = |text: &str, field: f64| {
        for word in words_of(text) {
            *out.entry(word.term()).or_insert(0.0) += word.weight * field;
        }
    };
    add(&item.name, 3.0);
    item.tags.iter().for_each(|t| add(t, 2.0));
    add(&item.group, 1.5);
    add(&item.description, 1.0);
    for p in &item.params {
        add(&p.name, 0.5);
        add(&p.description, 0.3);
        p.values.iter().for_each(|v| add(v, 0.3));
    }
    out
}
