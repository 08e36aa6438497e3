//! Old artifacts leave: by age, then the oldest until the rest fits.

use crate::exec::error::ArtifactError;
use crate::store::{Key, Op, SharedStore, Tree};
use crate::task::{SharedClock, blocking};
use serde_json::Value;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// Records read at a time.
const PAGE: usize = 500;

/// What a clean-up did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Files removed.
    pub removed: u64,
    /// Their bytes.
    pub removed_bytes: u64,
    /// Bytes that stay.
    pub kept_bytes: u64,
}

struct Entry {
    key: Key,
    path: PathBuf,
    bytes: u64,
    at_ms: i64,
    kept: bool,
}

/// Removes artifacts older than `days`, then the oldest until at most `max_mb` stay. Files of `running` turns
/// always stay.
pub async fn sweep_artifacts(
    data_dir: &Path,
    store: &SharedStore,
    clock: &SharedClock,
    (days, max_mb): (u64, u64),
    running: &HashSet<String>,
) -> Result<Swept, ArtifactError> {
    let mut entries = read_all(data_dir, store, running).await?;
    entries.sort_by_key(|e| e.at_ms);
    let max = max_mb.saturating_mul(1024 * 1024);
    let mut total: u64 = entries.iter().map(|e| e.bytes).sum();
    let age_ms = i64::try_from(days.saturating_mul(86_400_000)).unwrap_or(i64::MAX);
    let oldest = clock.now().timestamp_millis().saturating_sub(age_ms);
    let mut swept = Swept::default();
    for entry in entries.into_iter().filter(|e| !e.kept) {
        if entry.at_ms >= oldest && total <= max {
            break;
        }
        total = total.saturating_sub(entry.bytes);
        swept.removed += 1;
        swept.removed_bytes += entry.bytes;
        remove(entry, store).await?;
    }
    swept.kept_bytes = total;
    Ok(swept)
}

async fn read_all(
    data_dir: &Path,
    store: &SharedStore,
    running: &HashSet<String>,
) -> Result<Vec<Entry>, ArtifactError> {
    let mut entries = Vec::new();
    let mut after: Option<Key> = None;
    loop {
        let page = store.scan_prefix(Tree::Artifacts, &Key::new(), after.as_ref(), PAGE).await?;
        let full = page.len() == PAGE;
        after = page.last().map(|(key, _)| key.clone());
        entries.extend(page.into_iter().filter_map(|(key, value)| entry(data_dir, key, &value, running)));
        if !full {
            return Ok(entries);
        }
    }
}

fn entry(data_dir: &Path, key: Key, value: &Value, running: &HashSet<String>) -> Option<Entry> {
    let path = data_dir.join("artifacts").join(value["session"].as_str()?).join(value["file"].as_str()?);
    Some(Entry {
        path,
        bytes: value["bytes"].as_u64().unwrap_or(0),
        at_ms: value["at_ms"].as_i64().unwrap_or(0),
        kept: value["turn_id"].as_str().is_some_and(|t| running.contains(t)),
        key,
    })
}

/// The file first: a record without a file is removed the next time, a file without a record never.
async fn remove(entry: Entry, store: &SharedStore) -> Result<(), ArtifactError> {
    let path = entry.path.clone();
    let gone = blocking("artifact", move || std::fs::remove_file(path)).await;
    match gone {
        Ok(Ok(())) => {}
        Ok(Err(e)) if e.kind() == io::ErrorKind::NotFound => {}
        Ok(Err(source)) => return Err(ArtifactError::Io { path: entry.path, source }),
        Err(e) => return Err(ArtifactError::Interrupted(e.to_string())),
    }
    store.batch(vec![Op::delete(Tree::Artifacts, entry.key)]).await?;
    Ok(())
}
