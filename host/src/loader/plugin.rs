//! One plugin folder, read anew or taken over from the scan before.

use super::discover::Found;
use super::disk::Stat;
use super::fileset::{self, Extra, Files, Top};
use super::items;
use super::loading::Loading;
use super::manifest;
use super::places;
use super::reader::Reader;
use super::rules::{Include, in_bot};
use super::scan::{Context, ScanOptions};
use super::source::PluginSource;
use super::walk::{Entry, Node, Unstable, Walk};
use plugin_sdk::{Diagnostic, OwnerPath};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A plugin as it was read, with everything that its reading depended on.
#[derive(Debug)]
pub(super) struct Known {
    shown: String,
    top: Top,
    /// Findings of the walk alone.
    walked: Vec<Diagnostic>,
    /// Paths its manifests name, and what stood there.
    named: Vec<(String, Option<(PathBuf, Stat)>)>,
    include: Vec<String>,
    files: Files,
    source: PluginSource,
}

/// Reads one plugin folder; what it was read from is remembered in `next`. `None`: its manifest counts as absent.
pub(super) fn load(
    cx: &mut Context<'_>,
    found: Found,
    next: &mut BTreeMap<OwnerPath, Known>,
) -> Result<Option<PluginSource>, Unstable> {
    let Found { owner, dir, shown, naming } = found;
    let mut walk = Walk::new(cx.roots, cx.rules, owner.clone(), shown);
    for d in naming {
        walk.report(d, "");
    }
    let top = fileset::top(&mut walk, &dir)?;
    if !owner.is_root() && top.entries.iter().all(|e| e.name != "plugin.toml") {
        // The manifest is a link to the outside, or ignored: without it the folder is no plugin.
        cx.take(walk);
        return Ok(None);
    }
    let before = cx.known.remove(&owner).filter(|k| k.source.dir == dir && k.shown == walk.shown);
    let known = match before {
        Some(known) if is_same(cx, &known, &top, &walk)? => known,
        _ => read(cx, walk, top, dir)?,
    };
    let source = known.source.clone();
    next.insert(owner, known);
    Ok(Some(source))
}

/// Whether nothing that the plugin was read from has changed.
fn is_same(cx: &mut Context<'_>, known: &Known, top: &Top, walk: &Walk<'_>) -> Result<bool, Unstable> {
    if known.top != *top || known.walked != walk.diagnostics {
        return Ok(false);
    }
    let mut again = Walk::new(cx.roots, cx.rules, walk.owner.clone(), walk.shown.clone());
    let mut files = Files::default();
    files.add_top(&top.entries);
    for (rel, there) in &known.named {
        let entry = fileset::named(&mut again, &known.source.dir, &top.entries, rel)?;
        if entry.as_ref().and_then(state) != *there {
            return Ok(false);
        }
        if let Some(entry) = entry.filter(|e| !e.is_folder()) {
            note_folder(&mut again, &entry);
            files.add(&entry);
        }
    }
    let include = Include::new(&known.include).0;
    let extra = Extra { include: &include, apart: &cx.apart, is_root: walk.owner.is_root() };
    extra.collect(&mut again, &known.source.dir, &top.others, &mut files)?;
    files.remove_as(&known.files);
    if files != known.files {
        return Ok(false);
    }
    // Equal times are not believed while they are fresh: the hash decides.
    let hashed =
        if is_running(cx.options, &known.source) { files.hash(&mut again, &mut cx.reader)? } else { Vec::new() };
    let same = hashed == known.source.files;
    if same {
        cx.watch_all(walk.folders.iter().cloned().chain(again.folders));
    }
    Ok(same)
}

fn is_running(options: &ScanOptions<'_>, source: &PluginSource) -> bool {
    source.manifest.enabled && !options.bot.plugins.disabled.iter().any(|d| d == source.owner.as_str())
}

fn state(entry: &Entry) -> Option<(PathBuf, Stat)> {
    match &entry.node {
        Node::File(stat) => Some((entry.real.clone(), *stat)),
        _ => None,
    }
}

/// A named file may lie in a folder that the walk does not enter.
pub(super) fn note_folder(walk: &mut Walk<'_>, entry: &Entry) {
    if let Some(folder) = entry.real.parent() {
        walk.folders.push(folder.to_path_buf());
    }
}

