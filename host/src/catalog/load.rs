//! `load_tool` and `load_skill`.

use super::controller::{Controller, Load};
use super::loaded::{Evicted, LoadedSet, Member};
use super::refusal::{self, Refused};
use super::restore;
use crate::index::{Skill, Tool};
use plugin_sdk::{ContentBlock, ToolError, ToolResult};
use serde_json::json;
use std::sync::Arc;

/// Longest text of a skill a model is given.
const SKILL_TEXT_MAX: usize = 50_000;

impl Controller {
    /// Loads one tool; it can be called from the next step on.
    pub fn load_tool(&self, name: &str, call_id: &str) -> Result<ToolResult, ToolError> {
        let name = name.trim();
        let mut state = self.lock();
        let tool = self.loadable(&state.set, name)?;
        if self.is_sent_anyway(tool) {
            let text = format!("{} is always available; call it.", tool.wire);
            return Ok(ToolResult::text(text).with_data(json!({"loaded": &*tool.qualified, "evicted": []})));
        }
        let known = state.set.has_tool(&tool.qualified);
        let load = Load::Tools(vec![tool.id]);
        let evicted = self.apply(&mut state, &load);
        self.record(&mut state, call_id, load);
        let head = if known { "Already loaded" } else { "Loaded" };
        let mut text = format!("{head}: {}. It can be called from the next step on", tool.qualified);
        if tool.wire != tool.qualified {
            text.push_str(&format!(", as {}", tool.wire));
        }
        text.push('.');
        for line in self.told(&evicted) {
            text.push('\n');
            text.push_str(&line);
        }
        let data = json!({"loaded": &*tool.qualified, "evicted": self.named(&evicted)});
        Ok(ToolResult::text(text).with_data(data))
    }

    /// Qualified, wire, or unique local name of a tool in the base.
    fn loadable(&self, set: &LoadedSet, name: &str) -> Result<&Tool, ToolError> {
        if let Some(tool) = self.indexes.tools.get(name) {
            return match self.refusal_of(set, tool) {
                None => Ok(tool),
                Some(Refused::NotListed(_)) if tool.def().options.hidden => Err(self.unknown(set, name).error()),
                Some(refused) => Err(refused.error()),
            };
        }
        let by_local = self.indexes.tools.resolve_local(name);
        let visible: Vec<&Tool> = by_local.iter().copied().filter(|t| self.in_base(set, t)).collect();
        match visible.as_slice() {
            [one] => return Ok(one),
            [] => {}
            many => {
                let names: Vec<Arc<str>> = many.iter().map(|t| t.qualified.clone()).collect();
                return Err(refusal::several(name, &names));
            }
        }
        if let Some(skill) = self.skills_named(name).first() {
            return Err(ToolError::new("NOT_FOUND", format!("{name} is a skill, not a tool"))
                .help(format!("call load_skill with name {}", skill.1.qualified)));
        }
        let agents = self.indexes.agents.iter().enumerate().filter(|(i, _)| self.agent_visible(*i));
        if let Some((_, agent)) = agents.into_iter().find(|(_, a)| a.answers_to(name.trim_start_matches('@'))) {
            let message = format!("{name} is an agent, not a tool");
            return Err(ToolError::new("NOT_FOUND", message).help(self.how_to_use(agent)));
        }
        let refused = by_local.iter().filter(|t| !t.def().options.hidden).find_map(|t| self.refusal_of(set, t));
        Err(refused.unwrap_or_else(|| self.unknown(set, name)).error())
    }

    /// Visible skills that a name means: its qualified name, else every skill of that local name.
    fn skills_named(&self, name: &str) -> Vec<(usize, &Skill)> {
        let visible = self.indexes.skills.iter().enumerate().filter(|(i, _)| self.skill_visible(*i));
        let all: Vec<(usize, &Skill)> = visible.collect();
        // for one name: the chosen agent's, then the others
        let named = |s: &Skill| s.source.name == name;
        if let Some(own) = all.iter().find(|(_, s)| named(s) && self.is_agents_skill(s)) {
            return vec![*own];
        }
        match all.iter().find(|(_, s)| s.qualified == name) {
            Some(exact) => vec![*exact],
            None => all.into_iter().filter(|(_, s)| named(s)).collect(),
        }
    }

