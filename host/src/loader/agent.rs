//! `agents/<name>/` → `AgentSource`: the manifest, the required texts, workflows and knowledge.

use super::loading::{Findings, Loading, as_text, list_at, text_at};
use super::places::Item;
use super::raw::{AgentApproval, AgentFile, ContextMode, Effort, MemoryScope, TriggerRules};
use super::reader::{MANIFEST_LIMIT, TEXT_LIMIT};
use super::source::{Audience, Place};
use super::walk::{Entry, Unstable, find};
use crate::config::doc::Doc;
use crate::config::shape;
use plugin_sdk::Diagnostic;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Texts that every agent has, in the order of the prompt.
const REQUIRED: [&str; 3] = ["system.md", "boundaries.md", "conventions.md"];
/// What `workflows/` and `knowledge/` may hold.
const ENDS: [&str; 7] = ["md", "txt", "json", "yaml", "yml", "toml", "csv"];
/// Bytes of one of these two folders.
const FOLDER_LIMIT: u64 = 256 * 1024;
/// Adapter kinds: an agent folder of this name serves its platform.
const PLATFORM_FOLDERS: [&str; 4] = ["telegram", "discord", "console", "web"];

/// One text of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentText {
    /// Path in the agent's folder.
    pub file: String,
    /// The text, not blank.
    pub body: String,
}

/// A checked agent folder.
#[derive(Debug, Clone)]
pub struct AgentSource {
    /// Folder name, the identity.
    pub name: String,
    /// Display name, description, version and label.
    pub about: AgentAbout,
    /// Instructions, in order.
    pub entry_points: Vec<AgentText>,
    /// How it works, by name.
    pub workflows: Vec<AgentText>,
    /// What it knows, by name.
    pub knowledge: Vec<AgentText>,
    /// What is added and removed while it is chosen, as written.
    pub wants: AgentWants,
    /// Platforms whose messages it answers.
    pub platforms: Vec<String>,
    /// Whether it is chosen by itself on them.
    pub auto_select: bool,
    /// Whom it is offered to.
    pub audience: Audience,
    /// How its turns run.
    pub limits: AgentLimits,
    /// What holds when it works for another agent.
    pub child: AgentChild,
    /// Where it stands.
    pub place: Place,
}

/// How an agent is shown and found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentAbout {
    /// Display name.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// Version.
    pub version: String,
    /// Free label.
    pub role: Option<String>,
    /// Ranking.
    pub tags: Vec<String>,
    /// Ranking.
    pub triggers: TriggerRules,
}

/// Names of public things, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentWants {
    /// Tools added.
    pub tools: Vec<String>,
    /// Skills added.
    pub skills: Vec<String>,
    /// Tools removed last.
    pub disallowed_tools: Vec<String>,
}

/// Model and steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentLimits {
    /// Steps in words.
    pub effort: Option<Effort>,
    /// Steps; wins over `effort`.
    pub max_iterations: Option<u32>,
    /// A configured model.
    pub model: Option<String>,
    /// A provider of a configured model.
    pub provider: Option<String>,
}

impl AgentLimits {
    /// Model steps of a turn; `None` = the bot's.
    pub fn steps(&self) -> Option<u32> {
        self.max_iterations.or_else(|| self.effort.map(Effort::steps))
    }
}

/// What a sub-agent is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentChild {
    /// What it sees of the conversation.
    pub context_mode: ContextMode,
    /// Whose memory it uses.
    pub memory: MemoryScope,
    /// Its folder.
    pub workspace: Option<String>,
    /// Its policies.
    pub approval: AgentApproval,
}

