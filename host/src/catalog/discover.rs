//! `discover`: one ranking over tools, skills and agents; it loads nothing.

use super::controller::Controller;
use super::loaded::LoadedSet;
use super::sent;
use crate::index::{ItemId, ItemKind, Tool};
use plugin_sdk::{ToolError, ToolResult};
use serde_json::{Value, json};
use std::sync::Arc;

/// Longest description of a hit.
pub(super) const DESCRIPTION_MAX: usize = 240;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiscoverKind {
    /// Tools.
    Tool,
    /// Skills.
    Skill,
    /// Agents.
    Agent,
    /// Everything.
    #[default]
    All,
}

/// Input of `discover`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiscoverQuery {
    /// Words; empty lists by name.
    pub query: String,
    /// Kind.
    pub kind: DiscoverKind,
    /// Only this server's tools.
    pub mcp_server: Option<String>,
    /// Most items; `None` = the configured number.
    pub limit: Option<usize>,
}

struct Hit {
    kind: &'static str,
    name: Arc<str>,
    description: String,
    group: Value,
    loaded: bool,
}

impl Controller {
    /// Items the person could load, best first, and how many more there are.
    pub fn discover(&self, query: &DiscoverQuery) -> Result<ToolResult, ToolError> {
        if let Some(server) = &query.mcp_server {
            let message = format!("there is no server {server}; known servers: none");
            return Err(ToolError::new("NOT_FOUND", message).detail("servers", Vec::<String>::new()));
        }
        let words = query.query.trim();
        let set = &self.lock().set;
        let limit = query.limit.unwrap_or(self.top_k).clamp(1, 20);
        let (found, passed) = if words.is_empty() {
            let all = self.by_name(set, query.kind);
            let passed = all.len();
            (all, passed)
        } else {
            self.ranked(set, words, query.kind, limit)
        };
        let omitted = passed.saturating_sub(limit);
        let hits: Vec<Hit> = found.into_iter().take(limit).filter_map(|i| self.hit(set, i)).collect();
        Ok(ToolResult::text(text_of(&hits, omitted, words)).with_data(json!({
            "items": hits.iter().map(shown).collect::<Vec<_>>(),
            "omitted": omitted,
        })))
    }

