//! Who is in the base of a turn: admitted and listed, or private to an agent that is chosen or a skill that
//! is loaded; and why not.

use super::controller::Controller;
use super::loaded::LoadedSet;
use super::refusal::Refused;
use super::sent;
use crate::config::{BotConfig, DEFAULT_ALWAYS_LOADED, DeferredForm};
use crate::index::{Agent, Skill, Tool, ToolId};
use crate::loader::Placement;
use std::collections::{BTreeMap, HashSet};

impl Controller {
    /// Always-loaded ones as configured, then those that are always loaded by their own word or by
    /// `tools.allow`, by qualified name.
    pub(super) fn fixed_tools(&self, bot: &BotConfig) -> Vec<ToolId> {
        let defaults: Vec<String> = DEFAULT_ALWAYS_LOADED.iter().map(|n| n.to_string()).collect();
        let names = bot.agent.deferred_tools.always_loaded_tools.as_ref().unwrap_or(&defaults);
        let mut out: Vec<ToolId> = Vec::new();
        for name in names {
            let tool = self.always_named(name);
            if let Some(t) = tool.filter(|t| self.listed(t) && !out.contains(&t.id)) {
                out.push(t.id);
            }
        }
        let allowed: HashSet<&str> = bot.tools.allow.iter().flatten().map(String::as_str).collect();
        let mut pinned: Vec<&Tool> = self
            .indexes
            .tools
            .tools()
            .iter()
            .filter(|t| t.always || allowed.contains(&*t.qualified))
            .filter(|t| self.listed(t) && !out.contains(&t.id))
            .collect();
        pinned.extend(self.of_agent(&out, &pinned));
        pinned.sort_by(|a, b| a.qualified.cmp(&b.qualified));
        out.extend(pinned.iter().map(|t| t.id));
        out
    }

    /// Tools of the chosen agent that are in its hands from the first step: as many as a session may load. The
    /// rest is found like any other.
    fn of_agent(&self, fixed: &[ToolId], pinned: &[&Tool]) -> Vec<&Tool> {
        let taken = |t: &&Tool| !fixed.contains(&t.id) && !pinned.iter().any(|p| p.id == t.id);
        let own = self.chosen().into_iter().flat_map(|a| &a.tools).filter_map(|id| self.indexes.tools.by_id(*id));
        own.filter(|t| self.listed(t)).filter(taken).take(self.caps.tools).collect()
    }

    /// `discover` and `tool_search` both mean the search tool of the form.
    fn always_named(&self, name: &str) -> Option<&Tool> {
        let name = match (name, self.form) {
            ("discover" | "tool_search", DeferredForm::Discover) => "discover",
            ("discover" | "tool_search", DeferredForm::ToolSearch) => "tool_search",
            ("load_tool", DeferredForm::ToolSearch) => return None,
            (other, _) => other,
        };
        self.indexes.tools.get(name)
    }

    /// Whether all deferred tools together are few and short enough to be sent from the start.
    pub(super) fn deferred_chars_below(&self, limit: usize, room: usize) -> bool {
        if limit == 0 {
            return false;
        }
        let all = self.indexes.tools.tools().iter();
        let deferred: Vec<&Tool> = all.filter(|t| self.listed(t) && !self.fixed.contains(&t.id)).collect();
        if deferred.len() > room {
            return false;
        }
        let total: usize =
            deferred.iter().map(|t| crate::index::canonical_json(&t.input.visible).chars().count()).sum();
        total < limit
    }

    /// Positions of the admitted skills whose text is in every prompt.
    pub fn always_skills(&self) -> Vec<usize> {
        let all = self.indexes.skills.iter().enumerate();
        all.filter(|(i, s)| s.source.always && self.skill_visible(*i)).map(|(i, _)| i).collect()
    }

    /// Admitted, not hidden, and public or the chosen agent's: what the person finds without any skill.
    pub(super) fn listed(&self, tool: &Tool) -> bool {
        self.reachable(tool)
            && match &tool.from.placement {
                Placement::Plugin => true,
                Placement::Agent(_) => self.is_agents(tool),
                Placement::Skill(_) | Placement::AgentSkill(..) => false,
            }
    }

    fn is_agents(&self, tool: &Tool) -> bool {
        self.chosen().is_some_and(|a| a.holds(tool.owner(), &tool.from.placement))
    }

    /// What the chosen agent must not use leaves last.
    fn reachable(&self, tool: &Tool) -> bool {
        let asks = tool.is_builtin() && &*tool.local == "ask_user";
        self.admitted.tool(tool.id)
            && !tool.def().options.hidden
            && (self.turn.can_ask || !asks)
            && !self.is_disallowed(tool)
    }

    fn is_disallowed(&self, tool: &Tool) -> bool {
        self.chosen().is_some_and(|a| a.disallowed.contains(&tool.id))
    }

