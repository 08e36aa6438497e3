//! The loaded set of a session: stamps, groups, the cap and who leaves first. Pure values.

use std::sync::Arc;

/// How many may be loaded at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Caps {
    /// Tools.
    pub(super) tools: usize,
    /// Skills; those that are always in the prompt do not count.
    pub(super) skills: usize,
}

/// A tool a group can hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Qualified name.
    pub(super) name: Arc<str>,
    /// Schema hash in this generation.
    pub(super) schema_hash: Arc<str>,
}

/// A skill as it is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SkillKey {
    /// Qualified name.
    pub(super) name: Arc<str>,
    /// Hash of its text.
    pub(super) hash: Arc<str>,
    /// Every tool of the group, also those the loading person is not admitted to: a shared session keeps
    /// what another member's load of the same skill brought.
    pub(super) holds: Vec<Arc<str>>,
}

/// One loaded tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoadedTool {
    /// Qualified name.
    pub(super) name: Arc<str>,
    /// Schema hash when it was loaded.
    pub(super) schema_hash: Arc<str>,
    /// Session counter of the latest use.
    pub(super) stamp: u64,
    /// Loaded by name; otherwise a skill holds it.
    pub(super) direct: bool,
    /// Step of this turn that loaded it, 0 = before.
    step: u32,
}

impl LoadedTool {
    /// An entry out of a snapshot.
    pub(super) fn restored(name: Arc<str>, schema_hash: Arc<str>, stamp: u64, direct: bool) -> Self {
        Self { name, schema_hash, stamp, direct, step: 0 }
    }
}

/// One loaded skill with the tools it can hold, in its own order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoadedSkill {
    /// Qualified name.
    pub(super) name: Arc<str>,
    /// Hash of its text when it was loaded.
    pub(super) hash: Arc<str>,
    /// Session counter of the latest load.
    pub(super) stamp: u64,
    /// Tools of the group.
    pub(super) members: Vec<Arc<str>>,
    /// In every prompt, so the skill limit does not count it.
    pub(super) always: bool,
    step: u32,
}

impl LoadedSkill {
    /// A skill and when it was loaded or last used.
    pub(super) fn new(key: SkillKey, stamp: u64, always: bool, step: u32) -> Self {
        let SkillKey { name, hash, holds } = key;
        Self { name, hash, stamp, members: holds, always, step }
    }
}

/// What left, and why the model is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Evicted {
    /// Qualified tool names.
    pub(super) tools: Vec<Arc<str>>,
    /// Qualified skill names.
    pub(super) skills: Vec<Arc<str>>,
}

impl Evicted {
    /// Adds what another step of the same call evicted.
    pub(super) fn absorb(&mut self, other: Evicted) {
        self.tools.extend(other.tools);
        self.skills.extend(other.skills);
    }
}

/// What can leave at once: a tool loaded by name, or a skill with its tools.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Unit {
    Direct(Arc<str>),
    Skill(Arc<str>),
}

/// The set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LoadedSet {
    tools: Vec<LoadedTool>,
    skills: Vec<LoadedSkill>,
    counter: u64,
}

impl LoadedSet {
    /// Rebuilt from a snapshot's entries, in their load order.
    pub(super) fn restored(tools: Vec<LoadedTool>, skills: Vec<LoadedSkill>, counter: u64) -> Self {
        let newest = tools.iter().map(|t| t.stamp).chain(skills.iter().map(|s| s.stamp)).max().unwrap_or(0);
        let mut set = Self { tools, skills, counter: counter.max(newest) };
        set.drop_unheld();
        set
    }

    /// Loaded tools in load order.
    pub(super) fn tools(&self) -> &[LoadedTool] {
        &self.tools
    }

    /// Loaded skills in load order.
    pub(super) fn skills(&self) -> &[LoadedSkill] {
        &self.skills
    }

    /// The session counter.
    pub(super) fn counter(&self) -> u64 {
        self.counter
    }

