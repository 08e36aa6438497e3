//! Finding plugin folders: search paths, their direct children, plugins in plugins.

use super::fileset::is_meant;
use super::names::{self, NameRule};
use super::rules::in_bot;
use super::scan::Context;
use super::walk::{Entry, Node, Unstable, Walk, join};
use plugin_sdk::{Diagnostic, OwnerPath};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Deepest owner path.
const MAX_LEVELS: usize = 4;

const ARCHIVES: [&str; 9] = [".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".7z", ".rar"];

/// A folder that is a plugin.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) owner: OwnerPath,
    /// Links resolved.
    pub(super) dir: PathBuf,
    /// Relative to the bot folder.
    pub(super) shown: String,
    /// Findings about its folder name.
    pub(super) naming: Vec<Diagnostic>,
}

/// A search path that is there.
#[derive(Debug)]
pub(super) struct SearchPath {
    pub(super) real: PathBuf,
    pub(super) shown: String,
}

/// Opens the search paths of `bot.toml`. `seen` are those that held plugins before: they may not vanish.
pub(super) fn search_paths(cx: &mut Context<'_>, seen: &[PathBuf]) -> Vec<SearchPath> {
    let doc = cx.options.bot_doc.as_deref();
    let is_default = doc.map_or(cx.options.bot.plugins.paths == ["plugins"], |d| d.find("/plugins/paths").is_none());
    let mut out: Vec<SearchPath> = Vec::new();
    for (n, path) in cx.options.bot.plugins.paths.iter().enumerate() {
        let pointer = format!("/plugins/paths/{n}");
        let joined = cx.bot_dir.join(path);
        let real = std::fs::canonicalize(&joined).ok().filter(|r| r.is_dir());
        let Some(real) = real else {
            if is_default && !seen.contains(&joined) && std::fs::symlink_metadata(&joined).is_err() {
                cx.watch_parent(&joined);
                misspelt(cx, path);
                continue;
            }
            let d = Diagnostic::error("bot::plugin-path-missing", format!("the plugin folder `{path}` is not there"));
            let d = match is_default {
                // No line of `bot.toml` names it, so none can be changed.
                true => d
                    .help(format!("put `{path}/` back; to go on without its plugins, make an empty folder `{path}`"))
                    .file(path.clone()),
                false => {
                    let help = "mount or create it, or remove it from `plugins.paths`; its plugins are kept until then";
                    in_bot(doc, d.help(help), &pointer)
                }
            };
            cx.tree.push(d);
            cx.watch_parent(&joined);
            continue;
        };
        if out.iter().any(|o| o.real == real) {
            let d =
                Diagnostic::warning("bot::plugin-path-twice", format!("`{path}` is a folder that is listed already"))
                    .help("remove one of them");
            cx.tree.push(in_bot(doc, d, &pointer));
            continue;
        }
        cx.watch_parent(&joined);
        out.push(SearchPath { shown: shown_path(&cx.bot_dir, path), real });
    }
    out
}

/// The default folder is not there, but one that is called nearly so.
fn misspelt(cx: &mut Context<'_>, path: &str) {
    let Ok(listing) = std::fs::read_dir(&cx.bot_dir) else { return };
    let folders = listing.flatten().filter(|e| e.file_type().is_ok_and(|t| t.is_dir()));
    let mut names: Vec<String> = folders.filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    if let Some(name) = names.into_iter().find(|n| is_meant(path, n)) {
        let message = format!("`{name}/` is not where plugins are looked for: nothing in it is read");
        let d = Diagnostic::warning("layout::misplaced", message);
        let help = format!("rename it to `{path}`, or add it to `plugins.paths` in bot.toml");
        cx.tree.push(d.help(help).owner(OwnerPath::root()).file(name));
    }
}

/// How a search path is written in findings: relative where it can be.
fn shown_path(bot_dir: &Path, path: &str) -> String {
    if let Ok(inside) = Path::new(path).strip_prefix(bot_dir) {
        return inside.to_string_lossy().into_owned();
    }
    let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty() && *p != ".").collect();
    if path.starts_with('/') { format!("/{}", parts.join("/")) } else { parts.join("/") }
}

/// All plugins below the search paths, without the root.
pub(super) fn plugins(cx: &mut Context<'_>, paths: &[SearchPath]) -> Result<Vec<Found>, Unstable> {
    let mut found = Vec::new();
    let mut keys = BTreeMap::new();
    for path in paths {
        let folder = Folder { parent: OwnerPath::root(), real: &path.real, shown: path.shown.clone(), level: 1 };
        children(cx, &folder, &mut keys, &mut found)?;
    }
    Ok(found)
}

/// A folder whose direct children are plugins.
struct Folder<'f> {
    parent: OwnerPath,
    real: &'f Path,
    shown: String,
    level: usize,
}

