//! Read-only copies: contents in `data_dir/files`, one tree per plugin hash in `data_dir/trees`.
//! Running code uses only these; the author's file is never executed.

use super::CopyError;
use super::tree::{self, Listed, Tree};
use crate::loader::{FileEntry, PluginSource};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Age that every copied file shows, so that a later write betrays itself. 2001-09-09.
const STAMP: Duration = Duration::from_secs(1_000_000_000);

/// How names of unfinished work begin.
const SCRATCH: &str = ".new-";

/// What making or reusing a tree did.
#[derive(Debug, Default)]
pub(crate) struct CopyReport {
    /// Bytes written into `files`.
    pub(crate) bytes: u64,
    /// Paths in the tree that somebody had changed, relative to it.
    pub(crate) changed: Vec<String>,
}

/// The copies of one data folder. One process writes them.
pub(crate) struct Copies {
    files: PathBuf,
    trees: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Users per plugin hash.
    users: HashMap<String, usize>,
    next: u64,
}

impl Copies {
    /// Makes the folders and removes what an interrupted process left.
    pub(crate) fn open(data_dir: &Path) -> Result<Arc<Self>, CopyError> {
        let copies = Self { files: data_dir.join("files"), trees: data_dir.join("trees"), state: Mutex::default() };
        for folder in [&copies.files, &copies.trees] {
            private_folder(folder).map_err(|e| CopyError::new(folder, e))?;
            for name in names(folder).map_err(|e| CopyError::new(folder, e))? {
                if name.starts_with(SCRATCH) {
                    remove(&folder.join(&name)).map_err(|e| CopyError::new(folder, e))?;
                }
            }
        }
        Ok(Arc::new(copies))
    }

    /// The tree of a plugin: verified when it is there, else made.
    pub(crate) fn tree(
        self: &Arc<Self>,
        hash: &str,
        plugin: &PluginSource,
        report: &mut CopyReport,
    ) -> Result<Tree, CopyError> {
        let mut state = self.lock();
        let path = self.trees.join(hash);
        if path.is_dir() {
            self.repair(&mut state, &path, Listed { files: &plugin.files, links: &plugin.links }, report)?;
        } else {
            self.build(&mut state, &path, plugin, report)?;
        }
        *state.users.entry(hash.to_owned()).or_default() += 1;
        let files = plugin.files.iter().map(stored_name).collect();
        Ok(Tree { path, hash: hash.to_owned(), files, copies: Arc::clone(self) })
    }

    /// Compares a tree in use with its file list and puts right what was changed.
    pub(crate) fn verify(&self, hash: &str, listed: Listed<'_>, report: &mut CopyReport) -> Result<(), CopyError> {
        let mut state = self.lock();
        self.repair(&mut state, &self.trees.join(hash), listed, report)
    }

