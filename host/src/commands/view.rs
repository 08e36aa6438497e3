//! What a view is made from.

use crate::admission::{BitSet, ExplainInput, Facts, LivePolicy, can_access_tool, explain as explain_tool};
use crate::candidate::{PluginState, PluginView};
use crate::config::Texts;
use crate::index::{Agent, Indexes, Skill, Tool};
use serde_json::{Value, json};

/// A generation (or a throw-away candidate) and the policy of the moment.
pub struct View<'a> {
    /// Its indexes.
    pub indexes: &'a Indexes,
    /// Its plugins.
    pub plugins: &'a [PluginView],
    /// Its number; `None` when prepared from disk.
    pub generation: Option<u64>,
    /// Who may do what now.
    pub policy: &'a LivePolicy,
    /// System texts.
    pub texts: &'a Texts,
}

/// A name that is nothing, or several things.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// Nothing has it.
    #[error("there is no {kind} `{name}`{}", near(nearest))]
    Unknown {
        /// `tool`, `skill`, `agent`, `section`.
        kind: &'static str,
        /// As written.
        name: String,
        /// Close ones.
        nearest: Vec<String>,
    },
    /// Several have it.
    #[error("`{name}` is ambiguous: {}", qualified.join(", "))]
    Ambiguous {
        /// As written.
        name: String,
        /// Qualified names.
        qualified: Vec<String>,
    },
}

fn near(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; near: {}", nearest.join(", ")) }
}

impl View<'_> {
    /// Ids of the admitted tools, whatever their placement.
    pub fn admitted(&self, facts: &Facts) -> BitSet {
        self.indexes.tools.rules().admitted(facts, self.policy)
    }

    /// Admitted tools of plugins that anybody can find: public and not hidden.
    pub fn offered(&self, facts: &Facts) -> Vec<&Tool> {
        let admitted = self.admitted(facts);
        let listed = |t: &&Tool| t.exposure() == crate::admission::Exposure::Listed;
        self.indexes.tools.tools().iter().filter(|t| admitted.contains(t.id.0 as usize)).filter(listed).collect()
    }

    /// Admitted public skills.
    pub fn offered_skills(&self, facts: &Facts) -> Vec<&Skill> {
        let public = |s: &&Skill| s.agent().is_none();
        let admitted = |s: &&Skill| can_access_tool(&s.guarded(), facts, self.policy).is_ok();
        self.indexes.skills.iter().filter(public).filter(admitted).collect()
    }

    /// Agents the person may name here.
    pub fn offered_agents(&self, facts: &Facts) -> Vec<&Agent> {
        let admitted = |a: &&Agent| can_access_tool(&a.guarded(), facts, self.policy).is_ok();
        self.indexes.agents.iter().filter(admitted).collect()
    }

    /// Explanation of one tool.
    pub(super) fn explain_tool(&self, tool: &Tool, facts: &Facts) -> crate::admission::Explanation {
        let input = ExplainInput {
            guarded: tool.guarded(),
            exposure: tool.exposure(),
            group: Some(&tool.def().options.group),
            always: tool.always,
            gated: Some(tool.gated()),
            file: tool.file(),
            generation: self.generation,
        };
        explain_tool(&input, facts, self.policy)
    }
}

/// `{owner, version, status, hash}` of `check`.
pub fn plugin_json(plugin: &PluginView) -> Value {
    json!({"owner": plugin.owner, "version": plugin.version, "status": state(plugin.state), "hash": plugin.hash})
}

pub(super) fn state(state: PluginState) -> Value {
    serde_json::to_value(state).unwrap_or_default()
}
