//! Between a session's snapshot and the loaded set of a turn.

use super::loaded::{LoadedSet, LoadedSkill, LoadedTool, Member, SkillKey};
use crate::index::{Indexes, Skill, Tool};
use crate::session::{Dropped, LoadedSnapshot, StoredSkill, StoredTool, Via};

/// The set at the start of a turn, and what the model is told about entries that were dropped.
pub(super) struct Restored {
    pub(super) set: LoadedSet,
    pub(super) notices: Vec<String>,
}

/// Drops what is gone and what changed; keeps everything else, also what this person cannot see.
pub(super) fn restore(indexes: &Indexes, snapshot: &LoadedSnapshot) -> Restored {
    let mut notices = Vec::new();
    let mut skills = Vec::new();
    for entry in &snapshot.skills {
        match indexes.skill(&entry.qualified_name) {
            None => notices
                .push(format!("The skill {} is no longer available; its tools are locked.", entry.qualified_name)),
            Some(skill) => {
                let key = skill_key(indexes, skill);
                if *key.hash != *entry.hash {
                    notices.push(format!("The skill {} changed; load it again.", entry.qualified_name));
                    continue;
                }
                skills.push(LoadedSkill::new(key, entry.stamp, skill.source.always, 0));
            }
        }
    }
    let mut tools = Vec::new();
    for entry in &snapshot.tools {
        let known = indexes.tools.get(&entry.qualified_name).filter(|t| *t.qualified == *entry.qualified_name);
        match known {
            None => notices.push(format!("The tool {} is no longer available.", entry.qualified_name)),
            Some(tool) if tool.input.schema_hash != entry.schema_hash => {
                notices.push(format!("The tool {} changed; load it again.", entry.qualified_name));
            }
            Some(tool) => {
                let m = member(tool);
                tools.push(LoadedTool::restored(m.name, m.schema_hash, entry.stamp, entry.via == Via::Direct));
            }
        }
    }
    Restored { set: LoadedSet::restored(tools, skills, snapshot.counter), notices }
}

/// The set as the session keeps it, in load order.
pub(super) fn snapshot(set: &LoadedSet) -> LoadedSnapshot {
    let tools = set.tools().iter().map(|t| StoredTool {
        qualified_name: t.name.to_string(),
        schema_hash: t.schema_hash.to_string(),
        stamp: t.stamp,
        via: if t.direct { Via::Direct } else { Via::Skill },
    });
    let skills = set.skills().iter().map(|s| StoredSkill {
        qualified_name: s.name.to_string(),
        hash: s.hash.to_string(),
        stamp: s.stamp,
        members: s.members.iter().map(|m| m.to_string()).collect(),
        always: s.always,
    });
    LoadedSnapshot { counter: set.counter(), tools: tools.collect(), skills: skills.collect() }
}

/// What was stored at the start of the turn and is no longer loaded.
pub(super) fn dropped(before: &LoadedSnapshot, set: &LoadedSet) -> Vec<Dropped> {
    let tools = before.tools.iter().filter(|t| !set.has_tool(&t.qualified_name));
    let tools = tools.map(|t| (t.qualified_name.clone(), t.stamp));
    let skills = before.skills.iter().filter(|s| !set.has_skill(&s.qualified_name));
    let skills = skills.map(|s| (s.qualified_name.clone(), s.stamp));
    tools.chain(skills).map(|(qualified_name, stamp)| Dropped { qualified_name, stamp }).collect()
}

/// A tool as a group holds it.
pub(super) fn member(tool: &Tool) -> Member {
    Member { name: tool.qualified.clone(), schema_hash: tool.input.schema_hash.as_str().into() }
}

/// A skill as it is loaded. Its text and the tools it names make it the same skill.
pub(super) fn skill_key(indexes: &Indexes, skill: &Skill) -> SkillKey {
    let text = format!("{}\n{}", skill.source.tools.join("\n"), skill.source.body);
    SkillKey {
        name: skill.qualified.as_str().into(),
        hash: crate::index::sha256_hex(text.as_bytes()).into(),
        holds: group(indexes, skill).iter().map(|t| t.qualified.clone()).collect(),
    }
}

/// Tools of a skill in its own order: its private ones, then those it names; never hidden ones.
pub(super) fn group<'a>(indexes: &'a Indexes, skill: &Skill) -> Vec<&'a Tool> {
    let tools = skill.unlocks.iter().filter_map(|id| indexes.tools.by_id(*id));
    tools.filter(|t| !t.def().options.hidden).collect()
}
