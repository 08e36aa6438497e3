//! Walking one plugin folder: sorted, links judged, nothing followed outside or in a circle.

use super::disk::{Roots, Stat, kind_name};
use super::names;
use super::rules::{self, Rules};
use plugin_sdk::{Diagnostic, OwnerPath};
use std::collections::BTreeMap;
use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

/// Most files and folders of one plugin.
pub(super) const MAX_FILES: usize = 20_000;

/// Something that is there.
#[derive(Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) name: String,
    /// Relative to the plugin folder, `/`.
    pub(super) rel: String,
    /// Absolute, links resolved.
    pub(super) real: PathBuf,
    pub(super) node: Node,
}

/// What it is.
#[derive(Debug, PartialEq)]
pub(super) enum Node {
    /// A folder; its entries once it was walked.
    Folder(Vec<Entry>),
    File(Stat),
    /// A FIFO, socket or device.
    Odd(&'static str),
}

impl Entry {
    pub(super) fn is_folder(&self) -> bool {
        matches!(self.node, Node::Folder(_))
    }

    pub(super) fn entries(&self) -> &[Entry] {
        match &self.node {
            Node::Folder(list) => list,
            _ => &[],
        }
    }

    pub(super) fn child(&self, name: &str) -> Option<&Entry> {
        find(self.entries(), name)
    }
}

pub(super) fn find<'a>(list: &'a [Entry], name: &str) -> Option<&'a Entry> {
    list.iter().find(|e| e.name == name)
}

/// A path that changed under the walk: the scan begins again.
#[derive(Debug)]
pub(super) struct Unstable(pub(super) PathBuf);

/// A name in a folder, not yet judged.
#[derive(Debug, PartialEq)]
pub(super) struct Raw {
    pub(super) name: String,
    link: bool,
    folder: bool,
}

impl Raw {
    pub(super) fn new(name: &str, kind: Option<FileType>) -> Self {
        let (link, folder) = kind.map_or((false, false), |k| (k.is_symlink(), k.is_dir()));
        Self { name: name.to_string(), link, folder }
    }

    /// Whether it is a folder itself.
    pub(super) fn is_folder(&self) -> bool {
        self.folder
    }
}

/// The walk of one plugin and what it found.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    pub(super) roots: &'a Roots,
    pub(super) rules: &'a Rules,
    pub(super) owner: OwnerPath,
    /// Path of the plugin folder relative to the bot folder, `""` for the root.
    pub(super) shown: String,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Folders that were walked.
    pub(super) folders: Vec<PathBuf>,
    /// Dependency folders: path in the plugin, target.
    pub(super) links: Vec<(String, PathBuf)>,
    chain: Vec<PathBuf>,
    seen: usize,
}