    /// Whether a tool is loaded.
    pub(super) fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|t| &*t.name == name)
    }

    /// Whether a skill is loaded.
    pub(super) fn has_skill(&self, name: &str) -> bool {
        self.skills.iter().any(|s| &*s.name == name)
    }

    /// How many tools the cap still has room for.
    pub(super) fn room(&self, caps: Caps) -> usize {
        caps.tools.saturating_sub(self.tools.len())
    }

    fn next_stamp(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// A use of a loaded tool; nothing for any other.
    pub(super) fn touch(&mut self, name: &str) {
        if self.has_tool(name) {
            let stamp = self.next_stamp();
            for t in self.tools.iter_mut().filter(|t| &*t.name == name) {
                t.stamp = stamp;
            }
        }
    }

    /// Loads one tool by name; a loaded one is only refreshed.
    pub(super) fn load_tool(&mut self, tool: Member, step: u32, caps: Caps) -> Evicted {
        if self.has_tool(&tool.name) {
            self.touch(&tool.name);
            return Evicted::default();
        }
        let stamp = self.next_stamp();
        let (name, schema_hash) = (tool.name, tool.schema_hash);
        self.tools.push(LoadedTool { name, schema_hash, stamp, direct: true, step });
        self.enforce(caps, step)
    }

    /// Loads a skill and, up to the cap, its tools in its own order.
    pub(super) fn load_skill(&mut self, skill: SkillKey, members: &[Member], step: u32, caps: Caps) -> Evicted {
        let stamp = self.next_stamp();
        match self.skills.iter_mut().find(|s| s.name == skill.name) {
            Some(known) => known.stamp = stamp,
            None => self.skills.push(LoadedSkill::new(skill, stamp, false, step)),
        }
        let fits = members.len().min(caps.tools);
        for m in members.iter().take(fits) {
            self.hold(m, stamp, step);
        }
        self.enforce(caps, step)
    }

    /// Loads a skill that is always in the prompt, with as many of its tools as there is room for. Nobody
    /// asked for it in this turn, so nothing may leave for it.
    pub(super) fn admit_always(&mut self, skill: SkillKey, members: &[Member], caps: Caps) {
        let stamp = match self.skills.iter_mut().find(|s| s.name == skill.name) {
            Some(known) => {
                known.always = true;
                known.stamp
            }
            None => {
                let stamp = self.next_stamp();
                self.skills.push(LoadedSkill::new(skill, stamp, true, 0));
                stamp
            }
        };
        for m in members {
            if !self.has_tool(&m.name) && self.room(caps) > 0 {
                self.hold(m, stamp, 0);
            }
        }
    }

    fn hold(&mut self, member: &Member, stamp: u64, step: u32) {
        if let Some(t) = self.tools.iter_mut().find(|t| t.name == member.name) {
            t.stamp = stamp;
            return;
        }
        let (name, schema_hash) = (member.name.clone(), member.schema_hash.clone());
        self.tools.push(LoadedTool { name, schema_hash, stamp, direct: false, step });
    }

    /// Brings both counts under their caps, the least recently used first.
    fn enforce(&mut self, caps: Caps, step: u32) -> Evicted {
        let before = self.clone();
        while self.skills.iter().filter(|s| !s.always).count() > caps.skills {
            let oldest = self.skills.iter().filter(|s| !s.always).min_by_key(|s| self.skill_age(s, step));
            let Some(name) = oldest.map(|s| s.name.clone()) else { break };
            self.remove(&Unit::Skill(name));
        }
        while self.tools.len() > caps.tools {
            let Some(unit) = self.oldest_unit(step) else { break };
            self.remove(&unit);
        }
        Evicted {
            tools: before.tools.iter().filter(|t| !self.has_tool(&t.name)).map(|t| t.name.clone()).collect(),
            skills: before
                .skills
                .iter()
                .filter(|s| !s.always && !self.has_skill(&s.name))
                .map(|s| s.name.clone())
                .collect(),
        }
    }

    /// What was loaded by the step in progress is younger than everything else.
    fn skill_age(&self, skill: &LoadedSkill, step: u32) -> (bool, u64) {
        let used = self.tools.iter().filter(|t| skill.members.contains(&t.name)).map(|t| t.stamp).max();
        (step != 0 && skill.step == step, used.unwrap_or(0).max(skill.stamp))
    }

    fn oldest_unit(&self, step: u32) -> Option<Unit> {
        let direct = self.tools.iter().filter(|t| t.direct).map(|t| {
            let age = (step != 0 && t.step == step, t.stamp);
            (age, Unit::Direct(t.name.clone()))
        });
        let groups = self
            .skills
            .iter()
            .filter(|s| s.members.iter().any(|m| self.has_tool(m)))
            .map(|s| (self.skill_age(s, step), Unit::Skill(s.name.clone())));
        direct.chain(groups).min_by_key(|(age, _)| *age).map(|(_, unit)| unit)
    }

    fn remove(&mut self, unit: &Unit) {
        match unit {
            Unit::Direct(name) => {
                for t in self.tools.iter_mut().filter(|t| t.name == *name) {
                    t.direct = false;
                }
            }
            Unit::Skill(name) => self.skills.retain(|s| s.name != *name),
        }
        self.drop_unheld();
    }

    /// A tool leaves with the last that holds it.
    fn drop_unheld(&mut self) {
        let Self { tools, skills, .. } = self;
        tools.retain(|t| t.direct || skills.iter().any(|s| s.members.contains(&t.name)));
    }
}
