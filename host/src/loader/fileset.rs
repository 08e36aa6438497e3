//! The file set of a plugin: what is watched, hashed and copied, and nothing else of its folder.

use super::disk::Stat;
use super::names;
use super::places::Kind;
use super::reader::{Reader, SET_LIMIT, not_a_file};
use super::rules::Include;
use super::source::FileEntry;
use super::walk::{Entry, MAX_FILES, Node, Raw, Unstable, Walk, find};
use plugin_sdk::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 2] = ["lib", "tests"];
const MCP: [&str; 3] = ["mcp.json", "mcp.jsonc", "mcp.toml"];

/// Whether a top-level name belongs to every plugin.
fn is_member(name: &str) -> bool {
    name == "plugin.toml" || name == "AGENTS.md" || is_mcp(name) || is_member_folder(name)
}

fn is_member_folder(name: &str) -> bool {
    FOLDERS.contains(&name) || Kind::of_container(name).is_some()
}

pub(super) fn is_mcp(name: &str) -> bool {
    MCP.contains(&name)
}

/// The top level of a plugin folder.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Top {
    /// What belongs to the plugin, walked to its leaves.
    pub(super) entries: Vec<Entry>,
    /// Other names.
    pub(super) others: Vec<Raw>,
}

/// Lists a plugin folder and walks what belongs to every plugin.
pub(super) fn top(walk: &mut Walk<'_>, dir: &Path) -> Result<Top, Unstable> {
    let mut top = Top::default();
    for raw in walk.names(dir, "", false)? {
        let manifest = Kind::ALL.iter().any(|k| k.manifest() == raw.name);
        if !is_member(&raw.name) && !manifest {
            top.others.push(raw);
            continue;
        }
        let Some(mut entry) = walk.resolve(dir, "", &raw)? else { continue };
        if is_member_folder(&entry.name) {
            walk.fill(&mut entry, &|_| true)?;
        }
        top.entries.push(entry);
    }
    walk.clashes(&top.entries);
    let has = |name: &str| top.entries.iter().any(|e| e.name == name);
    for other in top.others.iter().filter(|o| o.is_folder()) {
        if let Some(meant) = misspelt(&other.name).filter(|m| !has(m) || names::fold(m) != names::fold(&other.name)) {
            let message = format!("`{}/` is no folder of a plugin: nothing in it is read", other.name);
            let d = Diagnostic::warning("layout::misplaced", message);
            let help = format!("rename it to `{meant}`, or leave it out with `[plugins] ignore`");
            walk.report(d.help(help), &other.name);
        }
    }
    for other in &top.others {
        let folded = names::fold(&other.name);
        if let Some(own) = top.entries.iter().find(|e| names::fold(&e.name) == folded) {
            let message = format!("`{}` and `{}` are one name on some file systems", own.name, other.name);
            let d = Diagnostic::error("name::case-clash", message)
                .related(super::walk::join(&walk.shown, &own.rel), None, "the other one")
                .help("rename one of them");
            walk.report(d, &other.name);
        }
    }
    Ok(top)
}

/// The folder that a name one letter off, or written in another way, was meant to be.
fn misspelt(name: &str) -> Option<&'static str> {
    let mut near = Kind::ALL.iter().map(|k| k.container()).filter(|k| is_meant(k, name));
    let plain = name.to_lowercase();
    near.next()
        .or_else(|| is_meant("sections", name).then(|| Kind::Section.container()))
        .or_else(|| matches!(plain.as_str(), "test" | "tests").then_some("tests"))
}

/// Whether a name is another spelling of a folder's.
pub(super) fn is_meant(folder: &str, name: &str) -> bool {
    let plain = |s: &str| s.to_lowercase().replace(['-', '_', ' '], "");
    plain(folder) == plain(name) || one_letter_off(folder, name)
}

/// One letter is added, left out or another one.
fn one_letter_off(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same_start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same_start..], &b[same_start..]);
    match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Equal => a.get(1..) == b.get(1..),
        std::cmp::Ordering::Greater => a.get(1..) == Some(b),
        std::cmp::Ordering::Less => b.get(1..) == Some(a),
    }
}

/// Files of the plugin by path, before they are hashed.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Files {
    listed: BTreeMap<String, (PathBuf, Stat)>,
    odd: Vec<(String, &'static str)>,
    removed: BTreeSet<String>,
}

impl Files {
    /// All regular files below the entries.
    pub(super) fn add(&mut self, entry: &Entry) {
        match &entry.node {
            Node::File(stat) => {
                self.listed.insert(entry.rel.clone(), (entry.real.clone(), *stat));
            }
            Node::Odd(what) => self.odd.push((entry.rel.clone(), what)),
            Node::Folder(list) => list.iter().for_each(|e| self.add(e)),
        }
    }

    /// The members of `top`: loose files beside item folders do not count.
    pub(super) fn add_top(&mut self, top: &[Entry]) {
        for entry in top {
            match Kind::of_container(&entry.name) {
                Some(_) => entry.entries().iter().filter(|e| e.is_folder()).for_each(|e| self.add(e)),
                None if is_member(&entry.name) => self.add(entry),
                None => {}
            }
        }
    }

