//! Which results of a shared history the present person may see.

use super::Admitted;
use crate::index::Indexes;
use serde_json::Value;

/// One person, looking at what others left.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    /// The generation of the turn.
    pub indexes: &'a Indexes,
    /// Verdict of the predicate for this person here.
    pub admitted: &'a Admitted,
    /// Text form of the person.
    pub present: &'a str,
}

impl Sight<'_> {
    /// Whether a result may be shown. `author` asked for it. A tool of this generation: by admission. One that is
    /// gone: only to its requester.
    pub fn sees(&self, tool: &str, data: &Value, author: &str) -> bool {
        match self.indexes.tools.get(tool) {
            Some(known) => self.admitted.tool(known.id) && self.may_read_skill(data),
            None => author == self.present,
        }
    }

    /// The text of a skill is its result: it is the skill's admission that counts.
    fn may_read_skill(&self, data: &Value) -> bool {
        let Some(name) = data.get("skill").and_then(Value::as_str) else { return true };
        match self.indexes.skills.iter().position(|s| *s.qualified == *name) {
            Some(position) => self.admitted.skill(position),
            None => true,
        }
    }

    /// Whether a result may go into a text that everybody of a shared session reads: its tool, and the skill
    /// whose text it is, are there for everybody.
    pub fn is_for_all(&self, tool: &str, data: &Value) -> bool {
        let open_skill = |name: &str| {
            let skill = self.indexes.skills.iter().find(|s| *s.qualified == *name);
            skill.is_some_and(|s| s.rules.permissions.is_empty())
        };
        let known = self.indexes.tools.get(tool).is_some_and(|t| t.def().options.permissions.is_empty());
        known && data.get("skill").and_then(Value::as_str).is_none_or(open_skill)
    }
}

/// Stands for a result that is not shown.
pub fn unseen(tool: &str) -> String {
    format!("[result of {tool}: not available to this person]")
}
