//! `explain` and `/why`: one thing, one person, every check.

use super::view::{NameFault, View};
use crate::admission::{ExplainInput, Explanation, Facts, Opinion, explain as explain_one};
use crate::config::nearest;
use crate::index::NameError;

/// Explains a tool by any of its names, or `skill:NAME`, `agent:NAME`, `section:NAME`.
pub fn explain(view: &View<'_>, name: &str, facts: &Facts) -> Result<Explanation, NameFault> {
    if let Some(skill) = name.strip_prefix("skill:") {
        return explain_skill(view, skill, facts);
    }
    if let Some(agent) = name.strip_prefix("agent:") {
        return explain_agent(view, agent, facts);
    }
    if let Some(section) = name.strip_prefix("section:") {
        return explain_section(view, section, facts);
    }
    match view.indexes.tools.resolve(name) {
        Ok(tool) => Ok(view.explain_tool(tool, facts)),
        Err(NameError::Ambiguous { name, qualified }) => Err(NameFault::Ambiguous { name, qualified }),
        Err(NameError::Unknown(e)) => Err(NameFault::Unknown { kind: "tool", name: e.name, nearest: e.nearest }),
    }
}

fn pick<'a, T>(
    kind: &'static str,
    name: &str,
    all: &'a [T],
    names: impl Fn(&T) -> (&str, &str),
) -> Result<&'a T, NameFault> {
    if let Some(exact) = all.iter().find(|item| names(item).0 == name) {
        return Ok(exact);
    }
    let found: Vec<&T> = all.iter().filter(|item| names(item).1 == name).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => {
            let near = nearest(name, all.iter().map(|item| names(item).0));
            Err(NameFault::Unknown { kind, name: name.into(), nearest: near.into_iter().collect() })
        }
        many => {
            let qualified = many.iter().map(|item| names(item).0.to_string()).collect();
            Err(NameFault::Ambiguous { name: name.into(), qualified })
        }
    }
}

fn explain_skill(view: &View<'_>, name: &str, facts: &Facts) -> Result<Explanation, NameFault> {
    let skill = pick("skill", name, &view.indexes.skills, |s| (&s.qualified, &s.source.name))?;
    let input = ExplainInput {
        guarded: skill.guarded(),
        exposure: skill.exposure(),
        group: None,
        always: skill.source.always,
        gated: None,
        file: Some(&skill.source.place.doc.file),
        generation: view.generation,
    };
    Ok(explain_one(&input, facts, view.policy))
}

fn explain_agent(view: &View<'_>, name: &str, facts: &Facts) -> Result<Explanation, NameFault> {
    let name = name.trim_start_matches('@');
    let agents = &view.indexes.agents;
    let agent = match agents.iter().find(|a| a.path() == name) {
        Some(agent) => agent,
        None => pick("agent", name, agents, |a| (&a.qualified, &a.source.name))?,
    };
    let input = ExplainInput {
        guarded: agent.guarded(),
        exposure: crate::admission::Exposure::Listed,
        group: None,
        always: false,
        gated: None,
        file: Some(&agent.source.place.doc.file),
        generation: view.generation,
    };
    Ok(explain_one(&input, facts, view.policy))
}

fn explain_section(view: &View<'_>, name: &str, facts: &Facts) -> Result<Explanation, NameFault> {
    let section = pick("section", name, &view.indexes.sections, |s| (&s.qualified, &s.source.name))?;
    let input = ExplainInput {
        guarded: section.guarded(),
        exposure: crate::admission::Exposure::Listed,
        group: None,
        always: true,
        gated: None,
        file: Some(&section.source.place.doc.file),
        generation: view.generation,
    };
    Ok(explain_one(&input, facts, view.policy))
}

/// `/why TOOL` for the person itself: hidden and unknown tools look alike.
pub fn why(view: &View<'_>, name: &str, facts: &Facts) -> String {
    let texts = view.texts;
    let name = name.trim();
    if name.is_empty() {
        return texts.get("why-usage", &[]);
    }
    let unknown = |nearest: Option<String>| match nearest {
        Some(near) => texts.get("why-unknown-near", &[("name", name), ("nearest", &near)]),
        None => texts.get("why-unknown", &[("name", name)]),
    };
    let explanation = match explain(view, name, facts) {
        Ok(e) => e,
        Err(NameFault::Ambiguous { qualified, .. }) => return format!("`{name}`: {}", qualified.join(", ")),
        Err(NameFault::Unknown { nearest, .. }) => return unknown(nearest.into_iter().next()),
    };
    if explanation.exposure == crate::admission::Exposure::ByName {
        return unknown(None);
    }
    let tool = explanation.name.as_str();
    let mut out = match &explanation.denial {
        None => texts.get("why-admitted", &[("tool", tool)]),
        Some(denial) => {
            let reason = format!("{} ({})", denial.detail, denial.reason);
            texts.get("why-denied", &[("tool", tool), ("reason", &reason)])
        }
    };
    if let (None, Some(approval)) = (&explanation.denial, &explanation.approval) {
        let key = match approval.decision {
            Opinion::Allow => "why-approval-allow",
            Opinion::Ask => "why-approval-ask",
            Opinion::Deny => "why-approval-deny",
        };
        out.push(' ');
        out.push_str(&texts.get(key, &[]));
    }
    out
}
