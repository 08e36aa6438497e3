//! What this person may see here, judged once at the start of a turn. The executor judges again, with
//! fresh facts, before each call.

use crate::admission::{BitSet, Facts, LivePolicy, can_access_tool};
use crate::index::{Indexes, ToolId};

/// The verdict of the predicate over one generation's items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Admitted {
    tools: BitSet,
    /// By position in `Indexes::skills`.
    skills: BitSet,
    /// By position in `Indexes::agents`.
    agents: BitSet,
}

impl Admitted {
    /// Judges every tool, skill and agent.
    pub fn judge(indexes: &Indexes, facts: &Facts, policy: &LivePolicy) -> Self {
        let mut skills = BitSet::empty(indexes.skills.len());
        for (position, skill) in indexes.skills.iter().enumerate() {
            if can_access_tool(&skill.guarded(), facts, policy).is_ok() {
                skills.insert(position);
            }
        }
        let mut agents = BitSet::empty(indexes.agents.len());
        for (position, agent) in indexes.agents.iter().enumerate() {
            if can_access_tool(&agent.guarded(), facts, policy).is_ok() {
                agents.insert(position);
            }
        }
        Self { tools: indexes.tools.rules().admitted(facts, policy), skills, agents }
    }

    /// Whether a tool is admitted.
    pub fn tool(&self, id: ToolId) -> bool {
        self.tools.contains(id.0 as usize)
    }

    /// Whether an agent is admitted.
    pub fn agent(&self, position: usize) -> bool {
        self.agents.contains(position)
    }

    /// Whether a skill is admitted.
    pub fn skill(&self, position: usize) -> bool {
        self.skills.contains(position)
    }
}
