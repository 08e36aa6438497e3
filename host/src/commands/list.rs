//! `list`: the items of one kind in the contract's shape.

use super::view::{View, state};
use crate::admission::{Exposure, Facts, Guarded, answered, can_access_tool};
use crate::index::{Agent, CommandEntry, Hook, Section, Skill, Tool, ToolId};
use crate::loader::Placement;
use serde_json::{Value, json};

/// Kinds of `list`.
pub const LIST_KINDS: [&str; 7] = ["tools", "skills", "agents", "sections", "hooks", "commands", "plugins"];

/// The body of `list KIND --json` beside the envelope; `subject` fills `admitted` and `reason`.
pub fn list(view: &View<'_>, kind: &str, subject: Option<&Facts>, with_schema: bool) -> Value {
    let items: Vec<Value> = match kind {
        "skills" => view.indexes.skills.iter().map(|s| skill(view, s, subject)).collect(),
        "agents" => view.indexes.agents.iter().map(|a| agent(view, a)).collect(),
        "hooks" => view.indexes.hooks.iter().map(hook).collect(),
        "sections" => view.indexes.sections.iter().map(section).collect(),
        "commands" => view.indexes.commands.iter().map(|c| command(view, c)).collect(),
        "plugins" => plugins(view),
        _ => tools_by_name(view).into_iter().map(|t| tool(view, t, subject, with_schema)).collect(),
    };
    json!({"generation": view.generation, "kind": kind, "items": items})
}

fn tools_by_name<'a>(view: &'a View<'_>) -> Vec<&'a Tool> {
    let mut tools: Vec<&Tool> = view.indexes.tools.tools().iter().collect();
    tools.sort_by(|a, b| a.qualified.cmp(&b.qualified));
    tools
}

fn verdict(view: &View<'_>, guarded: &Guarded<'_>, subject: Option<&Facts>) -> (Value, Value) {
    match subject.map(|facts| answered(facts, view.policy).and_then(|()| can_access_tool(guarded, facts, view.policy)))
    {
        None => (Value::Null, Value::Null),
        Some(Ok(())) => (true.into(), Value::Null),
        Some(Err(denial)) => (false.into(), denial.reason.into()),
    }
}

/// Agent and skill of a placement.
fn private_of(placement: &Placement) -> (Option<&str>, Option<&str>) {
    match placement {
        Placement::Plugin => (None, None),
        Placement::Agent(a) => (Some(a), None),
        Placement::Skill(s) => (None, Some(s)),
        Placement::AgentSkill(a, s) => (Some(a), Some(s)),
    }
}

fn tool(view: &View<'_>, tool: &Tool, subject: Option<&Facts>, with_schema: bool) -> Value {
    let options = &tool.def().options;
    let visibility = match tool.exposure() {
        Exposure::ByName => "hidden",
        _ if tool.always => "always",
        _ => "deferred",
    };
    let (agent, skill) = private_of(&tool.from.placement);
    let (admitted, reason) = verdict(view, &tool.guarded(), subject);
    let mut out = json!({
        "qualified": tool.qualified, "wire": tool.wire, "owner": tool.owner(), "local": tool.local,
        "placement": tool.from.placement.as_str(), "source": tool.from.source.as_str(), "file": tool.file(),
        "agent": agent, "skill": skill, "description": tool.description(), "visibility": visibility,
        "capabilities": options.capabilities, "requires_approval": tool.declared.approval,
        "platforms": tool.rules.platforms, "scopes": tool.rules.scopes, "permissions": tool.rules.permissions,
        "runtime": tool.from.runtime, "group": options.group, "tags": options.tags,
        "schema_sha256": tool.input.visible_sha256,
    });
    if let Value::Object(map) = &mut out {
        let schema = if with_schema { (*tool.input.visible).clone() } else { Value::Null };
        map.insert("input_schema".into(), schema);
        map.insert("admitted".into(), admitted);
        map.insert("reason".into(), reason);
    }
    out
}

