//! The reload records of this data folder: numbered, stored, amended, the last 200 kept.

use super::record::{Outcome, ReloadRecord};
use crate::generation::LifeEvent;
use crate::journal::{Event, Journal};
use crate::store::{Key, Op, SharedStore, StoreError, Tree};
use crate::task::SharedClock;
use serde_json::{Value, json};

/// Records that stay.
const KEPT: u64 = 200;

/// See the file's head.
#[derive(Clone)]
pub(super) struct Log {
    store: SharedStore,
    journal: Journal,
    clock: SharedClock,
}

impl Log {
    pub(super) fn new(store: SharedStore, journal: Journal, clock: SharedClock) -> Self {
        Self { store, journal, clock }
    }

    /// The number of the next record, taken for good.
    pub(super) async fn next(&self) -> Result<u64, StoreError> {
        let next = |old: Option<Value>| Some(json!(old.as_ref().and_then(Value::as_u64).unwrap_or(0) + 1));
        let taken = crate::store::update(self.store.as_ref(), Tree::Meta, &last_key(), next).await?;
        Ok(taken.as_ref().and_then(Value::as_u64).unwrap_or(1))
    }

    /// Writes it, logs and journals one line. A fault is only logged: the verdict stands.
    pub(super) async fn add(&self, record: &ReloadRecord) {
        let (id, outcome, ms) = (&record.id, record.outcome, record.duration_ms);
        let errors = record.diagnostics.iter().filter(|d| d.is_error()).count();
        match outcome {
            Outcome::Unchanged => tracing::debug!(id, ?outcome, ms, "reload"),
            Outcome::Rejected => tracing::warn!(id, ?outcome, ms, errors, step = record.failed_step, "reload"),
            _ => tracing::info!(id, ?outcome, ms, from = record.from, to = record.to, plan = ?record.plan, "reload"),
        }
        let event = Event { generation: record.to.or(record.from), ..Event::new("reload", json!(record)) };
        if let Err(error) = self.journal.append(event).await {
            tracing::warn!(id, %error, "a reload was not journaled");
        }
        let Some(number) = number_of(&record.id) else { return };
        let mut ops = vec![Op::put(Tree::Reloads, Key::new().u64(number), json!(record))];
        if let Some(old) = number.checked_sub(KEPT) {
            ops.push(Op::delete(Tree::Reloads, Key::new().u64(old)));
        }
        if let Err(error) = self.store.batch(ops).await {
            tracing::warn!(id, %error, "the record of a reload was not stored");
        }
    }

    /// The last records, newest first.
    pub(super) async fn recent(&self, limit: usize) -> Result<Vec<ReloadRecord>, StoreError> {
        let all = self.store.scan_prefix(Tree::Reloads, &Key::new(), None, KEPT as usize + 1).await?;
        let read = all.into_iter().rev().filter_map(|(_, value)| serde_json::from_value(value).ok());
        Ok(read.take(limit).collect())
    }

    pub(super) async fn get(&self, id: &str) -> Result<Option<ReloadRecord>, StoreError> {
        let Some(number) = number_of(id) else { return Ok(None) };
        let value = self.store.get(Tree::Reloads, &Key::new().u64(number)).await?;
        Ok(value.and_then(|v| serde_json::from_value(v).ok()))
    }

    /// Writes what became of the generation that record `id` replaced.
    pub(super) async fn amend(&self, id: &str, event: &LifeEvent) {
        let Some(number) = number_of(id) else { return };
        let now = self.clock.now();
        let change = |old: Option<Value>| {
            let mut record: ReloadRecord = serde_json::from_value(old?).ok()?;
            match event {
                LifeEvent::Drained { .. } => record.drained_at = Some(now),
                LifeEvent::Cancelled { turns, .. } => record.turns_cancelled += turns,
                LifeEvent::Abandoned { quarantined, .. } => record.quarantined.clone_from(quarantined),
                LifeEvent::Disposed { quarantined, .. } => {
                    record.disposed_at = Some(now);
                    record.quarantined.clone_from(quarantined);
                }
                LifeEvent::Retired { .. } | LifeEvent::Halfway { .. } => {}
            }
            Some(json!(record))
        };
        let key = Key::new().u64(number);
        if let Err(error) = crate::store::update(self.store.as_ref(), Tree::Reloads, &key, change).await {
            tracing::warn!(id, %error, "the record of a reload was not amended");
        }
    }
}

fn last_key() -> Key {
    Key::new().str("reload").str("last")
}

fn number_of(id: &str) -> Option<u64> {
    id.strip_prefix('r')?.parse().ok()
}
