//! Between a session's snapshot and the loaded set of a turn.

use super::Admitted;
use super::loaded::{LoadedSet, LoadedSkill, LoadedTool, Member, SkillKey};
use crate::index::{Indexes, Skill, Tool};
use crate::session::{Dropped, LoadedSnapshot, StoredSkill, StoredTool, Via};

/// The set at the start of a turn, and what the model is told about entries that were dropped.
pub(super) struct Restored {
    pub(super) set: LoadedSet,
    pub(super) notices: Vec<String>,
}

/// Drops what is gone and what changed; keeps everything else. What this person cannot see is left as it is:
/// its change is for those to hear who use it.
pub(super) fn restore(indexes: &Indexes, admitted: &Admitted, snapshot: &LoadedSnapshot) -> Restored {
    let mut notices = Vec::new();
    let skills = snapshot.skills.iter().filter_map(|s| restored_skill(indexes, admitted, s, &mut notices)).collect();
    let tools = snapshot.tools.iter().filter_map(|t| restored_tool(indexes, admitted, t, &mut notices)).collect();
    Restored { set: LoadedSet::restored(tools, skills, snapshot.counter), notices }
}

fn restored_skill(
    indexes: &Indexes,
    admitted: &Admitted,
    entry: &StoredSkill,
    notices: &mut Vec<String>,
) -> Option<LoadedSkill> {
    let name = &entry.qualified_name;
    let Some(position) = indexes.skills.iter().position(|s| s.qualified == *name) else {
        notices.push(format!("The skill {name} is no longer available; its tools are locked."));
        return None;
    };
    let skill = indexes.skills.get(position)?;
    let mut key = skill_key(indexes, skill);
    let changed = *key.hash != *entry.hash;
    if changed && admitted.skill(position) {
        // one that is always there comes back by itself, with its new text
        if !skill.source.always {
            notices.push(format!("The skill {name} changed; load it again."));
        }
        return None;
    }
    key.hash = entry.hash.as_str().into();
    Some(LoadedSkill::new(key, entry.stamp, skill.source.always, 0))
}

fn restored_tool(
    indexes: &Indexes,
    admitted: &Admitted,
    entry: &StoredTool,
    notices: &mut Vec<String>,
) -> Option<LoadedTool> {
    let name = &entry.qualified_name;
    let Some(tool) = indexes.tools.get(name).filter(|t| *t.qualified == **name) else {
        notices.push(format!("The tool {name} is no longer available."));
        return None;
    };
    if tool.input.schema_hash != entry.schema_hash && admitted.tool(tool.id) {
        notices.push(format!("The tool {name} changed; load it again."));
        return None;
    }
    let hash = entry.schema_hash.as_str().into();
    Some(LoadedTool::restored(tool.qualified.clone(), hash, entry.stamp, entry.via == Via::Direct))
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