/// Joins two relative paths with `/`.
pub(super) fn join(a: &str, b: &str) -> String {
    match (a, b) {
        ("", b) => b.to_string(),
        (a, "") => a.to_string(),
        (a, b) => format!("{a}/{b}"),
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(roots: &'a Roots, rules: &'a Rules, owner: OwnerPath, shown: String) -> Self {
        Self {
            roots,
            rules,
            owner,
            shown,
            diagnostics: Vec::new(),
            folders: Vec::new(),
            links: Vec::new(),
            chain: Vec::new(),
            seen: 0,
        }
    }

    /// Adds a finding about a path of the plugin.
    pub(super) fn report(&mut self, diagnostic: Diagnostic, rel: &str) {
        let d = diagnostic.owner(&self.owner).file(join(&self.shown, rel));
        self.diagnostics.push(d);
    }

    /// Whether the plugin has more than may be walked.
    pub(super) fn is_full(&self) -> bool {
        self.seen > MAX_FILES
    }

    /// Names of a folder without those that are ignored, in order. `strict`: bad names are findings.
    pub(super) fn names(&mut self, real: &Path, rel: &str, strict: bool) -> Result<Vec<Raw>, Unstable> {
        let listing = match std::fs::read_dir(real) {
            Ok(listing) => listing,
            Err(e) if is_gone(&e) => return Err(Unstable(real.to_path_buf())),
            Err(e) => {
                let d = Diagnostic::error("layout::not-a-file", format!("the folder cannot be listed: {e}"));
                self.report(d, rel);
                return Ok(Vec::new());
            }
        };
        self.folders.push(real.to_path_buf());
        let mut out: Vec<(String, Raw)> = Vec::new();
        for item in listing {
            let item = item.map_err(|_| Unstable(real.to_path_buf()))?;
            let file_name = item.file_name();
            let Some(name) = file_name.to_str() else {
                let text = names::escaped(&file_name);
                if strict && !text.starts_with('.') {
                    let d = Diagnostic::error("name::not-utf8", format!("the name `{text}` is not UTF-8"))
                        .help("rename it");
                    self.report(d, &join(rel, &text));
                }
                continue;
            };
            if rules::is_dependency_folder(name) {
                self.dependency(real, rel, name);
            }
            if !rules::is_ignored_name(name) {
                out.push((names::nfc(name), Raw::new(name, item.file_type().ok())));
            }
        }
        out.sort_by(|a, b| (&a.0, &a.1.name).cmp(&(&b.0, &b.1.name)));
        Ok(out.into_iter().map(|(_, raw)| raw).collect())
    }

    fn dependency(&mut self, real: &Path, rel: &str, name: &str) {
        let Ok(target) = std::fs::canonicalize(real.join(name)) else { return };
        let rel = join(rel, name);
        if !target.is_dir() || self.rules.never(&target) {
            return;
        }
        if !self.roots.contain(&target) {
            return self.outside(&rel);
        }
        self.links.push((rel.clone(), target));
        let d = Diagnostic::info("layout::shared-dependencies", format!("`{name}` is linked into the plugin's copy"))
            .help("a change in it starts no reload");
        self.report(d, &rel);
    }

    fn outside(&mut self, rel: &str) {
        let d = Diagnostic::warning(
            "layout::symlink-outside",
            "the link leads out of the bot folder and its search paths; it is treated as absent",
        )
        .help("add the folder that holds its target to `plugins.paths`, or copy the target here");
        self.report(d, rel);
    }

    /// Judges one name: follows a link, leaves out what belongs to nobody.
    pub(super) fn resolve(&mut self, dir: &Path, rel: &str, raw: &Raw) -> Result<Option<Entry>, Unstable> {
        let (name, rel) = (raw.name.clone(), join(rel, &raw.name));
        let mut real = dir.join(&name);
        if raw.link {
            match std::fs::canonicalize(&real) {
                Ok(target) => real = target,
                Err(e) if e.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                    self.circle(&rel);
                    return Ok(None);
                }
                Err(_) => {
                    self.dangling(&rel);
                    return Ok(None);
                }
            }
            if !self.roots.contain(&real) {
                self.outside(&rel);
                return Ok(None);
            }
        }
        if self.rules.never(&real) {
            return Ok(None);
        }
        if raw.folder {
            // The listing has told already, and a folder's own times do not matter.
            let ignored = self.rules.ignores(&join(&self.shown, &rel), true);
            return Ok((!ignored).then(|| Entry { name, rel, real, node: Node::Folder(Vec::new()) }));
        }
        let meta = match std::fs::symlink_metadata(&real) {
            Ok(meta) => meta,
            Err(_) => return Err(Unstable(real)),
        };
        if self.rules.ignores(&join(&self.shown, &rel), meta.is_dir()) {
            return Ok(None);
        }
        if meta.is_dir() && raw.link && (dir.starts_with(&real) || self.chain.contains(&real)) {
            self.circle(&rel);
            return Ok(None);
        }
        let node = if meta.is_dir() {
            Node::Folder(Vec::new())
        } else if meta.is_file() {
            Node::File(Stat::of(&meta))
        } else {
            Node::Odd(kind_name(&meta))
        };
        Ok(Some(Entry { name, rel, real, node }))
    }

    fn dangling(&mut self, rel: &str) {
        let d = Diagnostic::info("layout::symlink-dangling", "the link leads nowhere; it is treated as absent")
            .help("put its target there, or remove the link");
        self.report(d, rel);
    }

    fn circle(&mut self, rel: &str) {
        let d = Diagnostic::warning("layout::symlink-loop", "the link leads back to itself; it is treated as absent")
            .help("remove the link");
        self.report(d, rel);
    }

    /// Entries of one folder, folders not walked yet.
    pub(super) fn list(&mut self, real: &Path, rel: &str) -> Result<Vec<Entry>, Unstable> {
        let mut out = Vec::new();
        for raw in self.names(real, rel, true)? {
            out.extend(self.resolve(real, rel, &raw)?);
        }
        self.clashes(&out);
        Ok(out)
    }

    /// Names that some file system takes for one.
    pub(super) fn clashes(&mut self, list: &[Entry]) {
        let mut first: BTreeMap<String, &Entry> = BTreeMap::new();
        for entry in list {
            match first.get(&names::fold(&entry.name)) {
                None => {
                    first.insert(names::fold(&entry.name), entry);
                }
                Some(other) => {
                    let message = format!("`{}` and `{}` are one name on some file systems", other.name, entry.name);
                    let d = Diagnostic::error("name::case-clash", message)
                        .related(join(&self.shown, &other.rel), None, "the other one")
                        .help("rename one of them");
                    self.report(d, &entry.rel);
                }
            }
        }
    }

    /// Walks a folder to its leaves; `wanted` says which folders to enter.
    pub(super) fn fill(&mut self, entry: &mut Entry, wanted: &dyn Fn(&str) -> bool) -> Result<(), Unstable> {
        self.seen += 1;
        let Node::Folder(inside) = &mut entry.node else { return Ok(()) };
        if self.seen > MAX_FILES || !wanted(&entry.rel) {
            return Ok(());
        }
        let mut list = self.list(&entry.real, &entry.rel)?;
        self.chain.push(entry.real.clone());
        for child in &mut list {
            self.fill(child, wanted)?;
        }
        self.chain.pop();
        *inside = list;
        Ok(())
    }
}

fn is_gone(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
