//! A generation: number, contents, state, and the leases on it.

use super::Notice;
use super::count::{LeaseCount, Leased};
use super::lease::Held;
use crate::candidate::{Contents, FailedPlugin};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// Where a generation is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum State {
    /// Answers messages.
    Active = 0,
    /// Replaced; its leases run out.
    Retired = 1,
    /// Its last lease is back.
    Disposing = 2,
    /// Gone.
    Disposed = 3,
    /// Something of it could not be disposed, or a lease never came back.
    Quarantined = 4,
}

/// The sealed, numbered, immutable result of a candidate.
pub struct Generation {
    number: u64,
    contents: Arc<Contents>,
    reload_id: String,
    published_at: DateTime<Utc>,
    state: AtomicU8,
    pub(super) count: LeaseCount,
    pub(super) leases: Leases,
    /// Monotonic; set once, at retirement.
    retired_at: std::sync::OnceLock<Duration>,
}

/// The one value that is exchanged.
pub struct Published {
    /// Answers.
    pub active: Arc<Generation>,
    /// Plugins that were left out, with their causes.
    pub failed: Vec<FailedPlugin>,
}

impl Leased for Published {
    fn count(&self) -> &LeaseCount {
        &self.active.count
    }
}

impl Generation {
    pub(super) fn new(number: u64, contents: Arc<Contents>, reload_id: String, published_at: DateTime<Utc>) -> Self {
        Self {
            number,
            contents,
            reload_id,
            published_at,
            state: AtomicU8::new(State::Active as u8),
            count: LeaseCount::new(),
            leases: Leases::default(),
            retired_at: std::sync::OnceLock::new(),
        }
    }

    /// From 1, one more per publish, counted on over restarts.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Everything in it.
    pub fn contents(&self) -> &Arc<Contents> {
        &self.contents
    }

    /// The reload that made it.
    pub fn reload_id(&self) -> &str {
        &self.reload_id
    }

    /// When.
    pub fn published_at(&self) -> DateTime<Utc> {
        self.published_at
    }

    /// Where it is in its life.
    pub fn state(&self) -> State {
        match self.state.load(Ordering::Acquire) {
            0 => State::Active,
            1 => State::Retired,
            2 => State::Disposing,
            3 => State::Disposed,
            _ => State::Quarantined,
        }
    }

    /// Leases that are out.
    pub fn lease_count(&self) -> u64 {
        self.count.leases()
    }

    /// When the oldest lease that is out was taken (monotonic).
    pub fn oldest_lease(&self) -> Option<Duration> {
        self.leases.held().iter().map(|held| held.taken_at).min()
    }

    /// Monotonic time of retirement.
    pub(super) fn retired_at(&self) -> Option<Duration> {
        self.retired_at.get().copied()
    }

    pub(super) fn retire(&self, now: Duration) {
        if self.step(State::Active, State::Retired) {
            let _ = self.retired_at.set(now);
        }
    }

    /// One step of its life; `false` when it is not in `from`.
    pub(super) fn step(&self, from: State, to: State) -> bool {
        self.state.compare_exchange(from as u8, to as u8, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Gives it to the reaper. Called by whoever brought its count to zero-and-closed.
    pub(super) fn hand_over(self: &Arc<Self>, home: &UnboundedSender<Notice>) {
        if home.send(Notice::Drained(Arc::clone(self))).is_err() {
            tracing::debug!(generation = self.number, "drained after the end of the reaper");
        }
    }
}

/// The leases that are out, so that the deadline can reach their turns.
#[derive(Default)]
pub(super) struct Leases {
    next: AtomicU64,
    held: Mutex<BTreeMap<u64, Weak<Held>>>,
}

impl Leases {
    pub(super) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn insert(&self, id: u64, held: Weak<Held>) {
        self.lock().insert(id, held);
    }

    pub(super) fn remove(&self, id: u64) {
        self.lock().remove(&id);
    }

    /// Strong references to all of them. The caller drops them outside the lock, since the last drop removes.
    pub(super) fn held(&self) -> Vec<Arc<Held>> {
        self.lock().values().filter_map(Weak::upgrade).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<Held>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
