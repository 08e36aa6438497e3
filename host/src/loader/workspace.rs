//! Skills in the workspace: texts of owner `.`, left out when broken, hashed and watched, never copied.

use super::disk::Roots;
use super::fileset::Files;
use super::loading::Loading;
use super::places::{Item, Kind};
use super::reader::Reader;
use super::rules::{Rules, in_bot};
use super::scan::Context;
use super::skills;
use super::source::{Placement, PluginSource, SkillSource};
use super::walk::{Entry, Unstable, Walk};
use plugin_sdk::{Diagnostic, OwnerPath, Severity};
use std::path::{Component, Path, PathBuf};

/// Adds the workspace's skills to the root plugin.
pub(super) fn add(cx: &mut Context<'_>, root: &mut PluginSource) -> Result<(), Unstable> {
    let config = &cx.options.bot.agent.skills;
    if !config.enabled {
        return Ok(());
    }
    let doc = cx.options.bot_doc.as_deref();
    match folder(cx) {
        Folder::Outside => {
            let d = Diagnostic::error("bot::bad-value", "`agent.skills.root` must lie inside `workspace.root`")
                .help("write a relative path without `..`");
            cx.tree.push(in_bot(doc, d, "/agent/skills/root"));
        }
        Folder::Absent => {}
        Folder::There(real) => read(cx, root, &real)?,
    }
    for (n, name) in config.require.iter().enumerate() {
        if !root.skills.iter().any(|s| s.workspace && s.name == *name) {
            let d = Diagnostic::error("skill::required-missing", format!("the workspace skill `{name}` is absent or broken"))
                .help("add or repair it, or remove it from `agent.skills.require`; a broken one is left out by `[plugins] ignore`");
            cx.tree.push(in_bot(doc, d, &format!("/agent/skills/require/{n}")));
        }
    }
    Ok(())
}

enum Folder {
    Outside,
    Absent,
    There(PathBuf),
}

fn folder(cx: &mut Context<'_>) -> Folder {
    let relative = Path::new(&cx.options.bot.agent.skills.root);
    let plain = relative.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    if !plain {
        return Folder::Outside;
    }
    let Some(path) = &cx.options.workspace_skills else { return Folder::Absent };
    let path = cx.bot_dir.join(path);
    cx.watch_parent(&path);
    let depth = relative.components().filter(|c| matches!(c, Component::Normal(_))).count();
    let workspace = path.ancestors().nth(depth).and_then(|w| std::fs::canonicalize(w).ok());
    match (std::fs::canonicalize(&path), workspace) {
        (Ok(real), Some(workspace)) if !real.starts_with(&workspace) => Folder::Outside,
        (Ok(real), _) if real.is_dir() => Folder::There(real),
        _ => Folder::Absent,
    }
}

fn read(cx: &mut Context<'_>, root: &mut PluginSource, real: &Path) -> Result<(), Unstable> {
    let roots = Roots(vec![real.to_path_buf()]);
    let (rules, _) = Rules::new(&cx.options.bot.plugins.ignore, Vec::new(), None);
    let shown = real.strip_prefix(&cx.bot_dir).unwrap_or(real).to_string_lossy().into_owned();
    let mut walk = Walk::new(&roots, &rules, OwnerPath::root(), shown);
    let mut entries = walk.list(real, "")?;
    for entry in &mut entries {
        walk.fill(entry, &|_| true)?;
    }
    let mut files = Files::default();
    let pass = super::cache::Pass { roots: &roots, ..cx.reader.pass };
    let mut reader = Reader { pass, cache: &mut *cx.reader.cache };
    let mut found = Vec::new();
    for entry in entries.iter().filter(|e| e.is_folder()) {
        files.add(entry);
        let Some(manifest) = entry.child(Kind::Skill.manifest()) else {
            no_manifest(&mut walk, entry);
            continue;
        };
        let item = Item { kind: Kind::Skill, placement: Placement::Plugin, folder: entry, manifest };
        name(&mut walk, &item);
        let mut loading = Loading {
            walk: &mut walk,
            reader: &mut reader,
            bot: cx.options.bot,
            schemas: cx.schemas,
            workspace: &cx.workspace,
            dir: real,
            top: &entries,
            files: &mut files,
            named: &mut Vec::new(),
        };
        found.extend(skills::load(&mut loading, &item)?);
        text_only(&mut walk, entry);
    }
    found.retain(|skill| !is_refused(&walk, &skill.name));
    for d in walk.diagnostics.iter_mut().filter(|d| d.severity == Severity::Error) {
        // A broken workspace skill is left out; the others stay.
        d.severity = Severity::Warning;
    }
    cx.watch_all(std::mem::take(&mut walk.folders));
    root.diagnostics.append(&mut walk.diagnostics);
    keep(root, found);
    Ok(())
}

fn is_refused(walk: &Walk<'_>, name: &str) -> bool {
    let label = format!("skill {name}");
    walk.diagnostics.iter().any(|d| d.is_error() && d.item.as_deref() == Some(&label))
}

fn keep(root: &mut PluginSource, found: Vec<SkillSource>) {
    for mut skill in found {
        skill.workspace = true;
        match root.skills.iter().find(|s| s.name == skill.name) {
            Some(winner) => {
                let d = Diagnostic::warning("skill::shadowed", format!("the bot folder's skill `{}` wins", skill.name))
                    .related(winner.place.doc.file.clone(), None, "the skill that is used")
                    .help("rename one of them");
                root.diagnostics.push(skill.place.diag(d, ""));
            }
            None => root.skills.push(skill),
        }
    }
}

fn name(walk: &mut Walk<'_>, item: &Item<'_>) {
    let mut list = super::names::check(item.kind.word(), &item.folder.name, item.kind.rule());
    skills::with_way_out(&mut list);
    for d in list {
        walk.report(d.item(item.label()), &item.folder.rel);
    }
}

fn no_manifest(walk: &mut Walk<'_>, entry: &Entry) {
    if !entry.entries().is_empty() {
        let d = Diagnostic::warning("layout::no-manifest", "the skill folder has no `SKILL.md`")
            .help(format!("add `{}/SKILL.md`, or remove the folder", entry.rel));
        walk.report(d, &entry.rel);
    }
}

/// The model may write here, so no program of a workspace skill becomes a tool.
fn text_only(walk: &mut Walk<'_>, entry: &Entry) {
    let Some(tools) = entry.child(Kind::Tool.container()) else { return };
    for inner in tools.entries().iter().filter_map(|t| t.child(Kind::Tool.manifest())) {
        let d = Diagnostic::warning("layout::misplaced", "a workspace skill is text; its tools are not loaded")
            .help("move the skill into `skills/` of a plugin");
        walk.report(d, &inner.rel);
    }
}
