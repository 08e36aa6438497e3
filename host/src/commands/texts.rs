//! Chat texts of the built-in commands, made for the person who asks.

use super::view::View;
use crate::admission::{Facts, can_access_tool};
use crate::index::Tool;
use crate::route::Builtin;
use plugin_sdk::OwnerPath;
use serde_json::Value;
use std::collections::BTreeMap;

/// Most tools listed per owner in `/help`; the rest is counted.
const HELP_TOOLS: usize = 12;
/// Most lines of `/tools` and `/skills`.
const LIST_LINES: usize = 100;

/// First sentence of a description, at most 90 characters.
fn short(description: &str) -> String {
    let first = description.lines().next().unwrap_or_default();
    let mut out: String = first.chars().take(90).collect();
    if first.chars().count() > 90 {
        out.push('…');
    }
    out
}

/// Plugin tools the person can use, by owner.
fn by_owner<'a>(view: &'a View<'_>, facts: &Facts) -> BTreeMap<&'a OwnerPath, Vec<&'a Tool>> {
    let mut out: BTreeMap<&OwnerPath, Vec<&Tool>> = BTreeMap::new();
    for tool in view.offered(facts).into_iter().filter(|t| !t.is_builtin()) {
        out.entry(tool.owner()).or_default().push(tool);
    }
    out
}

/// `/help`: commands, and admitted capabilities by owner.
pub fn help(view: &View<'_>, facts: &Facts) -> String {
    let texts = view.texts;
    let mut out = format!("**{}**\n", texts.get("help-title", &[]));
    let owners = by_owner(view, facts);
    let skills = view.offered_skills(facts);
    if owners.is_empty() && skills.is_empty() {
        out.push_str(&format!("\n{}\n", texts.get("help-nothing", &[])));
    }
    for (owner, tools) in &owners {
        let shown = if owner.is_root() { texts.get("help-owner-root", &[]) } else { owner.to_string() };
        out.push_str(&format!("\n*{shown}*\n"));
        for tool in tools.iter().take(HELP_TOOLS) {
            out.push_str(&format!("- `{}`: {}\n", tool.local, short(&tool.def().description)));
        }
        if tools.len() > HELP_TOOLS {
            let more = (tools.len() - HELP_TOOLS).to_string();
            out.push_str(&format!("- {}\n", texts.get("reload-more", &[("count", &more)])));
        }
    }
    if !skills.is_empty() {
        out.push_str(&format!("\n*{}*\n", texts.get("help-skills", &[])));
        for skill in skills {
            out.push_str(&format!("- `{}`: {}\n", skill.qualified, short(&skill.source.description)));
        }
    }
    let agents = view.offered_agents(facts);
    if !agents.is_empty() {
        out.push_str(&format!("\n*{}*\n", texts.get("help-agents", &[])));
        for agent in &agents {
            let alone = agents.iter().filter(|a| a.source.name == agent.source.name).count() == 1;
            let name = if alone { &agent.source.name } else { &agent.qualified };
            out.push_str(&format!("- `@{name}`: {}\n", short(&agent.source.about.description)));
        }
    }
    out.push_str(&format!("\n*{}*\n", texts.get("help-commands", &[])));
    commands(view, facts, &mut out);
    out.trim_end().to_string()
}

fn commands(view: &View<'_>, facts: &Facts, out: &mut String) {
    let master = facts.principal.role == Some(plugin_sdk::Role::Master);
    for (builtin, word) in Builtin::ALL {
        if !builtin.is_masters() || master {
            out.push_str(&format!("- /{word}: {}\n", view.texts.get(&format!("help-description-{word}"), &[])));
        }
    }
    let admitted = view.admitted(facts);
    for entry in view.indexes.commands.iter().filter(|c| !c.hidden && admitted.contains(c.tool.0 as usize)) {
        if can_access_tool(&entry.guarded(), facts, view.policy).is_err() {
            continue;
        }
        let usage = entry.usage.as_deref().map(|u| format!(" {u}")).unwrap_or_default();
        out.push_str(&format!("- /{}{usage}: {}\n", entry.word, short(&entry.description)));
    }
}

/// `/start`: the bot's own greeting, or its name and three things it can do; then the hint at `/help`.
pub fn start(view: &View<'_>, facts: &Facts, name: &str, greeting: Option<&str>) -> String {
    let texts = view.texts;
    let mut out = match greeting {
        Some(greeting) => greeting.to_string(),
        None => {
            let examples: Vec<String> = by_owner(view, facts)
                .values()
                .flatten()
                .take(3)
                .map(|t| short(&t.def().description).trim_end_matches('.').to_lowercase())
                .collect();
            let mut text = texts.get("start-greeting", &[("name", name)]);
            if !examples.is_empty() {
                text.push(' ');
                text.push_str(&texts.get("start-examples", &[("examples", &examples.join("; "))]));
            }
            text
        }
    };
    out.push_str("\n\n");
    out.push_str(&texts.get("start-hint", &[]));
    out
}