    pub(super) fn has(&self, rel: &str) -> bool {
        self.listed.contains_key(rel)
    }

    /// Leaves one out, after its own finding.
    pub(super) fn remove(&mut self, rel: &str) {
        self.listed.remove(rel);
        self.odd.retain(|(r, _)| r != rel);
        self.removed.insert(rel.to_string());
    }

    /// Leaves the same files out as another set.
    pub(super) fn remove_as(&mut self, other: &Files) {
        for rel in &other.removed {
            self.remove(rel);
        }
    }

    /// Hashes all; over a limit nothing is read.
    pub(super) fn hash(&self, walk: &mut Walk<'_>, reader: &mut Reader<'_>) -> Result<Vec<FileEntry>, Unstable> {
        for (rel, what) in &self.odd {
            walk.report(*not_a_file(what), rel);
        }
        let bytes: u64 = self.listed.values().map(|(_, s)| s.size).sum();
        if walk.is_full() || self.listed.len() > MAX_FILES || bytes > SET_LIMIT {
            let what = if bytes > SET_LIMIT { "512 MiB" } else { "20,000 files" };
            let d = Diagnostic::error("layout::too-big", format!("the plugin's file set is over {what}"))
                .help("leave folders out with `[plugins] ignore`, or narrow `include`");
            walk.report(d, "");
            return Ok(Vec::new());
        }
        let mut out = Vec::with_capacity(self.listed.len());
        for (rel, (real, stat)) in &self.listed {
            let name = rel.rsplit('/').next().unwrap_or(rel).to_string();
            let entry = Entry { name, rel: rel.clone(), real: real.clone(), node: Node::File(*stat) };
            match reader.content(&entry, stat, false, u64::MAX)? {
                Ok(content) => out.push(FileEntry {
                    path: entry.rel,
                    sha256: content.sha256.to_string(),
                    size: stat.size,
                    executable: stat.executable(),
                    source: entry.real,
                }),
                Err(d) => walk.report(*d, &entry.rel),
            }
        }
        out.sort_by_cached_key(|f| (names::nfc(&f.path), f.path.clone()));
        Ok(out)
    }
}

/// What else the globs of `include` name, and the names that stay outside.
pub(super) struct Extra<'a> {
    pub(super) include: &'a Include,
    /// Folders that are plugins of their own.
    pub(super) apart: &'a [PathBuf],
    pub(super) is_root: bool,
}

impl Extra<'_> {
    /// Walks the top-level names that a glob may reach; returns the names of which nothing was taken.
    pub(super) fn collect(
        &self,
        walk: &mut Walk<'_>,
        dir: &Path,
        others: &[Raw],
        files: &mut Files,
    ) -> Result<Vec<String>, Unstable> {
        let mut left = Vec::new();
        for raw in others {
            if !self.is_root && raw.name == "plugins"
                || self.is_root && matches!(raw.name.as_str(), "bot.toml" | "data")
            {
                continue;
            }
            let reached = self.include.has(&raw.name) || self.include.reaches_into(&raw.name);
            let before = files.listed.len();
            if reached
                && let Some(mut entry) = walk.resolve(dir, "", raw)?
                && !self.apart.contains(&entry.real)
            {
                walk.fill(&mut entry, &|rel| self.include.reaches_into(rel))?;
                self.pick(&entry, files);
            }
            if files.listed.len() == before {
                left.push(raw.name.clone());
            }
        }
        Ok(left)
    }

    fn pick(&self, entry: &Entry, files: &mut Files) {
        if self.apart.contains(&entry.real) {
            return;
        }
        match &entry.node {
            Node::Folder(list) => list.iter().for_each(|e| self.pick(e, files)),
            _ if self.include.has(&entry.rel) => files.add(entry),
            _ => {}
        }
    }
}

/// Looks a path up that a manifest names: the entry, if it is in the plugin and not left out.
pub(super) fn named(walk: &mut Walk<'_>, dir: &Path, top: &[Entry], rel: &str) -> Result<Option<Entry>, Unstable> {
    let mut list = top;
    let mut seen: Option<&Entry> = None;
    for part in rel.split('/') {
        match find(list, part) {
            Some(entry) => {
                seen = Some(entry);
                list = entry.entries();
            }
            None => {
                seen = None;
                break;
            }
        }
    }
    if let Some(Entry { name, rel, real, node: Node::File(stat) }) = seen {
        return Ok(Some(Entry { name: name.clone(), rel: rel.clone(), real: real.clone(), node: Node::File(*stat) }));
    }
    step_down(walk, dir, rel)
}

/// One `resolve` per path part, so that every link on the way is judged.
fn step_down(walk: &mut Walk<'_>, dir: &Path, rel: &str) -> Result<Option<Entry>, Unstable> {
    let mut real = dir.to_path_buf();
    let mut at = String::new();
    let mut last = None;
    for part in rel.split('/') {
        let Ok(meta) = std::fs::symlink_metadata(real.join(part)) else { return Ok(None) };
        let raw = Raw::new(part, Some(meta.file_type()));
        let Some(entry) = walk.resolve(&real, &at, &raw)? else { return Ok(None) };
        real = entry.real.clone();
        at = entry.rel.clone();
        last = Some(entry);
    }
    Ok(last)
}
