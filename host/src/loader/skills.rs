//! `SKILL.md` → `SkillSource`, and the skills of the workspace.

use super::front::{self, Form, Markdown};
use super::loading::{Findings, Loading};
use super::places::Item;
use super::raw::{SKILL_KEYS, SKILL_TEXT_KEYS, SkillFile};
use super::reader::MANIFEST_LIMIT;
use super::source::{Audience, Place, Placement, SkillSource, ToolSource};
use super::walk::Unstable;
use crate::config::doc::{Doc, NodeKind};
use crate::config::shape;
use plugin_sdk::Diagnostic;
use serde_json::{Map, Value};

/// Longest description that is kept.
const MAX_DESCRIPTION: usize = 1024;
/// Private tools of one skill before it should be split.
const MANY_TOOLS: usize = 12;
/// Keys whose typo would lose a restriction.
const GUARDED: [&str; 6] = ["tools", "platforms", "scopes", "permissions", "always", "allowed-tools"];
/// The way out for a folder of a pack.
const IGNORE_HELP: &str = "to leave this folder out, add it to `[plugins] ignore`";

const FORM: Form = Form { kind: "skill", limit: MANIFEST_LIMIT, text_keys: &SKILL_TEXT_KEYS };

/// Reads and checks one skill folder; `None` when a finding refuses it.
pub(super) fn load(l: &mut Loading<'_, '_, '_>, item: &Item<'_>) -> Result<Option<SkillSource>, Unstable> {
    let mut findings = Loading::findings(item);
    let markdown = front::read(l, item.manifest, &FORM, &mut findings)?;
    let skill = markdown.and_then(|markdown| {
        let place = l.place(&findings.label, &markdown.doc);
        checked(item, markdown, place, &l.schemas.skill, &mut findings)
    });
    let skill = if findings.is_broken() { None } else { skill };
    with_way_out(&mut findings.list);
    l.report(findings);
    Ok(skill)
}

/// Adds the way out to the help of every error.
pub(super) fn with_way_out(list: &mut [Diagnostic]) {
    for d in list.iter_mut().filter(|d| d.is_error()) {
        d.help = Some(match d.help.take() {
            Some(help) => format!("{help}; {IGNORE_HELP}"),
            None => IGNORE_HELP.to_string(),
        });
    }
}

fn checked(
    item: &Item<'_>,
    markdown: Markdown,
    place: Place,
    schema: &Value,
    findings: &mut Findings,
) -> Option<SkillSource> {
    let folder = item.folder.name.as_str();
    let doc = &markdown.doc;
    other_keys(doc, findings);
    let (file, faults) = shape::check_with::<SkillFile>("skill", doc, schema);
    findings.list.extend(faults);
    let file = file?;
    let description = cut(file.description, doc, findings);
    if let Some(name) = file.name.as_deref().filter(|n| *n != folder) {
        let d = Diagnostic::warning("skill::name-mismatch", format!("the name `{name}` is not the folder's name"))
            .help(format!("the folder's name `{folder}` counts; write it, or remove the key"));
        findings.add(doc.diag(d, "/name"));
    }
    if file.allowed_tools.is_some() {
        let d = Diagnostic::info("skill::allowed-tools", "`allowed-tools` grants and restricts nothing here")
            .help("list further tools under `tools`; each still passes its own rules");
        findings.add(doc.diag_key(d, "/allowed-tools"));
    }
    let mut metadata = Map::new();
    for (key, value) in [
        ("license", file.license.map(Value::String)),
        ("compatibility", file.compatibility),
        ("metadata", file.metadata),
        ("allowed-tools", file.allowed_tools),
    ] {
        metadata.extend(value.map(|v| (key.to_string(), v)));
    }
    metadata.extend(file.other);
    Some(SkillSource {
        name: folder.to_string(),
        placement: item.placement.clone(),
        description,
        body: markdown.body,
        tools: file.tools,
        audience: Audience { platforms: file.platforms, scopes: file.scopes, permissions: file.permissions },
        keywords: file.keywords.into_list(),
        tags: file.tags.into_list(),
        always: file.always,
        metadata,
        place,
        workspace: false,
    })
}

fn cut(description: String, doc: &Doc, findings: &mut Findings) -> String {
    let count = description.chars().count();
    if count <= MAX_DESCRIPTION {
        return description;
    }
    let message = format!("the description has {count} characters and is cut at {MAX_DESCRIPTION}");
    let d = Diagnostic::warning("skill::description-cut", message).help("shorten it; detail belongs into the body");
    findings.add(doc.diag(d, "/description"));
    description.chars().take(MAX_DESCRIPTION).collect()
}

/// Keys of others: a near miss of a restriction is an error, the rest is kept.
fn other_keys(doc: &Doc, findings: &mut Findings) {
    let NodeKind::Table(entries) = &doc.root.kind else { return };
    let mut extra = Vec::new();
    for (key, _) in entries.iter().filter(|(k, _)| !SKILL_KEYS.contains(&k.name.as_str())) {
        match GUARDED.into_iter().find(|g| is_near(&key.name, g)) {
            Some(meant) => {
                let d = Diagnostic::error("skill::unknown-key", format!("unknown key `{}`", key.name))
                    .help(format!("did you mean `{meant}`? else move it under `metadata`"));
                findings.add(doc.at(d, key.span));
            }
            None => extra.push(key),
        }
    }
    if let Some(first) = extra.first() {
        let names: Vec<String> = extra.iter().map(|k| format!("`{}`", k.name)).collect();
        let message = format!("kept as metadata, without effect: {}", names.join(", "));
        findings.add(doc.at(Diagnostic::info("skill::extra-key", message), first.span));
    }
}

/// Equal without case, `-` and `_`, or at most two letters off.
fn is_near(key: &str, known: &str) -> bool {
    let plain = |s: &str| s.to_lowercase().replace(['-', '_'], "");
    plain(key) == plain(known) || distance_at_most_two(key, known)
}

fn distance_at_most_two(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 2 {
        return false;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (corner + usize::from(x != y)).min(above + 1).min(row[j] + 1);
            corner = above;
        }
    }
    row[b.len()] <= 2
}

/// Skills with more private tools than a reader can hold.
pub(super) fn crowded(skills: &[SkillSource], tools: &[ToolSource]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for skill in skills {
        let inside = match &skill.placement {
            Placement::Agent(agent) => Placement::AgentSkill(agent.clone(), skill.name.clone()),
            _ => Placement::Skill(skill.name.clone()),
        };
        let count = tools.iter().filter(|t| t.placement == inside).count();
        if count > MANY_TOOLS {
            let d = Diagnostic::warning("skill::too-many-tools", format!("the skill has {count} tools of its own"))
                .help("split it into several skills");
            found.push(skill.place.diag(d, ""));
        }
    }
    found
}