    /// One user fewer; the last one's tree goes, with the contents nobody else has.
    pub(super) fn release(&self, hash: &str, files: &[String]) -> io::Result<()> {
        let mut state = self.lock();
        match state.users.get_mut(hash) {
            Some(users) if *users > 1 => {
                *users -= 1;
                return Ok(());
            }
            _ => state.users.remove(hash),
        };
        let gone = self.scratch(&mut state, &self.trees);
        match fs::rename(self.trees.join(hash), &gone) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        }
        fs::remove_dir_all(&gone)?;
        for name in files {
            self.drop_unlinked(&self.files.join(name))?;
        }
        Ok(())
    }

    /// Removes trees and contents that no instance of this process uses. Called once, after the start.
    pub(crate) fn sweep(&self) -> io::Result<()> {
        let state = self.lock();
        for name in names(&self.trees)?.into_iter().filter(|n| is_digest(n)) {
            if !state.users.contains_key(&name) {
                remove(&self.trees.join(name))?;
            }
        }
        for name in names(&self.files)?.into_iter().filter(|n| is_digest(n.strip_suffix('x').unwrap_or(n))) {
            self.drop_unlinked(&self.files.join(name))?;
        }
        Ok(())
    }

    /// Every tree holds its contents by a link, so a content with one link is in no tree.
    fn drop_unlinked(&self, path: &Path) -> io::Result<()> {
        match fs::symlink_metadata(path) {
            Ok(meta) if meta.nlink() <= 1 => fs::remove_file(path),
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    fn build(
        &self,
        state: &mut State,
        path: &Path,
        plugin: &PluginSource,
        report: &mut CopyReport,
    ) -> Result<(), CopyError> {
        let draft = self.scratch(state, &self.trees);
        let made = private_folder(&draft).map_err(|e| CopyError::new(&draft, e)).and_then(|()| {
            for file in &plugin.files {
                self.place(state, &draft, file, report)?;
            }
            tree::link_dependencies(&draft, &plugin.links).map_err(|e| CopyError::new(&draft, e))?;
            fs::rename(&draft, path).map_err(|e| CopyError::new(path, e))
        });
        if made.is_err() {
            // The partial copy must not stay; the first fault is the one to report.
            if let Err(e) = remove(&draft) {
                tracing::warn!(path = %draft.display(), error = %e, "a partial copy could not be removed");
            }
        }
        made
    }

    fn repair(
        &self,
        state: &mut State,
        path: &Path,
        listed: Listed<'_>,
        report: &mut CopyReport,
    ) -> Result<(), CopyError> {
        let differences = tree::compare(path, &listed, is_intact).map_err(|e| CopyError::new(path, e))?;
        for extra in &differences.extra {
            remove(&path.join(extra)).map_err(|e| CopyError::new(path, e))?;
        }
        for file in &differences.damaged {
            self.place(state, path, file, report)?;
        }
        report.changed.extend(differences.extra);
        report.changed.extend(differences.damaged.into_iter().map(|f| f.path.clone()));
        Ok(())
    }

    /// Puts one file into a tree, over whatever is there.
    fn place(
        &self,
        state: &mut State,
        tree: &Path,
        file: &FileEntry,
        report: &mut CopyReport,
    ) -> Result<(), CopyError> {
        let stored = self.store(state, file, report)?;
        let target = tree.join(&file.path);
        let folder = target.parent().unwrap_or(tree);
        let at = |e| CopyError::new(&target, e);
        private_folder(folder).map_err(at)?;
        let draft = self.scratch(state, folder);
        match fs::hard_link(&stored, &draft) {
            Ok(()) => {}
            // A file system without links, or a content with too many: then it is copied.
            Err(_) => {
                let mut from = File::open(&stored).map_err(at)?;
                write_file(&mut from, &draft, file).map_err(at)?;
            }
        }
        fs::rename(&draft, &target).map_err(at)
    }

    /// The content of a file in `files`, copied there unless it is.
    fn store(&self, state: &mut State, file: &FileEntry, report: &mut CopyReport) -> Result<PathBuf, CopyError> {
        let path = self.files.join(stored_name(file));
        if fs::symlink_metadata(&path).is_ok_and(|meta| is_intact(&meta, file)) {
            return Ok(path);
        }
        let draft = self.scratch(state, &self.files);
        let copied = File::open(&file.source).and_then(|mut from| write_file(&mut from, &draft, file));
        let sha256 = match copied {
            Ok(sha256) => sha256,
            Err(e) => {
                let _ = fs::remove_file(&draft);
                return Err(CopyError::new(&file.source, e));
            }
        };
        if sha256 != file.sha256 {
            let _ = fs::remove_file(&draft);
            return Err(CopyError::Changed { path: file.source.clone() });
        }
        fs::rename(&draft, &path).map_err(|e| CopyError::new(&path, e))?;
        report.bytes += file.size;
        Ok(path)
    }

    /// A name that no other work uses; leftovers of such names are removed at the next start.
    fn scratch(&self, state: &mut State, folder: &Path) -> PathBuf {
        state.next += 1;
        folder.join(format!("{SCRATCH}{}", state.next))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a name is one the copies give: whatever has another was put there by somebody, and stays.
fn is_digest(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Mode and content make a stored file: a mode belongs to the inode, not to the name.
fn stored_name(file: &FileEntry) -> String {
    format!("{}{}", file.sha256, if file.executable { "x" } else { "" })
}

fn mode(file: &FileEntry) -> u32 {
    if file.executable { 0o500 } else { 0o400 }
}

/// Whether a copy is as it was made: size, age and mode.
fn is_intact(meta: &fs::Metadata, file: &FileEntry) -> bool {
    meta.is_file()
        && meta.len() == file.size
        && meta.mtime() == STAMP.as_secs() as i64
        && meta.mtime_nsec() == 0
        && meta.mode() & 0o777 == mode(file)
}

/// Writes a copy with its mode and age; the digest of what was read.
fn write_file(from: &mut File, to: &Path, file: &FileEntry) -> io::Result<String> {
    let mut out = File::options().write(true).create_new(true).mode(0o600).open(to)?;
    let mut hash = Sha256::new();
    let mut buffer = [0_u8; 64 * 1024];
    loop {
        let n = from.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        hash.update(&buffer[..n]);
        out.write_all(&buffer[..n])?;
    }
    out.set_modified(SystemTime::UNIX_EPOCH + STAMP)?;
    out.set_permissions(Permissions::from_mode(mode(file)))?;
    Ok(hex::encode(hash.finalize()))
}

pub(super) fn private_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}