    /// Skills first, then agents, each kind by qualified name.
    fn by_name(&self, set: &LoadedSet, kind: DiscoverKind) -> Vec<Item<'_>> {
        let mut items = Vec::new();
        if matches!(kind, DiscoverKind::Skill | DiscoverKind::All) {
            let all = self.indexes.skills.iter().enumerate();
            let mut skills: Vec<(&str, usize)> =
                all.filter(|(i, _)| self.skill_visible(*i)).map(|(i, s)| (s.qualified.as_str(), i)).collect();
            skills.sort_unstable();
            items.extend(skills.into_iter().map(|(_, i)| Item::Skill(i)));
        }
        if matches!(kind, DiscoverKind::Agent | DiscoverKind::All) {
            // sealed by owner and name
            let agents = (0..self.indexes.agents.len()).filter(|i| self.agent_visible(*i));
            items.extend(agents.map(Item::Agent));
        }
        if matches!(kind, DiscoverKind::Tool | DiscoverKind::All) {
            let tools = self.indexes.tools.tools().iter();
            let mut tools: Vec<&Tool> = tools.filter(|t| self.findable(set, t)).collect();
            tools.sort_unstable_by(|a, b| a.qualified.cmp(&b.qualified));
            items.extend(tools.into_iter().map(Item::Tool));
        }
        items
    }

    /// The best, and how many there are.
    fn ranked(&self, set: &LoadedSet, words: &str, kind: DiscoverKind, limit: usize) -> (Vec<Item<'_>>, usize) {
        let wanted = |id: ItemId| match self.item(id) {
            Some(Item::Tool(tool)) => {
                matches!(kind, DiscoverKind::Tool | DiscoverKind::All) && self.findable(set, tool)
            }
            Some(Item::Skill(position)) => {
                matches!(kind, DiscoverKind::Skill | DiscoverKind::All) && self.skill_visible(position)
            }
            Some(Item::Agent(position)) => {
                matches!(kind, DiscoverKind::Agent | DiscoverKind::All) && self.agent_visible(position)
            }
            None => false,
        };
        let (found, passed) = self.indexes.tools.ranking().search_counted(words, wanted, limit);
        (found.into_iter().filter_map(|(id, _)| self.item(id)).collect(), passed)
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        if let Some(tool) = self.indexes.tools.ranked_tool(id) {
            return Some(Item::Tool(tool));
        }
        let ranked = self.indexes.tools.ranking().item(id)?;
        match ranked.kind {
            ItemKind::Skill => {
                let same = |s: &crate::index::Skill| s.qualified == ranked.qualified;
                self.indexes.skills.iter().position(same).map(Item::Skill)
            }
            ItemKind::Agent => {
                let same = |a: &crate::index::Agent| a.qualified == ranked.qualified;
                self.indexes.agents.iter().position(same).map(Item::Agent)
            }
            ItemKind::Tool => None,
        }
    }

    /// In the base. The model's own ways to find and load are not findings.
    pub(super) fn findable(&self, set: &LoadedSet, tool: &Tool) -> bool {
        self.in_base(set, tool) && !(sent::is_meta(tool) && self.is_fixed(tool.id))
    }

    fn hit(&self, set: &LoadedSet, item: Item<'_>) -> Option<Hit> {
        match item {
            Item::Tool(tool) => Some(self.tool_hit(set, tool)),
            Item::Skill(position) => self.skill_hit(set, position),
            Item::Agent(position) => self.agent_hit(position),
        }
    }

    fn tool_hit(&self, set: &LoadedSet, tool: &Tool) -> Hit {
        Hit {
            kind: "tool",
            name: tool.qualified.clone(),
            description: short(&tool.def().description, DESCRIPTION_MAX),
            group: json!(tool.def().options.group),
            loaded: self.is_sent_anyway(tool) || set.has_tool(&tool.qualified),
        }
    }

    fn skill_hit(&self, set: &LoadedSet, position: usize) -> Option<Hit> {
        let skill = self.indexes.skills.get(position)?;
        Some(Hit {
            kind: "skill",
            name: skill.qualified.as_str().into(),
            description: short(&skill.source.description, DESCRIPTION_MAX),
            group: Value::Null,
            loaded: skill.source.always || set.has_skill(&skill.qualified),
        })
    }

    fn agent_hit(&self, position: usize) -> Option<Hit> {
        let agent = self.indexes.agents.get(position)?;
        let how = self.how_to_use(agent);
        let room = DESCRIPTION_MAX.saturating_sub(how.chars().count() + 1);
        Some(Hit {
            kind: "agent",
            name: agent.qualified.as_str().into(),
            description: format!("{} {how}", short(&agent.source.about.description, room)),
            group: Value::Null,
            loaded: self.turn.agent == Some(position),
        })
    }

    /// An agent is no tool: the person names it, or a task is given to it where that tool is offered.
    pub(super) fn how_to_use(&self, agent: &crate::index::Agent) -> String {
        let spawn = self.indexes.tools.get("spawn_task").filter(|t| self.listed(t));
        let mention = self.mention(agent);
        match spawn {
            Some(_) => format!("[{mention} at the start of a message, or spawn_task]"),
            None => format!("[the person writes {mention} at the start of a message]"),
        }
    }

    /// The nearest names in the base, for a refusal.
    pub(super) fn nearest(&self, set: &LoadedSet, name: &str, n: usize) -> Vec<String> {
        self.indexes.tools.nearest_where(name, n, |t| self.findable(set, t))
    }
}

/// What a ranked item is here.
enum Item<'a> {
    Tool(&'a Tool),
    /// Position in the index.
    Skill(usize),
    /// Position in the index.
    Agent(usize),
}

fn shown(hit: &Hit) -> Value {
    json!({
        "kind": hit.kind,
        "name": &*hit.name,
        "description": hit.description,
        "group": hit.group,
        "mcp_server": null,
        "loaded": hit.loaded,
    })
}

fn text_of(hits: &[Hit], omitted: usize, words: &str) -> String {
    if hits.is_empty() {
        return if words.is_empty() {
            "Nothing is on offer here.".to_string()
        } else {
            format!("Nothing found for \"{words}\". Other words may find it; an empty query lists everything.")
        };
    }
    let mut lines: Vec<String> = hits.iter().map(|h| format!("- [{}] {}: {}", h.kind, h.name, h.description)).collect();
    if omitted > 0 {
        lines.push(format!("and {omitted} more"));
    }
    lines.join("\n")
}

/// One line of at most `max` characters.
pub(super) fn short(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= max {
        return line;
    }
    let mut cut: String = line.chars().take(max.saturating_sub(1)).collect();
    cut.push('…');
    cut
}
