//! Skills: names, rules, and the tools they unlock.

use super::parts::Skill;
use super::registry::ToolRegistry;
use super::tool::{Tool, ToolId};
use crate::admission::{Platforms, check_rules};
use crate::config::{BotConfig, nearest_help};
use crate::loader::{Placement, SkillSource};
use plugin_sdk::{Diagnostic, OwnerPath};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of tools while skills are checked.
pub(super) struct ToolNames<'a> {
    /// Sound tools.
    pub(super) registry: &'a ToolRegistry,
    /// Every name that counts as present: faulty and left-out tools too.
    pub(super) present: &'a BTreeSet<String>,
}

/// The skills that stand, by owner and name.
pub(super) fn skills(
    sources: Vec<SkillSource>,
    tools: &ToolNames<'_>,
    platforms: &Platforms,
    out: &mut Vec<Diagnostic>,
) -> Vec<Skill> {
    let mut by_name: BTreeMap<(OwnerPath, String), Skill> = BTreeMap::new();
    let mut owners: BTreeMap<String, OwnerPath> = BTreeMap::new();
    let mut sources = sources;
    sources.sort_by(|a, b| (&a.place.owner, &a.name).cmp(&(&b.place.owner, &b.name)));
    for source in sources {
        let mut skill = Skill::new(source);
        let place = skill.source.place.clone();
        if let Some(other) = owners.get(&skill.qualified) {
            let code = if *other == skill.owner { "skill::duplicate-name" } else { "name::collision" };
            let message =
                format!("the skill `{}` is one of owner `{other}` and one of `{}`", skill.qualified, skill.owner);
            out.push(place.diag(Diagnostic::error(code, message).help("rename one of the two"), ""));
            continue;
        }
        let found = check(&mut skill, tools, platforms);
        let broken = found.iter().any(Diagnostic::is_error);
        if skill.source.workspace && broken {
            out.extend(found.into_iter().map(softened));
            continue;
        }
        out.extend(found);
        owners.insert(skill.qualified.clone(), skill.owner.clone());
        by_name.insert((skill.owner.clone(), skill.qualified.clone()), skill);
    }
    let list: Vec<Skill> = by_name.into_values().collect();
    out.extend(shadowed(&list));
    list
}

/// Public skills that an agent of the same owner has a skill of its own for: in its turns that one counts.
fn shadowed(list: &[Skill]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for own in list.iter().filter(|s| s.agent().is_some()) {
        let public = |s: &&Skill| s.agent().is_none() && s.owner == own.owner && s.source.name == own.source.name;
        for loser in list.iter().filter(public).filter(|s| !s.source.workspace) {
            let message = format!(
                "while the agent `{}` is chosen, its own skill takes the place of `{}`",
                own.agent().unwrap_or_default(),
                loser.qualified
            );
            let d = Diagnostic::warning("skill::shadowed", message).help("rename one of them").related(
                own.source.place.doc.file.clone(),
                None,
                "the agent's skill",
            );
            found.push(loser.source.place.diag(d, ""));
        }
    }
    found
}

/// A broken skill of the workspace is left out, never a reason to refuse.
fn softened(mut d: Diagnostic) -> Diagnostic {
    if d.is_error() {
        d.severity = plugin_sdk::Severity::Warning;
        d.message.push_str(" (this workspace skill is left out)");
    }
    d
}

fn check(skill: &mut Skill, tools: &ToolNames<'_>, platforms: &Platforms) -> Vec<Diagnostic> {
    let place = skill.source.place.clone();
    let mut out: Vec<Diagnostic> =
        check_rules(&skill.rules, platforms).into_iter().map(|(pointer, d)| place.diag(d, &pointer)).collect();
    let mut unlocks = private_tools(skill, tools.registry);
    for (i, name) in skill.source.tools.iter().enumerate() {
        match resolve(skill, name, tools) {
            Resolved::Tool(id) if unlocks.contains(&id) => {}
            Resolved::Tool(id) => unlocks.push(id),
            Resolved::Absent => {}
            Resolved::Unknown => {
                let known = tools.present.iter().map(String::as_str);
                let d = Diagnostic::error("skill::unknown-tool", format!("there is no tool `{name}`")).help(near_or(
                    name,
                    known,
                    "write a local name of this owner or a qualified name",
                ));
                out.push(place.diag(d, &format!("/tools/{i}")));
            }
        }
    }
    skill.unlocks = unlocks;
    out
}

/// A nearest name, or the given hint where a list of all names would be noise.
pub(super) fn near_or<'a>(word: &str, known: impl Iterator<Item = &'a str>, hint: &str) -> String {
    match crate::config::nearest(word, known) {
        Some(hit) => nearest_help(word, [hit.as_str()]),
        None => hint.to_string(),
    }
}

enum Resolved {
    Tool(ToolId),
    /// Declared, but not in this candidate.
    Absent,
    Unknown,
}

fn private_tools(skill: &Skill, registry: &ToolRegistry) -> Vec<ToolId> {
    let wanted = match &skill.source.placement {
        Placement::Agent(a) => Placement::AgentSkill(a.clone(), skill.source.name.clone()),
        _ => Placement::Skill(skill.source.name.clone()),
    };
    let mine = |t: &&Tool| *t.owner() == skill.owner && t.from.placement == wanted && !skill.source.workspace;
    registry.tools().iter().filter(mine).map(|t| t.id).collect()
}

/// Local in the owner (of the same agent first), else qualified of any owner.
fn resolve(skill: &Skill, name: &str, tools: &ToolNames<'_>) -> Resolved {
    let of_agent = skill.agent().map(|a| skill.owner.qualify(&Placement::Agent(a.to_string()).local(name)));
    let candidates: Vec<String> = of_agent.into_iter().chain([skill.owner.qualify(name), name.to_string()]).collect();
    if let Some(tool) = candidates.iter().find_map(|c| tools.registry.get(c).ok()) {
        return Resolved::Tool(tool.id);
    }
    match candidates.iter().any(|c| tools.present.contains(c)) {
        true => Resolved::Absent,
        false => Resolved::Unknown,
    }
}

/// `agent.skills.require`: names that the workspace has and that do not stand in the end. What it lacks is the
/// loader's finding.
pub(super) fn required(skills: &[Skill], offered: &BTreeSet<String>, bot: &BotConfig) -> Vec<(String, Diagnostic)> {
    let stands = |name: &String| skills.iter().any(|s| s.source.workspace && s.source.name == *name);
    let missing = bot.agent.skills.require.iter().enumerate().filter(|(_, n)| offered.contains(*n) && !stands(n));
    missing
        .map(|(i, name)| {
            let d = Diagnostic::error("skill::required-missing", format!("the workspace skill `{name}` is broken"))
                .help("repair it; `[plugins] ignore` leaves out one folder of a pack");
            (format!("/agent/skills/require/{i}"), d)
        })
        .collect()
}
