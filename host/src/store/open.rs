//! Opening: the schema number, its migrations, and only then the store.

use super::disk::{Disk, FreeSpace, Settings};
use super::durable::DurableStore;
use super::folder::free_bytes;
use super::port::{Op, Tree};
use super::{Key, StoreError};
use crate::task::SharedClock;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What a store is opened with.
#[derive(Clone)]
pub struct OpenOptions {
    /// Data folder; whoever opens holds its [`super::DataLock`].
    pub data_dir: PathBuf,
    /// Background flush, at least every 10 ms.
    pub flush_every_ms: u64,
    /// Page cache.
    pub cache_mb: u64,
    /// For expiry.
    pub clock: SharedClock,
}

/// One migration: what becomes of a record, `None` = removed. It is pure and gives the same for a record it
/// has already changed, because a start that was interrupted begins again.
pub(super) type Step = fn(Tree, &Key, Value) -> Option<Value>;

/// `STEPS[n]` leads from schema `n + 1` to `n + 2`.
const STEPS: &[Step] = &[];

/// Records changed in one batch of a migration.
const MIGRATION_BATCH: usize = 200;

pub(super) fn open_durable(options: OpenOptions, steps: &[Step]) -> Result<DurableStore, StoreError> {
    let dir = options.data_dir.clone();
    open_with(options, Box::new(move || free_bytes(&dir)), steps)
}

pub(super) fn open_with(options: OpenOptions, free: FreeSpace, steps: &[Step]) -> Result<DurableStore, StoreError> {
    let OpenOptions { data_dir, flush_every_ms, cache_mb, clock } = options;
    let disk = Disk::open(Settings { data_dir, flush_every_ms, cache_mb, clock, free })?;
    bring_to_schema(&disk, steps)?;
    disk.drop_strays()?;
    DurableStore::new(disk)
}

/// The store of a bot.
pub(super) fn open_default(options: OpenOptions) -> Result<DurableStore, StoreError> {
    open_durable(options, STEPS)
}

fn bring_to_schema(disk: &Disk, steps: &[Step]) -> Result<(), StoreError> {
    let key = Key::new().str("schema");
    let known = steps.len() as u64 + 1;
    let set = |n: u64| disk.batch(vec![Op::put(Tree::Meta, key.clone(), json!(n))]);
    let Some(found) = disk.get(Tree::Meta, &key)? else {
        if disk.was_complete() || !disk.is_empty()? {
            return Err(StoreError::Corrupt("it has lost its schema number".into()));
        }
        let host_id = uuid::Uuid::now_v7().to_string();
        disk.batch(vec![
            Op::put(Tree::Meta, key.clone(), json!(known)),
            Op::put(Tree::Meta, Key::new().str("host_id"), json!(host_id)),
        ])?;
        disk.sync()?;
        return disk.mark_complete();
    };
    let found = found.as_u64().filter(|n| *n > 0).ok_or_else(|| StoreError::Corrupt("bad schema number".into()))?;
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    for (step, reached) in steps.iter().zip(2u64..).skip(found as usize - 1) {
        migrate(disk, *step)?;
        set(reached)?;
        disk.sync()?;
    }
    Ok(())
}

fn migrate(disk: &Disk, step: Step) -> Result<(), StoreError> {
    for tree in Tree::ALL {
        let mut after: Option<Key> = None;
        loop {
            let records = disk.scan(tree, &Key::new(), after.as_ref(), MIGRATION_BATCH)?;
            let Some((last, _)) = records.last() else { break };
            after = Some(last.clone());
            let mut ops = Vec::new();
            for (key, value) in records {
                match step(tree, &key, value.clone()) {
                    None => ops.push(Op::delete(tree, key)),
                    Some(new) if new != value => ops.push(Op::put(tree, key, new)),
                    Some(_) => {}
                }
            }
            disk.batch(ops)?;
        }
    }
    Ok(())
}
