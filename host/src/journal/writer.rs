//! Writes events in order of time, announces them, reads the newest back.

use super::{Event, JournalError, Record};
use crate::store::{Key, Op, SharedStore, Tree};
use crate::task::SharedClock;
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;

/// Masks secrets in a text. The registry of secrets is in a room below, so it is handed in.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Events a slow subscriber may lag behind before it misses some.
const CHANNEL: usize = 1024;
/// Events kept at hand for `recent`, so that a page of the console does not read the whole journal.
const AT_HAND: usize = 1000;
/// Records read at once when the newest are looked up in the store.
const PAGE: usize = 1000;

/// The journal. Clones share it.
#[derive(Clone)]
pub struct Journal(Arc<Inner>);

struct Inner {
    store: SharedStore,
    clock: SharedClock,
    redact: Mutex<Redact>,
    keep: Mutex<Option<Duration>>,
    counter: AtomicU64,
    /// Two runs may write in the same millisecond, and each counts from 0: the key also holds what no two
    /// runs share.
    run: u64,
    recent: Mutex<VecDeque<Record>>,
    announce: broadcast::Sender<Record>,
}

impl Journal {
    /// A journal in `store`. Until `set_redact` it masks nothing.
    pub fn new(store: SharedStore, clock: SharedClock) -> Self {
        Self(Arc::new(Inner {
            store,
            clock,
            redact: Mutex::new(Arc::new(str::to_owned)),
            keep: Mutex::new(None),
            counter: AtomicU64::new(0),
            run: uuid::Uuid::now_v7().as_u64_pair().1,
            recent: Mutex::default(),
            announce: broadcast::channel(CHANNEL).0,
        }))
    }

    /// Masks secrets in all texts from now on.
    pub fn set_redact(&self, redact: Redact) {
        *lock(&self.0.redact) = redact;
    }

    /// How long events written from now on are kept; `None` = always.
    pub fn set_keep(&self, keep: Option<Duration>) {
        *lock(&self.0.keep) = keep;
    }

    /// Writes an event; it is durable with the next barrier of anybody.
    pub async fn append(&self, event: Event) -> Result<Record, JournalError> {
        let redact = lock(&self.0.redact).clone();
        let at = self.0.clock.now();
        let n = self.0.counter.fetch_add(1, Ordering::SeqCst);
        let ms = u64::try_from(at.timestamp_millis()).unwrap_or(0);
        let Event { kind, generation, turn_id, principal, data } = event;
        let record = Record {
            id: format!("{ms}-{n}"),
            at,
            kind: kind.to_owned(),
            generation,
            turn_id,
            principal,
            data: masked(data, &*redact),
        };
        let value = serde_json::to_value(&record).unwrap_or(Value::Null);
        let key = Key::new().u64(ms).u64(n).u64(self.0.run);
        let ttl = *lock(&self.0.keep);
        self.0.store.batch(vec![Op::Put { tree: Tree::Journal, key, value, ttl }]).await?;
        self.remember(&record);
        if self.0.announce.receiver_count() > 0 {
            // The last listener may have left just now.
            let _ = self.0.announce.send(record.clone());
        }
        Ok(record)
    }

    /// Writes an event and waits until it is durable, for what must not happen unrecorded.
    pub async fn append_durable(&self, event: Event) -> Result<Record, JournalError> {
        let record = self.append(event).await?;
        self.0.store.barrier().await?;
        Ok(record)
    }

    /// Events from now on. A subscriber that lags too far is told how many it missed.
    pub fn subscribe(&self) -> broadcast::Receiver<Record> {
        self.0.announce.subscribe()
    }

    /// The newest events, oldest first.
    pub async fn recent(&self, limit: usize) -> Result<Vec<Record>, JournalError> {
        {
            let recent = lock(&self.0.recent);
            if recent.len() >= limit {
                return Ok(recent.iter().skip(recent.len() - limit).cloned().collect());
            }
        }
        let mut newest: VecDeque<Record> = VecDeque::new();
        let mut after: Option<Key> = None;
        loop {
            let page = self.0.store.scan_prefix(Tree::Journal, &Key::new(), after.as_ref(), PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            newest.extend(page.into_iter().filter_map(|(_, value)| serde_json::from_value(value).ok()));
            let surplus = newest.len().saturating_sub(limit);
            newest.drain(..surplus);
        }
        Ok(newest.into())
    }

    /// Events of the turns in `turns`, by turn, oldest first, looked for from `since` on.
    pub async fn of_turns(
        &self,
        turns: &BTreeSet<String>,
        since: DateTime<Utc>,
    ) -> Result<BTreeMap<String, Vec<Record>>, JournalError> {
        let mut found: BTreeMap<String, Vec<Record>> = BTreeMap::new();
        let ms = u64::try_from(since.timestamp_millis()).unwrap_or(0);
        // A key of one part stands before all keys that begin with it.
        let mut after = Key::new().u64(ms);
        loop {
            let page = self.0.store.scan_prefix(Tree::Journal, &Key::new(), Some(&after), PAGE).await?;
            let Some((last, _)) = page.last() else { return Ok(found) };
            after = last.clone();
            let records = page.into_iter().filter_map(|(_, value)| serde_json::from_value::<Record>(value).ok());
            for record in records {
                if let Some(turn) = record.turn_id.clone().filter(|turn| turns.contains(turn)) {
                    found.entry(turn).or_default().push(record);
                }
            }
        }
    }

    fn remember(&self, record: &Record) {
        let mut recent = lock(&self.0.recent);
        if recent.len() == AT_HAND {
            recent.pop_front();
        }
        recent.push_back(record.clone());
    }
}

fn masked(value: Value, redact: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(redact(&text)),
        Value::Array(items) => items.into_iter().map(|item| masked(item, redact)).collect(),
        Value::Object(map) => map.into_iter().map(|(k, v)| (redact(&k), masked(v, redact))).collect(),
        other => other,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