    /// The base of section 4: listed ones, and private ones whose agent is chosen and whose skill is loaded.
    pub(super) fn in_base(&self, set: &LoadedSet, tool: &Tool) -> bool {
        self.reachable(tool)
            && match &tool.from.placement {
                Placement::Plugin => true,
                Placement::Agent(_) => self.is_agents(tool),
                Placement::Skill(name) => self.unlocked(set, tool, name),
                Placement::AgentSkill(agent, name) => {
                    self.is_agents(tool) && self.unlocked(set, tool, &Placement::Agent(agent.clone()).local(name))
                }
            }
    }

    /// Whether a skill, by its name inside the owner, is loaded and this person's to use.
    fn unlocked(&self, set: &LoadedSet, tool: &Tool, skill: &str) -> bool {
        let qualified = tool.owner().qualify(skill);
        let of_it = |(i, s): (usize, &Skill)| {
            s.qualified == qualified && self.skill_visible(i) && (s.source.always || set.has_skill(&qualified))
        };
        self.indexes.skills.iter().enumerate().any(of_it)
    }

    /// Whether the person may see a skill: admitted, and of no agent but the chosen one.
    pub fn skill_visible(&self, position: usize) -> bool {
        let Some(skill) = self.indexes.skills.get(position) else { return false };
        let open = skill.source.placement == Placement::Plugin || self.is_agents_skill(skill);
        open && self.admitted.skill(position)
    }

    /// Whether a skill belongs to the chosen agent.
    pub fn is_agents_skill(&self, skill: &Skill) -> bool {
        self.chosen().is_some_and(|a| a.holds(&skill.owner, &skill.source.placement))
    }

    /// Whether the person may name an agent.
    pub fn agent_visible(&self, position: usize) -> bool {
        position < self.indexes.agents.len() && self.admitted.agent(position)
    }

    /// How a person names an agent: by its folder when that says enough.
    pub fn mention(&self, agent: &Agent) -> String {
        let all = self.indexes.agents.iter().enumerate();
        let alike = all.filter(|(i, a)| self.agent_visible(*i) && a.source.name == agent.source.name).count();
        format!("@{}", if alike > 1 { &agent.qualified } else { &agent.source.name })
    }

    /// Whether it is sent in every step anyway.
    pub(super) fn is_fixed(&self, id: ToolId) -> bool {
        self.fixed.contains(&id)
    }

    /// Whether a tool is in the model's hands without loading it.
    pub(super) fn is_sent_anyway(&self, tool: &Tool) -> bool {
        self.is_fixed(tool.id) || (self.send_all && self.listed(tool))
    }

    /// Why a known tool is outside the base, if it is.
    pub(super) fn refusal_of(&self, set: &LoadedSet, tool: &Tool) -> Option<Refused> {
        let name = tool.qualified.clone();
        if tool.def().options.hidden {
            return Some(Refused::NotListed(name));
        }
        if !self.reachable(tool) {
            return Some(Refused::NotAdmitted(name));
        }
        if self.in_base(set, tool) {
            return None;
        }
        let skill = match &tool.from.placement {
            Placement::Skill(skill) => Some(skill.clone()),
            Placement::AgentSkill(agent, skill) if self.is_agents(tool) => {
                Some(Placement::Agent(agent.clone()).local(skill))
            }
            _ => None,
        };
        Some(match skill {
            Some(skill) => {
                let help = format!("it belongs to a skill: call load_skill with name {}", tool.owner().qualify(&skill));
                Refused::NotLoaded(name, help)
            }
            None => Refused::NotListed(name),
        })
    }

    pub(super) fn how_to_load(&self, tool: &Tool) -> String {
        match self.form {
            DeferredForm::Discover => format!("call load_tool with name {}, then it in the next step", tool.qualified),
            DeferredForm::ToolSearch => "find it with tool_search, then call it in the next step".to_string(),
        }
    }

    /// A name the index does not have: gone when the conversation knew it, else unknown.
    pub(super) fn unknown(&self, set: &LoadedSet, name: &str) -> Refused {
        if self.mentioned.contains(name) {
            return Refused::Gone(name.to_string());
        }
        Refused::Unknown { name: name.to_string(), nearest: self.nearest(set, name, 3) }
    }

    /// How many public tools each owner offers beyond those sent in every step, whether loaded or not, so
    /// that loading changes no prompt.
    pub fn deferred_by_owner(&self) -> Vec<(String, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for t in self.indexes.tools.tools().iter().filter(|t| self.listed(t) && !self.is_sent_anyway(t)) {
            *counts.entry(t.owner().as_str()).or_default() += 1;
        }
        counts.into_iter().map(|(owner, n)| (owner.to_string(), n)).collect()
    }

    /// Whether a meta tool is in this turn's list.
    pub fn offers(&self, local: &str) -> bool {
        let tool = self.indexes.tools.get(local);
        tool.is_some_and(|t| sent::is_meta(t) && self.listed(t))
    }
}