fn skill(view: &View<'_>, skill: &Skill, subject: Option<&Facts>) -> Value {
    let tools = skill.unlocks.iter().filter_map(|id| view.indexes.tools.by_id(*id)).map(|t| t.qualified.to_string());
    let (admitted, reason) = verdict(view, &skill.guarded(), subject);
    json!({
        "qualified": skill.qualified, "owner": skill.owner, "source": "folder",
        "file": skill.source.place.doc.file, "description": skill.source.description, "agent": skill.agent(),
        "tools": tools.collect::<Vec<_>>(), "always": skill.source.always, "admitted": admitted, "reason": reason,
    })
}

/// Everything but the text, which may hold internal policy.
fn section(section: &Section) -> Value {
    let s = &section.source;
    json!({
        "qualified": section.qualified, "owner": section.owner, "source": "folder", "file": s.place.doc.file,
        "description": s.title, "title": s.title, "layer": s.layer.as_str(), "order": s.order,
        "retention": s.retention.as_str(), "max_chars": s.max_chars, "profiles": s.profiles, "platforms": s.platforms,
    })
}

fn command(view: &View<'_>, entry: &CommandEntry) -> Value {
    let tool = view.indexes.tools.by_id(entry.tool);
    let own = entry.gate.rules.permissions.iter();
    let permissions: Vec<&String> = own.chain(tool.into_iter().flat_map(|t| &t.rules.permissions)).collect();
    json!({
        "qualified": entry.word, "owner": entry.owner, "source": "folder", "file": entry.file,
        "description": entry.description, "aliases": entry.aliases, "tool": entry.qualified,
        "permissions": permissions, "hidden": entry.hidden,
    })
}

fn agent(view: &View<'_>, agent: &Agent) -> Value {
    let tool = |id: &ToolId| view.indexes.tools.by_id(*id).map(|t| t.qualified.to_string());
    let own = view.indexes.skills.iter().filter(|s| agent.holds(&s.owner, &s.source.placement));
    let named = agent.skills.iter().filter_map(|i| view.indexes.skills.get(*i));
    let skills: Vec<&str> = own.chain(named).map(|s| s.qualified.as_str()).collect();
    json!({
        "qualified": agent.qualified, "owner": agent.owner, "source": "folder",
        "file": agent.source.place.doc.file, "description": agent.source.about.description,
        "platforms": agent.source.platforms, "tools": agent.tools.iter().filter_map(tool).collect::<Vec<_>>(),
        "skills": skills, "auto_select": agent.source.auto_select,
    })
}

fn hook(hook: &Hook) -> Value {
    let source = &hook.source;
    let events: Vec<&str> = source.events.iter().map(|e| e.as_str()).collect();
    json!({
        "qualified": hook.qualified(), "owner": hook.owner, "source": "folder", "file": source.place.doc.file,
        "description": null, "events": events, "level": hook.level_name(), "tools": source.tools,
        "timeout_seconds": source.timeout_seconds,
    })
}

fn plugins(view: &View<'_>) -> Vec<Value> {
    let mut list: Vec<_> = view.plugins.iter().collect();
    list.sort_by(|a, b| a.owner.cmp(&b.owner));
    list.into_iter()
        .map(|p| {
            let tools = view.indexes.tools.tools().iter().filter(|t| *t.owner() == p.owner && !t.is_builtin()).count();
            let skills = view.indexes.skills.iter().filter(|s| s.owner == p.owner).count();
            let sections = view.indexes.sections.iter().filter(|s| s.owner == p.owner).count();
            let agents = view.indexes.agents.iter().filter(|a| a.owner == p.owner).count();
            let hooks = view.indexes.hooks.iter().filter(|h| h.owner == p.owner).count();
            let commands = view.indexes.commands.iter().filter(|c| c.owner == p.owner).count();
            json!({
                "qualified": p.owner, "owner": p.owner, "source": "folder", "file": p.file,
                "description": p.description, "version": p.version, "runtime": "command", "state": state(p.state),
                "counts": {
                    "tools": tools, "skills": skills, "agents": agents, "sections": sections, "hooks": hooks,
                    "commands": commands,
                },
            })
        })
        .collect()
}
