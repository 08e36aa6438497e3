//! What the checks of one plugin's files share.

use super::disk::Stat;
use super::fileset::{self, Files};
use super::places::Item;
use super::plugin::note_folder;
use super::raw::Schemas;
use super::reader::Reader;
use super::source::Place;
use super::walk::{Entry, Node, Unstable, Walk, join};
use crate::config::BotConfig;
use crate::config::doc::{self, Doc, NodeKind};
use plugin_sdk::Diagnostic;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One plugin while its files are read.
pub(super) struct Loading<'l, 'r, 'c> {
    pub(super) walk: &'l mut Walk<'r>,
    pub(super) reader: &'l mut Reader<'c>,
    pub(super) bot: &'l BotConfig,
    pub(super) schemas: &'l Schemas,
    /// `workspace.root`.
    pub(super) workspace: &'l Path,
    /// The plugin folder, links resolved.
    pub(super) dir: &'l Path,
    pub(super) top: &'l [Entry],
    pub(super) files: &'l mut Files,
    /// Paths that were asked for by name, and what stood there.
    pub(super) named: &'l mut Vec<(String, Option<(PathBuf, Stat)>)>,
}

/// Findings about one item's file.
pub(super) struct Findings {
    pub(super) label: String,
    pub(super) list: Vec<Diagnostic>,
}

impl Findings {
    pub(super) fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), list: Vec::new() }
    }

    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    pub(super) fn extend(&mut self, more: impl IntoIterator<Item = Diagnostic>) {
        self.list.extend(more);
    }

    pub(super) fn is_broken(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }
}

impl Loading<'_, '_, '_> {
    /// Path relative to the bot folder.
    pub(super) fn shown(&self, rel: &str) -> String {
        join(&self.walk.shown, rel)
    }

    pub(super) fn place(&self, item: &str, doc: &Arc<Doc>) -> Place {
        Place { owner: self.walk.owner.clone(), item: item.to_string(), doc: doc.clone() }
    }

    /// Moves the findings of an item into the report.
    pub(super) fn report(&mut self, findings: Findings) {
        for d in findings.list {
            let mut d = d.owner(&self.walk.owner);
            if !findings.label.is_empty() {
                d.item = Some(findings.label.clone());
            }
            self.walk.diagnostics.push(d);
        }
    }

    /// The text of an entry; a fault becomes a finding about the file, which leaves the file set.
    pub(super) fn text(
        &mut self,
        entry: &Entry,
        limit: u64,
        findings: &mut Findings,
    ) -> Result<Option<String>, Unstable> {
        match self.reader.text(entry, limit)? {
            Ok(text) => Ok(Some(text)),
            Err(d) => {
                if !d.code.starts_with("text::") {
                    self.files.remove(&entry.rel);
                }
                findings.add(d.file(self.shown(&entry.rel)));
                Ok(None)
            }
        }
    }

    /// A TOML manifest; faults become findings.
    pub(super) fn toml(
        &mut self,
        kind: &str,
        entry: &Entry,
        findings: &mut Findings,
    ) -> Result<Option<Arc<Doc>>, Unstable> {
        let Some(text) = self.text(entry, super::reader::MANIFEST_LIMIT, findings)? else { return Ok(None) };
        match Doc::parse_toml(kind, &self.shown(&entry.rel), &text) {
            Ok(doc) => Ok(Some(Arc::new(doc))),
            Err(faults) => {
                findings.list.extend(faults);
                Ok(None)
            }
        }
    }

    /// A file that a manifest names; it joins the file set and its folder is watched.
    pub(super) fn named(&mut self, rel: &str) -> Result<Option<Entry>, Unstable> {
        let found = fileset::named(self.walk, self.dir, self.top, rel)?;
        let state = found.as_ref().and_then(|e| match &e.node {
            Node::File(stat) => Some((e.real.clone(), *stat)),
            _ => None,
        });
        self.named.push((rel.to_string(), state));
        if let Some(entry) = &found
            && !entry.is_folder()
            && !self.files.has(&entry.rel)
        {
            self.files.add(entry);
            note_folder(self.walk, entry);
        }
        Ok(found)
    }

    /// A JSON file named by `pointer` of a manifest in `folder`: its value and path in the plugin.
    pub(super) fn json(
        &mut self,
        place: (&Doc, &str, &str),
        folder: &str,
        path: &str,
        findings: &mut Findings,
    ) -> Result<Option<(Doc, String)>, Unstable> {
        let (doc, pointer, kind) = place;
        let mut refuse = |message: String, help: &str| {
            let d = Diagnostic::error(format!("{kind}::bad-value"), message).help(help);
            findings.add(doc.diag(d, pointer));
        };
        let Some(rel) = resolve(folder, path) else {
            refuse(format!("`{path}` leaves the plugin folder"), "name a file inside the plugin");
            return Ok(None);
        };
        let Some(entry) = self.named(&rel)? else {
            refuse(format!("there is no file `{}`", self.shown(&rel)), "a path starts at the manifest's own folder");
            return Ok(None);
        };
        let Some(text) = self.text(&entry, super::reader::MANIFEST_LIMIT, findings)? else { return Ok(None) };
        match Doc::parse_json(kind, &self.shown(&entry.rel), &text) {
            Ok(json) => Ok(Some((json, entry.rel))),
            Err(faults) => {
                findings.list.extend(faults);
                Ok(None)
            }
        }
    }

    /// `(findings, file)` of an item.
    pub(super) fn findings(item: &Item<'_>) -> Findings {
        Findings::new(item.label())
    }
}

/// A relative path from a folder of the plugin; `None` when it leaves the plugin.
pub(super) fn resolve(folder: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Text at a pointer.
pub(super) fn text_at<'d>(doc: &'d Doc, pointer: &str) -> Option<&'d str> {
    match &doc.find(pointer)?.1.kind {
        NodeKind::Str(text) => Some(text),
        _ => None,
    }
}

/// Boolean at a pointer.
pub(super) fn bool_at(doc: &Doc, pointer: &str) -> Option<bool> {
    match doc.find(pointer)?.1.kind {
        NodeKind::Bool(b) => Some(b),
        _ => None,
    }
}

/// List at a pointer; empty when there is none.
pub(super) fn list_at<'d>(doc: &'d Doc, pointer: &str) -> &'d [doc::Node] {
    match doc.find(pointer).map(|(_, n)| &n.kind) {
        Some(NodeKind::Array(list)) => list,
        _ => &[],
    }
}

/// Text of a list entry.
pub(super) fn as_text(node: &doc::Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Str(text) => Some(text),
        _ => None,
    }
}