    /// Gives the sealed text of a skill, unlocks and loads its tools.
    pub fn load_skill(&self, name: &str, call_id: &str) -> Result<ToolResult, ToolError> {
        let name = name.trim();
        let found = self.skills_named(name);
        let (position, skill) = match found.as_slice() {
            [one] => *one,
            [] => return Err(self.skill_not_found(name)),
            many => return Err(skill_ambiguous(name, many)),
        };
        let mut state = self.lock();
        let load = Load::Skill(position);
        let evicted = self.apply(&mut state, &load);
        self.record(&mut state, call_id, load);
        let (unlocked, rest): (Vec<Member>, Vec<Member>) =
            self.group_of(skill).into_iter().partition(|m| state.set.has_tool(&m.name));
        drop(state);
        let mut result = ToolResult::text(skill.source.body.chars().take(SKILL_TEXT_MAX).collect::<String>());
        let mut lines = self.told(&evicted);
        if !rest.is_empty() {
            let names: Vec<&str> = rest.iter().map(|m| &*m.name).collect();
            lines.push(format!("not loaded for lack of room: {}; load them by name when needed", names.join(", ")));
        }
        if !lines.is_empty() {
            result.content.push(ContentBlock::text(lines.join("\n")));
        }
        let unlocked: Vec<&str> = unlocked.iter().map(|m| &*m.name).collect();
        Ok(result.with_data(json!({
            "skill": skill.qualified,
            "unlocked": unlocked,
            "evicted": self.named(&evicted),
        })))
    }

    /// Tools of a skill that this person is admitted to and that are not sent anyway.
    pub(super) fn group_of(&self, skill: &Skill) -> Vec<Member> {
        restore::group(&self.indexes, skill)
            .into_iter()
            .filter(|t| self.admitted.tool(t.id) && !self.is_sent_anyway(t))
            .map(restore::member)
            .collect()
    }

    fn skill_not_found(&self, name: &str) -> ToolError {
        let visible = self.indexes.skills.iter().enumerate().filter(|(i, _)| self.skill_visible(*i));
        let names: Vec<String> = visible.map(|(_, s)| s.qualified.to_string()).collect();
        let known = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        ToolError::new("SKILL_NOT_FOUND", format!("there is no skill {name}; known skills: {known}"))
            .retryable()
            .detail("skills", names)
    }

    /// Names this person may know; what belongs to somebody else is left out of the list.
    fn named(&self, evicted: &Evicted) -> Vec<String> {
        let tools = evicted.tools.iter().filter(|n| self.knows(n));
        let skills = evicted.skills.iter().filter(|n| self.knows_skill(n));
        tools.chain(skills).map(|n| n.to_string()).collect()
    }

    pub(super) fn told(&self, evicted: &Evicted) -> Vec<String> {
        let names = self.named(evicted);
        let unnamed = evicted.tools.len() + evicted.skills.len() - names.len();
        let mut lines: Vec<String> = names.iter().map(|n| format!("evicted: {n}; load it again when needed")).collect();
        if unnamed > 0 {
            lines.push(format!("evicted: {unnamed} more of this conversation"));
        }
        lines
    }

    fn knows(&self, qualified: &str) -> bool {
        self.indexes.tools.get(qualified).is_some_and(|t| self.admitted.tool(t.id))
    }

    fn knows_skill(&self, qualified: &str) -> bool {
        let mut skills = self.indexes.skills.iter().enumerate();
        skills.any(|(i, s)| s.qualified == qualified && self.skill_visible(i))
    }
}

fn skill_ambiguous(name: &str, many: &[(usize, &Skill)]) -> ToolError {
    let names: Vec<String> = many.iter().map(|(_, s)| s.qualified.to_string()).collect();
    ToolError::new("SKILL_AMBIGUOUS", format!("{name} is the name of several skills: {}", names.join(", ")))
        .help("load one by its qualified name")
        .detail("skills", names)
}