/// Reads and checks one agent folder; `None` when a finding refuses it.
pub(super) fn load(l: &mut Loading<'_, '_, '_>, item: &Item<'_>) -> Result<Option<AgentSource>, Unstable> {
    let mut findings = Loading::findings(item);
    let doc = match l.text(item.manifest, MANIFEST_LIMIT, &mut findings)? {
        Some(text) => match Doc::parse_json("agent", &l.shown(&item.manifest.rel), &text) {
            Ok(doc) => Some(Arc::new(doc)),
            Err(faults) => {
                findings.list.extend(faults);
                None
            }
        },
        None => None,
    };
    let file = doc.as_ref().and_then(|doc| {
        let (file, faults) = shape::check_with::<AgentFile>("agent", doc, &l.schemas.agent);
        findings.list.extend(faults);
        check_version(doc, &mut findings);
        check_workspace(doc, l.workspace, &mut findings);
        file
    });
    let names = doc.as_ref().map_or_else(default_entry_points, |doc| entry_points(doc, &mut findings));
    let entry_points = required_texts(l, item, names, &mut findings)?;
    let workflows = folder(l, item, "workflows", &mut findings)?;
    let knowledge = folder(l, item, "knowledge", &mut findings)?;
    let agent = match (file, doc) {
        (Some(file), Some(doc)) if !findings.is_broken() => {
            let place = l.place(&findings.label, &doc);
            Some(AgentSource { entry_points, workflows, knowledge, ..checked(item, file, place) })
        }
        _ => None,
    };
    l.report(findings);
    Ok(agent)
}

fn checked(item: &Item<'_>, file: AgentFile, place: Place) -> AgentSource {
    let name = item.folder.name.clone();
    let own = PLATFORM_FOLDERS.contains(&name.as_str()).then(|| name.clone());
    AgentSource {
        about: AgentAbout {
            title: file.name,
            description: file.description,
            version: file.version,
            role: file.role,
            tags: file.tags,
            triggers: file.trigger_rules,
        },
        entry_points: Vec::new(),
        workflows: Vec::new(),
        knowledge: Vec::new(),
        wants: AgentWants { tools: file.tools, skills: file.skills, disallowed_tools: file.disallowed_tools },
        platforms: file.platforms.unwrap_or_else(|| own.into_iter().collect()),
        auto_select: file.auto_select,
        audience: Audience { platforms: Vec::new(), scopes: file.scopes, permissions: file.permissions },
        limits: AgentLimits {
            effort: file.effort,
            max_iterations: file.max_iterations,
            model: file.model,
            provider: file.provider,
        },
        child: AgentChild {
            context_mode: file.context_mode,
            memory: file.memory,
            workspace: file.workspace,
            approval: file.approval,
        },
        place,
        name,
    }
}

fn check_version(doc: &Doc, findings: &mut Findings) {
    if let Some(text) = text_at(doc, "/version")
        && let Err(e) = semver::Version::parse(text)
    {
        let d = Diagnostic::error("agent::bad-value", format!("`{text}` is no semantic version: {e}"))
            .help("write three numbers, like `1.2.0`");
        findings.add(doc.diag(d, "/version"));
    }
}

fn default_entry_points() -> Vec<String> {
    REQUIRED.iter().map(|f| f.to_string()).collect()
}

/// The files of the instructions.
fn entry_points(doc: &Doc, findings: &mut Findings) -> Vec<String> {
    if doc.find("/entry_points").is_none() {
        return default_entry_points();
    }
    let mut out = Vec::new();
    for (n, node) in list_at(doc, "/entry_points").iter().enumerate() {
        let Some(file) = as_text(node) else { continue };
        let inside = Path::new(file).components().all(|c| matches!(c, Component::Normal(_)));
        if !file.ends_with(".md") || !inside {
            let d =
                Diagnostic::error("agent::bad-value", format!("`{file}` is no Markdown file of the agent's folder"))
                    .help("name a `*.md` file by its path in the agent's folder");
            findings.add(doc.diag(d, &format!("/entry_points/{n}")));
            continue;
        }
        out.push(file.to_string());
    }
    for missing in REQUIRED {
        if out.iter().any(|f| f == missing) {
            continue;
        }
        let d = Diagnostic::error("agent::bad-value", format!("`entry_points` lacks `{missing}`"))
            .help("the list is the order of the instructions and holds all three required files; or leave it out");
        findings.add(doc.diag(d, "/entry_points"));
        out.push(missing.to_string());
    }
    out
}