fn read(cx: &mut Context<'_>, mut walk: Walk<'_>, top: Top, dir: PathBuf) -> Result<Known, Unstable> {
    let walked = walk.diagnostics.clone();
    let owner = walk.owner.clone();
    let mut files = Files::default();
    files.add_top(&top.entries);
    let mut named = Vec::new();
    let mut source = parse(cx, &mut walk, &top, &dir, (&mut files, &mut named))?;
    let include = include(cx.options, &source.1, &source.0, &mut walk);
    let extra = Extra { include: &Include::new(&include).0, apart: &cx.apart, is_root: owner.is_root() };
    let left = extra.collect(&mut walk, &dir, &top.others, &mut files)?;
    if !owner.is_root() && !left.is_empty() {
        let d = Diagnostic::info("layout::not-included", format!("no part of the plugin: {}", left.join(", ")))
            .help("add what belongs to it to `include` of `plugin.toml`");
        walk.report(d, "");
    }
    if is_running(cx.options, &source.0) {
        source.0.files = files.hash(&mut walk, &mut cx.reader)?;
    }
    cx.watch_all(std::mem::take(&mut walk.folders));
    source.0.links = walk.links;
    source.0.diagnostics = walk.diagnostics;
    Ok(Known { shown: walk.shown, top, walked, named, include, files, source: source.0 })
}

type Named = Vec<(String, Option<(PathBuf, Stat)>)>;

/// Manifest and items; beside the plugin, the globs of its `include`.
fn parse(
    cx: &mut Context<'_>,
    walk: &mut Walk<'_>,
    top: &Top,
    dir: &Path,
    (files, named): (&mut Files, &mut Named),
) -> Result<(PluginSource, Vec<String>), Unstable> {
    let owner = walk.owner.clone();
    let key = match owner.segments().last() {
        Some(key) => key.to_string(),
        None => dir.file_name().map_or_else(|| "bot".into(), |n| n.to_string_lossy().into_owned()),
    };
    let listed = places::items(walk, &top.entries);
    let reader: &mut Reader<'_> = &mut cx.reader;
    let workspace = &cx.workspace;
    let mut loading = Loading {
        walk,
        reader,
        bot: cx.options.bot,
        schemas: cx.schemas,
        workspace,
        dir,
        top: &top.entries,
        files,
        named,
    };
    let loaded = match top.entries.iter().find(|e| e.name == "plugin.toml") {
        Some(entry) => manifest::load(&mut loading, entry, &key)?,
        None => manifest::Loaded { manifest: manifest::empty(&key), include: Vec::new() },
    };
    let contents = items::load(&mut loading, &listed)?;
    let source = PluginSource {
        owner,
        dir: dir.to_path_buf(),
        manifest: loaded.manifest,
        enabled: true,
        tools: contents.tools,
        skills: contents.skills,
        sections: contents.sections,
        agents: contents.agents,
        hooks: contents.hooks,
        quiet_hooks: contents.quiet_hooks,
        commands: contents.commands,
        agents_md: contents.agents_md,
        tests: contents.tests,
        files: Vec::new(),
        links: Vec::new(),
        diagnostics: Vec::new(),
    };
    Ok((source, loaded.include))
}

/// The globs in force; one that cannot be read is a finding.
fn include(options: &ScanOptions<'_>, own: &[String], source: &PluginSource, walk: &mut Walk<'_>) -> Vec<String> {
    for (n, message) in Include::new(own).1 {
        let d = Diagnostic::error("plugin::bad-value", message).owner(&source.owner);
        let d = match &source.manifest.place {
            Some(place) => place.doc.diag(d, &format!("/include/{n}")),
            None => d,
        };
        walk.diagnostics.push(d);
    }
    let mut all = own.to_vec();
    if source.owner.is_root() {
        for (n, message) in Include::new(&options.bot.plugins.include).1 {
            let d = Diagnostic::error("bot::bad-value", message).owner(&source.owner);
            walk.diagnostics.push(in_bot(options.bot_doc.as_deref(), d, &format!("/plugins/include/{n}")));
        }
        all.extend(options.bot.plugins.include.iter().cloned());
    }
    all
}