fn children(
    cx: &mut Context<'_>,
    folder: &Folder<'_>,
    keys: &mut BTreeMap<String, String>,
    found: &mut Vec<Found>,
) -> Result<(), Unstable> {
    let shown = if folder.shown == "." { String::new() } else { folder.shown.clone() };
    let mut walk = Walk::new(cx.roots, cx.rules, folder.parent.clone(), shown);
    let mut nested = Vec::new();
    for child in walk.list(folder.real, "")? {
        match &child.node {
            Node::Folder(_) => {
                let names = walk.names(&child.real, &child.rel, false)?;
                let has = |name: &str| names.iter().any(|n| n.name == name);
                if has("plugin.toml") {
                    nested.push((child, has("plugins")));
                } else if !names.is_empty() {
                    no_manifest(&mut walk, &child, names.iter().map(|n| n.name.as_str()))?;
                }
            }
            _ => loose_file(&mut walk, &child),
        }
    }
    let mut inner = Vec::new();
    for (child, has_plugins) in nested {
        let shown = join(&walk.shown, &child.rel);
        if folder.level > MAX_LEVELS {
            let d = Diagnostic::warning("layout::misplaced", "plugins are nested at most 4 levels deep")
                .help(format!("move it to `plugins/{}`", child.name));
            walk.report(d, &join(&child.rel, "plugin.toml"));
            continue;
        }
        let owner = folder.parent.child(&child.name);
        if let Some(first) = keys.get(&names::nfc(&child.name)) {
            let message = format!("two folders are the plugin `{owner}`");
            let d = Diagnostic::error("plugin::duplicate-name", message)
                .related(first.clone(), None, "the other folder")
                .help("rename or remove one of them");
            walk.report(d, &child.rel);
            continue;
        }
        keys.insert(names::nfc(&child.name), shown.clone());
        if has_plugins {
            inner.push((owner.clone(), child.real.clone(), shown.clone()));
        }
        found.push(Found { naming: naming(&child.name), owner, dir: child.real, shown });
    }
    cx.take(walk);
    for (owner, real, shown) in inner {
        descend(cx, owner, &real, &shown, folder.level + 1, found)?;
    }
    Ok(())
}

/// The `plugins/` folder of a plugin.
fn descend(
    cx: &mut Context<'_>,
    owner: OwnerPath,
    dir: &Path,
    shown: &str,
    level: usize,
    found: &mut Vec<Found>,
) -> Result<(), Unstable> {
    if level > MAX_LEVELS + 1 {
        return Ok(());
    }
    let mut walk = Walk::new(cx.roots, cx.rules, owner.clone(), shown.to_string());
    let raws = walk.names(dir, "", false)?;
    let entry = match raws.iter().find(|r| r.name == "plugins") {
        Some(raw) => walk.resolve(dir, "", raw)?,
        None => None,
    };
    cx.take(walk);
    let Some(entry) = entry.filter(Entry::is_folder) else { return Ok(()) };
    let folder = Folder { parent: owner, real: &entry.real, shown: join(shown, "plugins"), level };
    children(cx, &folder, &mut BTreeMap::new(), found)
}

fn naming(key: &str) -> Vec<Diagnostic> {
    let mut list = names::check("plugin", key, NameRule::Plain);
    if key == "root" {
        let d =
            Diagnostic::error("name::invalid", "`root` is no name of a plugin: it stands for the bot folder itself");
        list.push(d.help("rename it, for example to `root-plugin`"));
    }
    list
}

fn no_manifest<'n>(walk: &mut Walk<'_>, child: &Entry, names: impl Iterator<Item = &'n str>) -> Result<(), Unstable> {
    let names: Vec<&str> = names.collect();
    let mut holders = Vec::new();
    for name in &names {
        let inner = child.real.join(name);
        if inner.join("plugin.toml").is_file() {
            holders.push(*name);
        }
    }
    let alike = names.iter().find(|n| n.eq_ignore_ascii_case("plugin.toml"));
    let shown = join(&walk.shown, &child.rel);
    let help = match (holders.as_slice(), alike) {
        ([one], _) => format!("move `{shown}/{one}` up, to `{}`", join(&walk.shown, one)),
        (_, Some(alike)) => format!("rename `{alike}` to `plugin.toml`"),
        _ => format!("add `{shown}/plugin.toml`, or remove the folder"),
    };
    let d = Diagnostic::warning("layout::no-manifest", "the folder has no `plugin.toml` and is no plugin");
    walk.report(d.help(help), &child.rel);
    Ok(())
}

fn loose_file(walk: &mut Walk<'_>, file: &Entry) {
    let lower = file.name.to_ascii_lowercase();
    if ARCHIVES.iter().any(|end| lower.ends_with(end)) {
        let d = Diagnostic::info("layout::archive", "an archive is not a plugin").help("unpack it into a folder here");
        walk.report(d, &file.rel);
    } else if file.name == "plugin.toml" {
        let right = join(&walk.shown, "<name>/plugin.toml");
        let d = Diagnostic::warning("layout::misplaced", "`plugin.toml` is not read here")
            .help(format!("move it to `{right}`"));
        walk.report(d, &file.rel);
    }
}
