//! The loaded tools and skills of a session as they are stored.

use serde::{Deserialize, Serialize};

/// How a tool came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    /// Loaded by name.
    Direct,
    /// Held by a skill.
    Skill,
}

/// A loaded tool.
// SHAPE: 04 §4
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredTool {
    /// Qualified name.
    pub qualified_name: String,
    /// Schema hash when it was loaded.
    pub schema_hash: String,
    /// Session counter of the latest use.
    pub stamp: u64,
    /// How it came in.
    pub via: Via,
}

/// A loaded skill.
// SHAPE: 04 §4
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSkill {
    /// Qualified name.
    pub qualified_name: String,
    /// Hash of its text when it was loaded.
    pub hash: String,
    /// Session counter of the latest use.
    pub stamp: u64,
    /// Qualified names of the tools of its group.
    #[serde(default)]
    pub members: Vec<String>,
    /// Whether it is in every prompt.
    #[serde(default)]
    pub always: bool,
}

/// What a turn took out of the set; it leaves unless somebody has used it later than `stamp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// Qualified name of a tool or skill.
    pub qualified_name: String,
    /// Its stamp when the turn dropped it.
    pub stamp: u64,
}

/// The loaded set, in load order.
// SHAPE: 04 §4
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedSnapshot {
    /// Session counter: stamps come from it.
    pub counter: u64,
    /// Tools.
    pub tools: Vec<StoredTool>,
    /// Skills.
    pub skills: Vec<StoredSkill>,
}

impl LoadedSnapshot {
    /// Joins what a turn ended with into what is stored by now: per name the higher stamp wins, entries only one
    /// side has stay, and only what the turn dropped goes.
    #[must_use]
    pub fn merged(&self, turn: &LoadedSnapshot, dropped: &[Dropped]) -> LoadedSnapshot {
        let gone = |name: &str, stamp: u64| dropped.iter().any(|d| d.qualified_name == name && stamp <= d.stamp);
        let tool = |t: &StoredTool| (t.qualified_name.clone(), t.stamp);
        let skill = |s: &StoredSkill| (s.qualified_name.clone(), s.stamp);
        let mut tools = joined(&self.tools, &turn.tools, tool);
        let mut skills = joined(&self.skills, &turn.skills, skill);
        tools.retain(|t| !gone(&t.qualified_name, t.stamp));
        skills.retain(|s| !gone(&s.qualified_name, s.stamp));
        LoadedSnapshot { counter: self.counter.max(turn.counter), tools, skills }
    }
}

fn joined<T: Clone>(stored: &[T], turn: &[T], of: impl Fn(&T) -> (String, u64)) -> Vec<T> {
    let mut out = stored.to_vec();
    for entry in turn {
        let (name, stamp) = of(entry);
        match out.iter_mut().find(|o| of(o).0 == name) {
            Some(present) if of(present).1 <= stamp => *present = entry.clone(),
            Some(_) => {}
            None => out.push(entry.clone()),
        }
    }
    out
}
