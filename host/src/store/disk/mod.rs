//! The sled database and its content files, as blocking calls. One tree of sled holds all of ours, each key
//! headed by the tree's id: then a batch over several trees is one atomic batch of sled.

mod clean;
mod sled_file;
mod upkeep;

use super::codec::{Body, Digest32, Head, chunk_key, chunk_text, decode};
use super::content::ContentDir;
use super::memory::now_ms;
use super::plan::{Plan, record_key, refs_key};
use super::port::{Op, Tree};
use super::{Key, StoreError};
use crate::task::SharedClock;
use serde_json::Value;
use sled_file::{Opened, open_sled};
use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

/// Below this much free space nothing is written: sled does not survive a failed write of its own.
const RESERVE: u64 = 4 << 20;

/// How free space is found out; a test puts its own here.
pub(super) type FreeSpace = Box<dyn Fn() -> io::Result<u64> + Send + Sync>;

/// What a database is opened with.
pub(super) struct Settings {
    pub(super) data_dir: PathBuf,
    pub(super) flush_every_ms: u64,
    pub(super) cache_mb: u64,
    pub(super) clock: SharedClock,
    pub(super) free: FreeSpace,
}

pub(super) struct Disk {
    settings: Settings,
    content: ContentDir,
    /// Held while content files are written or removed. Taken before `state`, never inside it.
    content_lock: Mutex<()>,
    state: RwLock<Option<Opened>>,
    /// Batches applied, and how many of them the last sync covered.
    written: AtomicU64,
    synced: AtomicU64,
    syncs: AtomicU64,
    /// Content files that may have lost their last reference; looked at after the next sync.
    orphans: Mutex<HashSet<Digest32>>,
    cursor: Mutex<Option<Vec<u8>>>,
    broken: AtomicBool,
}

impl Disk {
    pub(super) fn open(settings: Settings) -> Result<Self, StoreError> {
        let content = ContentDir::open(&settings.data_dir)?;
        let opened = open_sled(&settings)?;
        Ok(Self {
            settings,
            content,
            content_lock: Mutex::default(),
            state: RwLock::new(Some(opened)),
            written: AtomicU64::new(1),
            synced: AtomicU64::new(0),
            syncs: AtomicU64::new(0),
            orphans: Mutex::default(),
            cursor: Mutex::default(),
            broken: AtomicBool::new(false),
        })
    }

