//! One plugin's read-only tree: compared before each use, removed with its last instance.

use super::Resource;
use super::copies::{Copies, private_folder};
use crate::loader::FileEntry;
use async_trait::async_trait;
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A tree in use.
pub(crate) struct Tree {
    /// Its folder.
    pub(crate) path: PathBuf,
    pub(super) hash: String,
    pub(super) files: Vec<String>,
    pub(super) copies: Arc<Copies>,
}

#[async_trait]
impl Resource for Tree {
    fn name(&self) -> &str {
        "file tree"
    }

    async fn dispose(&self) -> Result<(), String> {
        let (copies, hash, files) = (Arc::clone(&self.copies), self.hash.clone(), self.files.clone());
        let removed = crate::task::blocking("tree removal", move || copies.release(&hash, &files)).await;
        removed.map_err(|e| e.to_string())?.map_err(|e| e.to_string())
    }
}

/// What a tree holds.
#[derive(Clone, Copy)]
pub(crate) struct Listed<'a> {
    /// Copied files.
    pub(crate) files: &'a [FileEntry],
    /// Linked dependency folders.
    pub(crate) links: &'a [(String, PathBuf)],
}

/// How a tree differs from its file list.
pub(super) struct Differences<'a> {
    /// Absent or changed.
    pub(super) damaged: Vec<&'a FileEntry>,
    /// Not of the list, relative to the tree.
    pub(super) extra: Vec<String>,
}

/// Compares by list, size, age and mode; no content is read.
pub(super) fn compare<'a>(
    tree: &Path,
    listed: &'a Listed<'a>,
    is_intact: impl Fn(&Metadata, &FileEntry) -> bool,
) -> io::Result<Differences<'a>> {
    let files = listed.files;
    let expected: HashMap<&str, &FileEntry> = files.iter().map(|f| (f.path.as_str(), f)).collect();
    let folders = folders_of(listed);
    let mut found = BTreeSet::new();
    let mut out = Differences { damaged: Vec::new(), extra: Vec::new() };
    let mut open = vec![String::new()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(tree.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                out.extra.push(format!("{folder}{}", name.to_string_lossy()));
                continue;
            };
            let path = format!("{folder}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() && folders.contains(path.as_str()) {
                open.push(format!("{path}/"));
            } else if let Some(file) = expected.get(path.as_str()) {
                if is_intact(&entry.metadata()?, file) {
                    found.insert(file.path.as_str());
                }
            } else if !(kind.is_symlink() && listed.links.iter().any(|(link, _)| *link == path)) {
                out.extra.push(path);
            }
        }
    }
    out.damaged = files.iter().filter(|f| !found.contains(f.path.as_str())).collect();
    Ok(out)
}

/// Links the dependency folders: changing them is nothing the host follows.
pub(super) fn link_dependencies(tree: &Path, links: &[(String, PathBuf)]) -> io::Result<()> {
    for (path, target) in links {
        let link = tree.join(path);
        if let Some(folder) = link.parent() {
            private_folder(folder)?;
        }
        std::os::unix::fs::symlink(target, link)?;
    }
    Ok(())
}

/// Every folder that holds a file or link of the list, at any depth.
fn folders_of<'a>(listed: &Listed<'a>) -> BTreeSet<&'a str> {
    let mut folders = BTreeSet::new();
    for path in listed.files.iter().map(|f| &f.path).chain(listed.links.iter().map(|(path, _)| path)) {
        let mut path = path.as_str();
        while let Some(i) = path.rfind('/') {
            path = &path[..i];
            if !folders.insert(path) {
                break;
            }
        }
    }
    folders
}