/// `/tools`: admitted ones, loaded marked.
pub fn tools(view: &View<'_>, facts: &Facts, loaded: &[String]) -> String {
    let offered = view.offered(facts);
    let plugin: Vec<&Tool> = offered.into_iter().filter(|t| !t.is_builtin()).collect();
    if plugin.is_empty() {
        return view.texts.get("tools-none", &[]);
    }
    let mark = view.texts.get("tools-loaded", &[]);
    let lines = plugin.iter().map(|t| {
        let loaded = if loaded.iter().any(|l| **l == *t.qualified) { format!(" ({mark})") } else { String::new() };
        format!("- `{}`{loaded}: {}", t.qualified, short(&t.def().description))
    });
    listed(view, "tools-title", lines.collect())
}

/// `/skills`: admitted ones, loaded marked.
pub fn skills(view: &View<'_>, facts: &Facts, loaded: &[String]) -> String {
    let skills = view.offered_skills(facts);
    if skills.is_empty() {
        return view.texts.get("skills-none", &[]);
    }
    let mark = view.texts.get("tools-loaded", &[]);
    let lines = skills.iter().map(|s| {
        let loaded = if loaded.contains(&s.qualified) { format!(" ({mark})") } else { String::new() };
        format!("- `{}`{loaded}: {}", s.qualified, short(&s.source.description))
    });
    listed(view, "skills-title", lines.collect())
}

fn listed(view: &View<'_>, title: &str, lines: Vec<String>) -> String {
    let count = lines.len();
    let mut out = format!("**{}**\n", view.texts.get(title, &[("count", &count.to_string())]));
    out.push_str(&lines.iter().take(LIST_LINES).cloned().collect::<Vec<_>>().join("\n"));
    if count > LIST_LINES {
        let more = (count - LIST_LINES).to_string();
        out.push_str(&format!("\n{}", view.texts.get("reload-more", &[("count", &more)])));
    }
    out
}

/// `/status`: up or degraded for a user, more for trusted people.
pub fn status_text(view: &View<'_>, status: &Value, facts: &Facts) -> String {
    let texts = view.texts;
    let reasons: Vec<&str> =
        status["reasons"].as_array().into_iter().flatten().filter_map(|r| r["detail"].as_str()).collect();
    let mut lines = vec![match reasons.is_empty() {
        true => texts.get("status-up", &[]),
        false => texts.get("status-degraded", &[("reasons", &reasons.join("; "))]),
    }];
    // the main model is the first
    if status["models"][0]["name"] == "offline" {
        lines.push(texts.get("status-offline-model", &[]));
    }
    if facts.principal.role.is_some_and(|r| r.reaches(plugin_sdk::Role::Trusted)) {
        let generation = &status["generation"];
        let number = generation["active"].to_string();
        let at = generation["published_at"].as_str().unwrap_or_default().to_string();
        lines.push(texts.get("status-generation", &[("number", &number), ("at", &at)]));
        if status["desired"]["differs"] == true {
            lines.push(texts.get("status-desired-differs", &[]));
        }
        let (running, queued) = (status["turns"]["running"].to_string(), status["turns"]["queued"].to_string());
        lines.push(texts.get("status-turns", &[("running", &running), ("queued", &queued)]));
    }
    lines.join("\n")
}

/// Verdict of `/reload`: outcome, first three diagnostics, counts of changes.
pub fn reloaded(texts: &crate::config::Texts, record: &Value) -> String {
    let number = [&record["to"], &record["from"]].into_iter().find(|n| !n.is_null()).map(Value::to_string);
    let number = number.unwrap_or_else(|| "-".into());
    let key = match record["outcome"].as_str() {
        Some("published") => "reload-published",
        Some("rejected") => "reload-rejected",
        _ => "reload-unchanged",
    };
    let mut out = texts.get(key, &[("number", &number)]);
    let count = |what: &str| {
        let kinds = record["changes"][what].as_object().into_iter().flatten();
        kinds.map(|(_, names)| names.as_array().map_or(0, Vec::len)).sum::<usize>().to_string()
    };
    if key == "reload-published" {
        let (added, removed, changed) = (count("added"), count("removed"), count("changed"));
        out.push(' ');
        out.push_str(&texts.get("reload-changes", &[("added", &added), ("removed", &removed), ("changed", &changed)]));
    }
    let diagnostics = record["diagnostics"].as_array().cloned().unwrap_or_default();
    let errors: Vec<&Value> = diagnostics.iter().filter(|d| d["severity"] == "error").collect();
    for d in errors.iter().take(3) {
        let place = match (d["file"].as_str(), d["line"].as_u64()) {
            (Some(file), Some(line)) => format!(" ({file}:{line})"),
            (Some(file), None) => format!(" ({file})"),
            _ => String::new(),
        };
        let text = d["message"].as_str().unwrap_or_default();
        out.push_str(&format!("\n- `{}` {text}{place}", d["code"].as_str().unwrap_or_default()));
    }
    if errors.len() > 3 {
        let more = (errors.len() - 3).to_string();
        out.push_str(&format!("\n{}", texts.get("reload-more", &[("count", &more)])));
    }
    out
}