    pub(super) fn now_ms(&self) -> u64 {
        now_ms(&self.settings.clock)
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<Opened>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Without a database the store is closed, or waits for the space it needs to be opened again.
    fn opened<'a>(&self, state: &'a Option<Opened>) -> Result<&'a Opened, StoreError> {
        match state {
            Some(opened) => Ok(opened),
            None if self.broken.load(Ordering::SeqCst) => {
                Err(StoreError::DiskFull { free: (self.settings.free)().unwrap_or(0) })
            }
            None => Err(StoreError::Closed),
        }
    }

    fn orphans(&self) -> MutexGuard<'_, HashSet<Digest32>> {
        self.orphans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fault(&self, e: sled::Error) -> StoreError {
        match e {
            sled::Error::Io(e) => {
                self.broken.store(true, Ordering::SeqCst);
                if e.kind() == io::ErrorKind::StorageFull {
                    StoreError::DiskFull { free: (self.settings.free)().unwrap_or(0) }
                } else {
                    StoreError::Io(e)
                }
            }
            other => StoreError::Corrupt(other.to_string()),
        }
    }

    /// Whether a store was complete in this folder before.
    pub(super) fn was_complete(&self) -> bool {
        sled_file::was_complete(&self.settings.data_dir)
    }

    /// Notes that it is complete now.
    pub(super) fn mark_complete(&self) -> Result<(), StoreError> {
        Ok(sled_file::mark_complete(&self.settings.data_dir)?)
    }

    /// Whether the database holds no record at all.
    pub(super) fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.opened(&self.read())?.db.is_empty())
    }

    pub(super) fn get(&self, tree: Tree, key: &Key) -> Result<Option<Value>, StoreError> {
        let state = self.read();
        self.get_in(self.opened(&state)?, tree, key, self.now_ms())
    }

    fn get_in(&self, opened: &Opened, tree: Tree, key: &Key, now: u64) -> Result<Option<Value>, StoreError> {
        let full = record_key(tree, key);
        let Some(record) = opened.db.get(&full).map_err(|e| self.fault(e))? else { return Ok(None) };
        match decode(&record).map_err(|why| bad(tree, why))? {
            Some(head) if !head.is_expired(now) => self.load(opened, tree, &full, &head).map(Some),
            _ => Ok(None),
        }
    }

    fn load(&self, opened: &Opened, tree: Tree, full: &[u8], head: &Head<'_>) -> Result<Value, StoreError> {
        let parse = |json: &[u8]| serde_json::from_slice(json).map_err(|e| bad(tree, e.to_string()));
        match &head.body {
            Body::Whole(json) => parse(json),
            Body::Chunks { count, len } => {
                let mut json = Vec::with_capacity(*len);
                for item in opened.db.range(chunk_key(full, 0)..chunk_key(full, *count)) {
                    let (_, record) = item.map_err(|e| self.fault(e))?;
                    json.extend_from_slice(chunk_text(&record).ok_or_else(|| bad(tree, "no chunk".into()))?);
                }
                if json.len() == *len { parse(&json) } else { Err(bad(tree, "a chunk is missing".into())) }
            }
            Body::File { digest, len } => match self.content.read(digest, *len) {
                Ok(json) => parse(&json),
                Err(e) => Err(bad(tree, format!("content file: {e}"))),
            },
        }
    }

    pub(super) fn scan(
        &self,
        tree: Tree,
        prefix: &Key,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<Vec<(Key, Value)>, StoreError> {
        let state = self.read();
        let opened = self.opened(&state)?;
        let now = self.now_ms();
        let low = record_key(tree, prefix);
        let from = match after {
            // The chunks of `after` come next and are passed over like any others.
            Some(after) if after >= prefix => std::ops::Bound::Excluded(record_key(tree, after)),
            _ => std::ops::Bound::Included(low.clone()),
        };
        let mut found = Vec::new();
        for item in opened.db.range((from, std::ops::Bound::Unbounded)) {
            let (full, record) = item.map_err(|e| self.fault(e))?;
            if found.len() >= limit || !full.starts_with(&low) {
                break;
            }
            let value = match decode(&record) {
                Ok(Some(head)) if !head.is_expired(now) => self.load(opened, tree, &full, &head),
                Ok(_) => continue,
                Err(why) => Err(bad(tree, why)),
            };
            match value {
                Ok(value) => found.push((Key::from_bytes(&full[1..]), value)),
                Err(e @ StoreError::BadRecord { .. }) => tracing::warn!(code = e.code(), "{e}; left out of a scan"),
                Err(e) => return Err(e),
            }
        }
        Ok(found)
    }

    pub(super) fn batch(&self, ops: Vec<Op>) -> Result<(), StoreError> {
        let now = self.now_ms();
        let plan = Plan::new(ops, now);
        self.check_space(plan.bytes())?;
        let files = plan.files();
        let _content = if files.is_empty() { None } else { Some(self.lock_content()) };
        for (digest, bytes) in &files {
            self.content.write(digest, bytes).map_err(|e| self.fault(sled::Error::Io(e)))?;
        }
        let done = self.apply(&plan, now);
        if done.is_err() {
            self.orphans().extend(files.iter().map(|(digest, _)| *digest));
        }
        done
    }

    fn lock_content(&self) -> MutexGuard<'_, ()> {
        self.content_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn apply(&self, plan: &Plan, now: u64) -> Result<(), StoreError> {
        let state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let opened = self.opened(&state)?;
        for (tree, key, expect) in plan.checks() {
            if self.get_in(opened, *tree, key, now)?.as_ref() != expect.as_ref() {
                return Err(StoreError::Conflict { tree: tree.as_str() });
            }
        }
        if plan.is_empty() {
            return Ok(());
        }
        let (batch, lost) = plan.assemble(&opened.db).map_err(|e| self.fault(e))?;
        opened.db.apply_batch(batch).map_err(|e| self.fault(e))?;
        self.written.fetch_add(1, Ordering::SeqCst);
        self.orphans().extend(lost);
        Ok(())
    }

    /// Refuses a write before sled would fail in the middle of it; opens sled again after it did fail.
    fn check_space(&self, incoming: u64) -> Result<(), StoreError> {
        let free = (self.settings.free)()?;
        if free < RESERVE.saturating_add(incoming) {
            return Err(StoreError::DiskFull { free });
        }
        if self.broken.load(Ordering::SeqCst) {
            self.reopen()?;
        }
        Ok(())
    }

    fn reopen(&self) -> Result<(), StoreError> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.is_none() && !self.broken.load(Ordering::SeqCst) {
            return Err(StoreError::Closed);
        }
        // The old one holds the file's lock until its last clone is gone.
        *state = None;
        *state = Some(open_sled(&self.settings)?);
        self.broken.store(false, Ordering::SeqCst);
        tracing::info!("the store takes writes again");
        Ok(())
    }

    /// Whether something was written since the last sync.
    pub(super) fn is_dirty(&self) -> bool {
        self.synced.load(Ordering::SeqCst) < self.written.load(Ordering::SeqCst)
    }

    /// Flushes sled, then fsyncs its file. Everything written before the call is durable when it returns.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        // Clones, so that nobody waits for the disk who only wants to read or write.
        let opened = self.opened(&self.read())?.clone();
        let covered = self.written.load(Ordering::SeqCst);
        let orphans = std::mem::take(&mut *self.orphans());
        let synced = opened
            .db
            .flush()
            .map_err(|e| self.fault(e))
            .and_then(|_| opened.file.sync_all().map_err(|e| self.fault(sled::Error::Io(e))));
        if let Err(e) = synced {
            self.orphans().extend(orphans);
            return Err(e);
        }
        self.synced.fetch_max(covered, Ordering::SeqCst);
        self.syncs.fetch_add(1, Ordering::SeqCst);
        self.remove_orphans(&opened, orphans)
    }

    /// Only after the sync: before it, a crash could bring a record back whose file is gone.
    fn remove_orphans(&self, opened: &Opened, orphans: HashSet<Digest32>) -> Result<(), StoreError> {
        if orphans.is_empty() {
            return Ok(());
        }
        let _content = self.lock_content();
        for digest in orphans {
            if opened.db.get(refs_key(&digest)).map_err(|e| self.fault(e))?.is_none() {
                self.content.remove(&digest)?;
            }
        }
        Ok(())
    }

    /// Lets go of the files. Whoever calls it has synced before.
    pub(super) fn close(&self) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = None;
        self.broken.store(false, Ordering::SeqCst);
    }

    /// Syncs done so far.
    #[cfg(test)]
    pub(super) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::SeqCst)
    }
}

fn bad(tree: Tree, why: String) -> StoreError {
    StoreError::BadRecord { tree: tree.as_str(), why }
}
