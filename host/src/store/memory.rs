//! The memory backend: one ordered map behind a mutex that is never held over an await.

use super::port::{Op, Store, StoreStats, Tree};
use super::{Key, StoreError};
use crate::task::SharedClock;
use async_trait::async_trait;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

struct Record {
    expires_ms: u64,
    value: Value,
}

type Records = BTreeMap<(Tree, Vec<u8>), Record>;

pub(super) struct MemoryStore {
    clock: SharedClock,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: Records,
    cursor: Option<(Tree, Vec<u8>)>,
    closed: bool,
}

/// Expiry of a record written now.
pub(super) fn expiry(now_ms: u64, ttl: Option<Duration>) -> u64 {
    match ttl {
        None => 0,
        // 0 means "never", so a record of no duration expires at the first moment instead.
        Some(ttl) => now_ms.saturating_add(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX)).max(1),
    }
}

/// Wall time in milliseconds, 0 before 1970.
pub(super) fn now_ms(clock: &SharedClock) -> u64 {
    u64::try_from(clock.now().timestamp_millis()).unwrap_or(0)
}

/// Whether a record with this expiry is gone.
pub(super) fn is_expired(expires_ms: u64, now_ms: u64) -> bool {
    expires_ms != 0 && expires_ms <= now_ms
}

impl MemoryStore {
    pub(super) fn new(clock: SharedClock) -> Self {
        Self { clock, state: Mutex::default() }
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.closed { Err(StoreError::Closed) } else { Ok(state) }
    }

    fn now_ms(&self) -> u64 {
        now_ms(&self.clock)
    }
}

fn living<'a>(records: &'a Records, tree: Tree, key: &Key, now: u64) -> Option<&'a Value> {
    let record = records.get(&(tree, key.as_bytes().to_vec()))?;
    if is_expired(record.expires_ms, now) { None } else { Some(&record.value) }
}

#[async_trait]
impl Store for MemoryStore {
    async fn get(&self, tree: Tree, key: &Key) -> Result<Option<Value>, StoreError> {
        Ok(living(&self.state()?.records, tree, key, self.now_ms()).cloned())
    }

    async fn scan_prefix(
        &self,
        tree: Tree,
        prefix: &Key,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<Vec<(Key, Value)>, StoreError> {
        let now = self.now_ms();
        let from = match after {
            Some(after) if after >= prefix => Bound::Excluded((tree, after.as_bytes().to_vec())),
            _ => Bound::Included((tree, prefix.as_bytes().to_vec())),
        };
        let state = self.state()?;
        let found = state
            .records
            .range((from, Bound::Unbounded))
            .take_while(|((t, key), _)| *t == tree && key.starts_with(prefix.as_bytes()))
            .filter(|(_, record)| !is_expired(record.expires_ms, now))
            .take(limit)
            .map(|((_, key), record)| (Key::from_bytes(key), record.value.clone()))
            .collect();
        Ok(found)
    }

    async fn batch(&self, ops: Vec<Op>) -> Result<(), StoreError> {
        let now = self.now_ms();
        let mut state = self.state()?;
        for op in &ops {
            if let Op::Check { tree, key, expect } = op
                && living(&state.records, *tree, key, now) != expect.as_ref()
            {
                return Err(StoreError::Conflict { tree: tree.as_str() });
            }
        }
        for op in ops {
            match op {
                Op::Put { tree, key, value, ttl } => {
                    let record = Record { expires_ms: expiry(now, ttl), value };
                    state.records.insert((tree, key.as_bytes().to_vec()), record);
                }
                Op::Delete { tree, key } => {
                    state.records.remove(&(tree, key.as_bytes().to_vec()));
                }
                Op::Check { .. } => {}
            }
        }
        Ok(())
    }

    async fn barrier(&self) -> Result<(), StoreError> {
        self.state().map(drop)
    }

    async fn sweep(&self, limit: usize) -> Result<usize, StoreError> {
        let now = self.now_ms();
        let mut state = self.state()?;
        let from = state.cursor.take().map_or(Bound::Unbounded, Bound::Excluded);
        let seen: Vec<_> =
            state.records.range((from, Bound::Unbounded)).take(limit).map(|(k, r)| (k.clone(), r.expires_ms)).collect();
        if seen.len() == limit {
            state.cursor = seen.last().map(|(k, _)| k.clone());
        }
        let mut removed = 0;
        for (key, _) in seen.iter().filter(|(_, expires)| is_expired(*expires, now)) {
            state.records.remove(key);
            removed += 1;
        }
        Ok(removed)
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        let now = self.now_ms();
        let mut stats = StoreStats { free_bytes: u64::MAX, ..StoreStats::default() };
        for ((tree, key), record) in self.state()?.records.iter().filter(|(_, r)| !is_expired(r.expires_ms, now)) {
            *stats.records.entry(*tree).or_default() += 1;
            stats.bytes += (key.len() + record.value.to_string().len()) as u64;
        }
        Ok(stats)
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        Ok(())
    }
}
