//! Metadata of everything relevant, for polling and for the sweep that checks the events.

use super::relevant::is_relevant;
use crate::candidate::WatchList;
use chrono::{DateTime, Utc};
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Size, both times, inode, mode.
type Stat = (u64, i64, i64, i64, i64, u64, u32);

/// What a look saw.
pub(super) type Snapshot = HashMap<PathBuf, Stat>;

/// Looks at the entries of these folders and at the listed files in them.
pub(super) fn take(list: &WatchList, folders: &[PathBuf]) -> Snapshot {
    let mut out = Snapshot::new();
    for folder in folders {
        // A folder that is not there shows as the absence of its entries.
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for path in entries.flatten().map(|e| e.path()).filter(|p| is_relevant(list, p)) {
            // Through links, as the loader reads.
            if let Ok(meta) = fs::metadata(&path) {
                out.insert(path, stat(&meta));
            }
        }
    }
    out
}

/// Whether anything relevant in these folders, or the folders themselves, changed after `since`.
pub(super) fn changed_since(list: &WatchList, folders: &[PathBuf], since: DateTime<Utc>) -> bool {
    // Times of a file system are coarser than the clock.
    let since = since.timestamp_millis() - 50;
    let millis = |s: i64, ns: i64| s * 1_000 + ns / 1_000_000;
    let own = |folder: &PathBuf| fs::metadata(folder).is_ok_and(|m| millis(m.mtime(), m.mtime_nsec()) >= since);
    let watched = |folder: &&PathBuf| is_relevant(list, folder);
    folders.iter().filter(watched).any(own)
        || take(list, folders).values().any(|(_, _, _, s, ns, _, _)| millis(*s, *ns) >= since)
}

/// Paths that differ, came or went.
pub(super) fn differences(old: &Snapshot, new: &Snapshot) -> Vec<PathBuf> {
    let changed = new.iter().filter(|(path, stat)| old.get(*path) != Some(*stat)).map(|(path, _)| path);
    let gone = old.keys().filter(|path| !new.contains_key(*path));
    changed.chain(gone).cloned().collect()
}

fn stat(m: &Metadata) -> Stat {
    // A folder's own size and times change with ignored entries too; what matters in it has its own line.
    if m.is_dir() {
        return (0, 0, 0, 0, 0, m.ino(), 0);
    }
    (m.len(), m.mtime(), m.mtime_nsec(), m.ctime(), m.ctime_nsec(), m.ino(), m.mode())
}