fn required_texts(
    l: &mut Loading<'_, '_, '_>,
    item: &Item<'_>,
    names: Vec<String>,
    findings: &mut Findings,
) -> Result<Vec<AgentText>, Unstable> {
    let mut out = Vec::new();
    for file in names {
        let Some(entry) = descend(item.folder, &file) else {
            let d = Diagnostic::error("agent::missing-file", format!("the agent has no `{file}`"))
                .help(missing_help(item.folder, &file))
                .file(l.shown(&format!("{}/{file}", item.folder.rel)));
            findings.add(d);
            continue;
        };
        let Some(body) = l.text(entry, TEXT_LIMIT, findings)? else { continue };
        if body.trim().is_empty() {
            let d = Diagnostic::error("agent::missing-file", format!("`{file}` is blank"))
                .help("write the text; an agent needs its instructions, its limits and its conventions");
            findings.add(d.file(l.shown(&entry.rel)));
            continue;
        }
        if file == "conventions.md" && find(l.top, "AGENTS.md").is_some() && !body.contains("AGENTS.md") {
            let d = Diagnostic::warning(
                "agent::conventions-detached",
                "`conventions.md` does not mention the plugin's `AGENTS.md`, which it extends",
            )
            .help("begin it with a line like \"These rules extend AGENTS.md.\", and contradict nothing there");
            findings.add(d.file(l.shown(&entry.rel)));
        }
        out.push(AgentText { file, body });
    }
    Ok(out)
}

fn missing_help(folder: &Entry, file: &str) -> String {
    match folder.entries().iter().find(|e| e.name.eq_ignore_ascii_case(file)) {
        Some(alike) => format!("rename `{}` to `{file}`", alike.name),
        None => format!("add `{}/{file}`", folder.rel),
    }
}

fn descend<'e>(folder: &'e Entry, path: &str) -> Option<&'e Entry> {
    path.split('/').try_fold(folder, |at, part| at.child(part))
}

/// The texts of `workflows/` or `knowledge/`, by name.
fn folder(
    l: &mut Loading<'_, '_, '_>,
    item: &Item<'_>,
    name: &str,
    findings: &mut Findings,
) -> Result<Vec<AgentText>, Unstable> {
    let Some(holder) = item.folder.child(name).filter(|e| e.is_folder()) else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    let mut bytes = 0;
    for entry in holder.entries() {
        let known = entry.name.rsplit_once('.').is_some_and(|(_, end)| ENDS.contains(&end));
        if entry.is_folder() || !known {
            let message = format!("`{}` is not read here", entry.name);
            let help = match entry.is_folder() {
                true => format!("`{name}/` has one level: move its files up"),
                false => format!("`{name}/` takes texts: .{}", ENDS.join(" .")),
            };
            findings.add(Diagnostic::warning("layout::misplaced", message).help(help).file(l.shown(&entry.rel)));
            continue;
        }
        let Some(body) = l.text(entry, TEXT_LIMIT, findings)? else { continue };
        bytes += body.len() as u64;
        if !body.trim().is_empty() {
            out.push(AgentText { file: format!("{name}/{}", entry.name), body });
        }
    }
    if bytes > FOLDER_LIMIT {
        let message = format!("`{name}/` has {bytes} bytes; at most {} KiB are read", FOLDER_LIMIT / 1024);
        let d = Diagnostic::error("layout::too-big", message)
            .help("shorten the texts, or let a tool look things up instead");
        findings.add(d.file(l.shown(&holder.rel)));
    }
    Ok(out)
}

/// The workspace of an agent lies in the bot's or holds it.
fn check_workspace(doc: &Doc, root: &Path, findings: &mut Findings) {
    let Some(text) = text_at(doc, "/workspace") else { return };
    let path = plain(&root.join(text));
    let root = plain(root);
    if !path.starts_with(&root) && !root.starts_with(&path) {
        let message = format!("`{text}` has nothing in common with `workspace.root` ({})", root.display());
        let d = Diagnostic::error("agent::workspace", message)
            .help("name a folder inside the bot's workspace, or leave the key out");
        findings.add(doc.diag(d, "/workspace"));
    }
}

/// Without `.` and `..`, by the words alone.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}
