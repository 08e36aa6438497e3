//! The armed folders: one watcher, one non-recursive watch per folder, by whatever names it is reached. The system
//! knows one watch per folder: a second one under another name would be the same, and end with either.

use super::Seen;
use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;
use tokio::sync::mpsc::UnboundedSender;

/// Events that may wait; further ones become one sweep of everything.
const WAITING: usize = 8_192;

/// Device, inode and birth: a folder made again is another one, though its number may be the old one's.
type Identity = (u64, u64, Option<SystemTime>);

/// See the file's head.
pub(super) struct Folders {
    watcher: RecommendedWatcher,
    armed: HashMap<PathBuf, Identity>,
    /// The armed names of each folder; the first carries the watch. Never empty.
    names: HashMap<Identity, Vec<PathBuf>>,
    seen: UnboundedSender<Seen>,
    waiting: Arc<AtomicUsize>,
}

impl Folders {
    /// A watcher that sends what it sees to `seen`.
    pub(super) fn new(seen: UnboundedSender<Seen>) -> notify::Result<Self> {
        let waiting = Arc::new(AtomicUsize::new(0));
        let (count, sender) = (Arc::clone(&waiting), seen.clone());
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let what = match event {
                Ok(event) if is_noise(&event.kind) => return,
                Ok(event) if event.need_rescan() => Seen::Missed,
                Ok(event) => Seen::Changed(event.paths),
                Err(error) => Seen::Failed(error.to_string()),
            };
            // A full queue says only that something was missed, once.
            let n = count.fetch_add(1, Ordering::AcqRel);
            let what = match n {
                n if n > WAITING => {
                    count.fetch_sub(1, Ordering::AcqRel);
                    return;
                }
                WAITING => Seen::Missed,
                _ => what,
            };
            // Nobody listens any more at shutdown.
            let _ = sender.send(what);
        })?;
        Ok(Self { watcher, armed: HashMap::new(), names: HashMap::new(), seen, waiting })
    }

    /// One event of the queue was taken.
    pub(super) fn taken(&self) {
        let _ = self.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1));
    }

    /// Arms a folder, again when it is another one than before. An absent folder is no fault.
    pub(super) fn arm(&mut self, folder: &Path) -> notify::Result<()> {
        let Some(identity) = identity(folder) else {
            self.disarm(folder);
            return Ok(());
        };
        if self.armed.get(folder) == Some(&identity) {
            return Ok(());
        }
        self.disarm(folder);
        if !self.names.contains_key(&identity) {
            self.watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        self.names.entry(identity).or_default().push(folder.to_path_buf());
        self.armed.insert(folder.to_path_buf(), identity);
        Ok(())
    }

    /// A path of an event, under every armed name of its folder.
    pub(super) fn all_names(&self, path: &Path) -> Vec<PathBuf> {
        let named = || Some((self.names.get(self.armed.get(path.parent()?)?)?, path.file_name()?));
        match named() {
            Some((folders, name)) => folders.iter().map(|folder| folder.join(name)).collect(),
            None => vec![path.to_path_buf()],
        }
    }

    /// Lets go of a folder and of everything in it.
    pub(super) fn disarm(&mut self, folder: &Path) {
        let gone: Vec<PathBuf> = self.armed.keys().filter(|p| p.starts_with(folder)).cloned().collect();
        for path in gone {
            self.drop_one(&path);
        }
    }

    /// Lets go of every folder that `keep` does not want.
    pub(super) fn retain(&mut self, keep: impl Fn(&Path) -> bool) {
        let gone: Vec<PathBuf> = self.armed.keys().filter(|p| !keep(p)).cloned().collect();
        for path in gone {
            self.drop_one(&path);
        }
    }

    fn drop_one(&mut self, path: &Path) {
        let Some(folder) = self.armed.remove(path) else { return };
        let mut names = self.names.remove(&folder).unwrap_or_default();
        if names.first().is_some_and(|first| first != path) {
            names.retain(|name| name != path);
            self.names.insert(folder, names);
            return;
        }
        if let Err(error) = self.watcher.unwatch(path) {
            // A deleted folder has lost its watch already.
            tracing::trace!(path = %path.display(), %error, "no watch to remove");
        }
        self.hand_over(folder, names.into_iter().skip(1).collect());
    }

    /// The watch of a folder that has lost the name it was watched by goes on under another one.
    fn hand_over(&mut self, folder: Identity, mut names: Vec<PathBuf>) {
        while let Some(next) = names.first() {
            let again = identity(next) == Some(folder);
            let watched = again.then(|| self.watcher.watch(next, RecursiveMode::NonRecursive));
            if let Some(Ok(())) = watched {
                self.names.insert(folder, names);
                // What happened between the two watches was announced by nobody.
                self.tell(Seen::Missed);
                return;
            }
            if let Some(Err(error)) = watched {
                self.tell(Seen::Failed(error.to_string()));
            }
            self.armed.remove(next);
            names.remove(0);
        }
    }

    fn tell(&self, what: Seen) {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        // Nobody listens any more at shutdown.
        let _ = self.seen.send(what);
    }

    /// Whether it is armed.
    pub(super) fn has(&self, folder: &Path) -> bool {
        self.armed.contains_key(folder)
    }

    /// Armed folders.
    pub(super) fn count(&self) -> usize {
        self.armed.len()
    }
}

fn identity(folder: &Path) -> Option<Identity> {
    let meta = std::fs::metadata(folder).ok().filter(std::fs::Metadata::is_dir)?;
    Some((meta.dev(), meta.ino(), meta.created().ok()))
}

/// Reading is no change; the end of writing is.
fn is_noise(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Access(access) if *access != AccessKind::Close(AccessMode::Write))
}
