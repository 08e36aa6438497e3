//! A lease: the only way to read a generation.

use super::{Generation, Notice, Retired, State};
use plugin_sdk::CancellationSignal;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// One message's hold on one generation. Clones share it; the generation is free when the last is gone.
#[derive(Clone)]
pub struct Lease(Arc<Held>);

/// A lease that may have been returned by now: what outlives a turn holds this.
#[derive(Clone)]
pub struct LeaseRef {
    held: Weak<Held>,
    generation: u64,
}

/// What the clones of a lease share.
pub(super) struct Held {
    generation: Arc<Generation>,
    id: u64,
    /// Monotonic.
    pub(super) taken_at: Duration,
    pub(super) turn: Mutex<Turn>,
    abandoned: AtomicBool,
    home: UnboundedSender<Notice>,
}

/// What the deadline has to know of the turn that holds a lease.
#[derive(Default)]
pub(super) struct Turn {
    /// Ends it.
    pub(super) cancel: Option<CancellationSignal>,
    /// Until when it waits for a person (monotonic).
    pub(super) waits_until: Option<Duration>,
    /// When the deadline cancelled it (monotonic).
    pub(super) cancelled_at: Option<Duration>,
}

impl Lease {
    /// For a count that was just acquired on `generation`.
    pub(super) fn new(generation: Arc<Generation>, taken_at: Duration, home: UnboundedSender<Notice>) -> Self {
        let id = generation.leases.next_id();
        let held = Arc::new(Held {
            generation,
            id,
            taken_at,
            turn: Mutex::new(Turn::default()),
            abandoned: AtomicBool::new(false),
            home,
        });
        held.generation.leases.insert(id, Arc::downgrade(&held));
        Self(held)
    }

    /// Registers what ends the turn when the lease's deadline comes.
    pub fn on_deadline(&self, cancel: CancellationSignal) {
        self.0.turn().cancel = Some(cancel);
    }

    /// Says until when (monotonic) the turn waits for a person: its deadline is the later one of both.
    pub fn waits_until(&self, until: Option<Duration>) {
        self.0.turn().waits_until = until;
        if self.0.generation.state() == State::Retired && self.0.home.send(Notice::Recheck).is_err() {
            tracing::debug!("a deadline changed after the end of the reaper");
        }
    }

    /// Whether the deadline has cancelled the turn, as opposed to the person.
    pub fn is_overdue(&self) -> bool {
        self.0.turn().cancelled_at.is_some()
    }

    /// A reference that does not hold the generation.
    pub fn downgrade(&self) -> LeaseRef {
        LeaseRef { held: Arc::downgrade(&self.0), generation: self.0.generation.number() }
    }

    /// The generation, for a value that lives no longer than this lease.
    pub fn generation(&self) -> &Generation {
        &self.0.generation
    }
}

impl Deref for Lease {
    type Target = Generation;
    fn deref(&self) -> &Generation {
        &self.0.generation
    }
}

impl LeaseRef {
    /// The lease while it is held.
    pub fn get(&self) -> Result<Lease, Retired> {
        match self.held.upgrade() {
            Some(held) if !held.abandoned.load(Ordering::Acquire) => Ok(Lease(held)),
            _ => Err(Retired { generation: self.generation }),
        }
    }
}

impl Held {
    pub(super) fn turn(&self) -> std::sync::MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Given up: its generation is not disposed any more, its references answer `Retired`.
    pub(super) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.generation.leases.remove(self.id);
        // INVARIANT: exactly one release per acquired count, here; the one that brings zero-and-closed
        // hands the generation over, so it is disposed once and never before its last lease.
        if self.generation.count.release() {
            self.generation.hand_over(&self.home);
        }
    }
}
