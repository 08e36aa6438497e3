//! The exact places of items in a plugin, and what stands elsewhere.

use super::names::NameRule;
use super::source::Placement;
use super::walk::{Entry, Walk, find, join};
use plugin_sdk::Diagnostic;
use std::collections::BTreeSet;

/// The kinds of item folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Tool,
    Skill,
    Agent,
    Section,
    Hook,
    Command,
}

use Kind::{Agent, Command, Hook, Section, Skill, Tool};

impl Kind {
    pub(super) const ALL: [Kind; 6] = [Tool, Skill, Agent, Section, Hook, Command];

    pub(super) fn word(self) -> &'static str {
        match self {
            Tool => "tool",
            Skill => "skill",
            Agent => "agent",
            Section => "section",
            Hook => "hook",
            Command => "command",
        }
    }

    /// Folder that holds the item folders.
    pub(super) fn container(self) -> &'static str {
        match self {
            Tool => "tools",
            Skill => "skills",
            Agent => "agents",
            Section => "prompt-sections",
            Hook => "hooks",
            Command => "commands",
        }
    }

    /// File that makes a folder an item.
    pub(super) fn manifest(self) -> &'static str {
        match self {
            Tool => "tool.toml",
            Skill => "SKILL.md",
            Agent => "agent.json",
            Section => "SECTION.md",
            Hook => "hook.toml",
            Command => "command.toml",
        }
    }

    pub(super) fn rule(self) -> NameRule {
        match self {
            Skill | Agent => NameRule::Slug,
            _ => NameRule::Plain,
        }
    }

    pub(super) fn of_container(name: &str) -> Option<Kind> {
        Self::ALL.into_iter().find(|k| k.container() == name)
    }

    fn of_manifest(name: &str) -> Option<Kind> {
        Self::ALL.into_iter().find(|k| k.manifest() == name)
    }

    /// Kinds that may lie in an item of this placement (`None`: the plugin itself).
    fn inside(holder: Option<Kind>) -> &'static [Kind] {
        match holder {
            None => &Self::ALL,
            Some(Agent) => &[Tool, Skill, Hook],
            Some(Skill) => &[Tool, Hook],
            Some(_) => &[],
        }
    }
}

/// An item folder with its manifest entry.
#[derive(Debug)]
pub(super) struct Item<'t> {
    pub(super) kind: Kind,
    pub(super) placement: Placement,
    pub(super) folder: &'t Entry,
    pub(super) manifest: &'t Entry,
}

impl Item<'_> {
    /// `KIND NAME`.
    pub(super) fn label(&self) -> String {
        format!("{} {}", self.kind.word(), self.name())
    }

    /// Folder name; of a command of two words both, with `/`.
    pub(super) fn name(&self) -> String {
        let nested = self.folder.rel.strip_prefix("commands/").filter(|_| self.kind == Command);
        nested.unwrap_or(&self.folder.name).to_string()
    }
}

/// Finds the items of a plugin and reports what stands in the wrong place.
pub(super) fn items<'t>(walk: &mut Walk<'_>, top: &'t [Entry]) -> Vec<Item<'t>> {
    let mut search = Search { walk, items: Vec::new(), used: BTreeSet::new() };
    search.container_list(top, None, &Placement::Plugin);
    let used = std::mem::take(&mut search.used);
    let found = std::mem::take(&mut search.items);
    misplaced(walk, top, &used);
    found
}

struct Search<'w, 'r, 't> {
    walk: &'w mut Walk<'r>,
    items: Vec<Item<'t>>,
    used: BTreeSet<String>,
}

impl<'t> Search<'_, '_, 't> {
    fn container_list(&mut self, holder: &'t [Entry], within: Option<Kind>, placement: &Placement) {
        for kind in Kind::inside(within) {
            let Some(container) = find(holder, kind.container()) else { continue };
            for folder in container.entries().iter().filter(|e| e.is_folder()) {
                self.folder(*kind, folder, placement);
                if *kind == Command {
                    self.second_words(folder, placement);
                }
            }
        }
    }

    /// `commands/todo/add`: the command `/todo add`.
    fn second_words(&mut self, folder: &'t Entry, placement: &Placement) {
        let inner: Vec<&'t Entry> = folder.entries().iter().filter(|e| e.child(Command.manifest()).is_some()).collect();
        if !inner.is_empty() && folder.child(Command.manifest()).is_none() {
            for d in super::names::check(Command.word(), &folder.name, Command.rule()) {
                self.walk.report(d.item(format!("{} {}", Command.word(), folder.name)), &folder.rel);
            }
        }
        for folder in inner {
            self.folder(Command, folder, placement);
        }
    }

    fn folder(&mut self, kind: Kind, folder: &'t Entry, placement: &Placement) {
        if let Some(manifest) = folder.child(kind.manifest()) {
            self.used.insert(manifest.rel.clone());
            for d in super::names::check(kind.word(), &folder.name, kind.rule()) {
                self.walk.report(d.item(format!("{} {}", kind.word(), folder.name)), &folder.rel);
            }
            self.items.push(Item { kind, placement: placement.clone(), folder, manifest });
        } else if !folder.entries().is_empty() {
            no_manifest(self.walk, kind, folder);
        }
        let name = folder.name.clone();
        let inner = match (kind, placement) {
            (Agent, _) => Placement::Agent(name),
            (Skill, Placement::Agent(agent)) => Placement::AgentSkill(agent.clone(), name),
            (Skill, _) => Placement::Skill(name),
            _ => return,
        };
        self.container_list(folder.entries(), Some(kind), &inner);
    }
}

fn no_manifest(walk: &mut Walk<'_>, kind: Kind, folder: &Entry) {
    let file = kind.manifest();
    let holders: Vec<&Entry> = folder.entries().iter().filter(|e| e.child(file).is_some()).collect();
    if kind == Command && !holders.is_empty() {
        return;
    }
    let alike = folder.entries().iter().find(|e| e.name.eq_ignore_ascii_case(file));
    let help = match (holders.as_slice(), alike) {
        ([one], _) => format!("move `{}` up, to `{}/{}`", one.rel, kind.container(), one.name),
        (_, Some(alike)) => format!("rename `{}` to `{file}`", alike.name),
        _ => format!("add `{}/{file}`, or remove the folder", folder.rel),
    };
    let d = Diagnostic::warning("layout::no-manifest", format!("the {} folder has no `{file}`", kind.word()));
    walk.report(d.item(format!("{} {}", kind.word(), folder.name)).help(help), &folder.rel);
}

/// Reports manifests that no place of a plugin uses.
fn misplaced(walk: &mut Walk<'_>, top: &[Entry], used: &BTreeSet<String>) {
    for entry in top {
        let kind = Kind::of_container(&entry.name);
        if entry.is_folder() && entry.name == "tests" {
            continue;
        }
        if !entry.is_folder() {
            if let Some(kind) = Kind::of_manifest(&entry.name) {
                report(walk, entry, &format!("{}/<name>/{}", kind.container(), kind.manifest()));
            }
            continue;
        }
        for inner in entry.entries() {
            match kind {
                Some(kind) if !inner.is_folder() && is_loose(kind, &inner.name) => loose(walk, kind, inner),
                _ => deeper(walk, inner, used),
            }
        }
    }
}

/// A file beside the item folders that was meant to be one.
fn is_loose(kind: Kind, name: &str) -> bool {
    let Some((stem, end)) = name.rsplit_once('.') else { return false };
    if stem.eq_ignore_ascii_case("readme") {
        return false;
    }
    match kind {
        Tool | Hook | Command => end == "toml",
        Skill | Section => end.eq_ignore_ascii_case("md"),
        Agent => end == "json" || end.eq_ignore_ascii_case("md"),
    }
}

fn loose(walk: &mut Walk<'_>, kind: Kind, file: &Entry) {
    let stem = file.name.rsplit_once('.').map_or(file.name.as_str(), |(stem, _)| stem);
    let own = kind.manifest().rsplit_once('.').map_or("", |(stem, _)| stem);
    let name = if stem == own { "<name>" } else { stem };
    let container = file.rel.rsplit_once('/').map_or(kind.container(), |(container, _)| container);
    report(walk, file, &format!("{container}/{name}/{}", kind.manifest()));
}

fn deeper(walk: &mut Walk<'_>, entry: &Entry, used: &BTreeSet<String>) {
    if entry.is_folder() {
        // A private container, as in `skills/S/tools/x.toml`.
        let kind = Kind::of_container(&entry.name)
            .filter(|_| entry.rel.starts_with("skills/") || entry.rel.starts_with("agents/"));
        for inner in entry.entries() {
            match kind {
                Some(kind @ (Tool | Hook)) if !inner.is_folder() && is_loose(kind, &inner.name) => {
                    loose(walk, kind, inner);
                }
                _ => deeper(walk, inner, used),
            }
        }
        return;
    }
    if used.contains(&entry.rel) {
        return;
    }
    if entry.name == "plugin.toml" {
        let name = entry.rel.rsplit('/').nth(1).unwrap_or("<name>");
        report(walk, entry, &format!("plugins/{name}/plugin.toml"));
    } else if let Some(kind) = Kind::of_manifest(&entry.name) {
        report(walk, entry, &right_path(kind, &entry.rel));
    }
}

fn report(walk: &mut Walk<'_>, entry: &Entry, right: &str) {
    let message = format!("`{}` is not read here", entry.name);
    let right = join(&walk.shown, right);
    let d = Diagnostic::warning("layout::misplaced", message).help(format!("move it to `{right}`"));
    walk.report(d, &entry.rel);
}

/// The nearest place that the kind may have: in the innermost item folder above that can hold it.
fn right_path(kind: Kind, rel: &str) -> String {
    let parts: Vec<&str> = rel.split('/').collect();
    let mut holder = String::new();
    let mut within = None;
    let mut at = 0;
    while let (Some(container), Some(name)) = (parts.get(at), parts.get(at + 1)) {
        let Some(inner) = Kind::of_container(container).filter(|k| Kind::inside(within).contains(k)) else { break };
        if at + 2 >= parts.len() || !Kind::inside(Some(inner)).contains(&kind) {
            break;
        }
        holder = join(&holder, &format!("{container}/{name}"));
        within = Some(inner);
        at += 2;
    }
    let parent = parts.len().checked_sub(2).and_then(|n| parts.get(n)).copied().unwrap_or("<name>");
    let in_item = parts.len() < at + 2 || Kind::of_container(parent).is_some() || holder.ends_with(parent);
    let name = if in_item { "<name>" } else { parent };
    join(&holder, &format!("{}/{name}/{}", kind.container(), kind.manifest()))
}
