//! Holds the published value: leases are taken here, generations are exchanged here.

use super::count::{Pointer, acquire, exchange};
use super::info::{Counts, GenerationInfo, Ledger};
use super::reaper::Reaper;
use super::{Generation, Lease, Notice, Published, Sealed, State};
use crate::task::{SharedClock, Tasks};
use arc_swap::ArcSwap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};

/// What happens to a generation after its publication; for records, metrics and the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LifeEvent {
    /// A successor was published.
    Retired {
        /// Its number.
        number: u64,
    },
    /// Half of its leases' time is over and some are still out.
    Halfway {
        /// Its number.
        number: u64,
        /// Leases out.
        leases: u64,
    },
    /// The deadline cancelled turns.
    Cancelled {
        /// Its number.
        number: u64,
        /// How many.
        turns: u64,
    },
    /// Its last lease came back.
    Drained {
        /// Its number.
        number: u64,
    },
    /// Disposed; instances whose disposal failed are listed.
    Disposed {
        /// Its number.
        number: u64,
        /// Owners, empty when all went well.
        quarantined: Vec<String>,
    },
    /// A lease never came back.
    Abandoned {
        /// Its number.
        number: u64,
        /// Owners of its instances, which stay.
        quarantined: Vec<String>,
    },
}

impl LifeEvent {
    /// The generation it is about.
    pub fn number(&self) -> u64 {
        match self {
            LifeEvent::Retired { number }
            | LifeEvent::Halfway { number, .. }
            | LifeEvent::Cancelled { number, .. }
            | LifeEvent::Drained { number }
            | LifeEvent::Disposed { number, .. }
            | LifeEvent::Abandoned { number, .. } => *number,
        }
    }

    /// Whether nothing follows.
    pub fn is_last(&self) -> bool {
        matches!(self, LifeEvent::Disposed { .. } | LifeEvent::Abandoned { .. })
    }
}

impl<T> Pointer<T> for ArcSwap<T> {
    fn load(&self) -> Arc<T> {
        self.load_full()
    }

    fn swap(&self, next: Arc<T>) -> Arc<T> {
        ArcSwap::swap(self, next)
    }
}

/// The publisher. Clones share it.
#[derive(Clone)]
pub struct Publisher(Arc<Inner>);

struct Inner {
    pointer: ArcSwap<Published>,
    ledger: Arc<Ledger>,
    clock: SharedClock,
    home: mpsc::UnboundedSender<Notice>,
    events: broadcast::Sender<LifeEvent>,
}

impl Publisher {
    /// Publishes the first generation of the process and starts the reaper among `tasks`.
    pub fn new(first: Sealed, clock: SharedClock, tasks: &Tasks) -> Self {
        let (home, notices) = mpsc::unbounded_channel();
        let (events, _) = broadcast::channel(256);
        let published = first.into_published();
        let ledger = Arc::new(Ledger::default());
        ledger.admit(&published.active);
        let pointer = ArcSwap::new(published);
        let inner = Arc::new(Inner { pointer, ledger, clock, home, events });
        let reaper = Reaper::new(Arc::clone(&inner.ledger), Arc::clone(&inner.clock), inner.events.clone());
        let closing = tasks.clone();
        tasks.spawn("generation reaper", async move {
            tokio::select! {
                () = reaper.run(notices) => {}
                () = closing.closing() => {}
            }
        });
        Self(inner)
    }

    /// Takes a lease: once per message, when its lane starts it.
    pub fn lease(&self) -> Lease {
        let published = acquire(&self.0.pointer);
        Lease::new(Arc::clone(&published.active), self.0.clock.monotonic(), self.0.home.clone())
    }

    /// The point of no return. Cannot fail, wait or refuse: everything that could has been done by `seal`.
    pub fn publish(&self, sealed: Sealed) {
        let next = sealed.into_published();
        self.0.ledger.admit(&next.active);
        // INVARIANT: the one exchange of the host. No await, allocation or IO between here and its end;
        // nobody else swaps this pointer, so the base that `seal` compared with is the value replaced.
        let (old, drained) = exchange(&self.0.pointer, next);
        self.retire(&old.active, drained);
    }

    fn retire(&self, old: &Arc<Generation>, drained: bool) {
        old.retire(self.0.clock.monotonic());
        if self.0.home.send(Notice::Retired(Arc::clone(old))).is_err() {
            tracing::warn!(generation = old.number(), "retired after the end of the reaper");
        }
        if drained {
            old.hand_over(&self.0.home);
        }
    }

    /// The published value, for what runs outside turns: lists, status, the next candidate's base.
    pub fn published(&self) -> Arc<Published> {
        self.0.pointer.load_full()
    }

    /// What happens to generations from now on.
    pub fn events(&self) -> broadcast::Receiver<LifeEvent> {
        self.0.events.subscribe()
    }

    /// A generation that is still here, by its number.
    pub fn living(&self, number: u64) -> Option<Arc<Generation>> {
        self.0.ledger.living().into_iter().find(|g| g.number() == number)
    }

    /// Living, quarantined and the last disposed generations, newest first.
    pub fn list(&self) -> Vec<GenerationInfo> {
        self.0.ledger.list(self.0.clock.monotonic())
    }

    /// How many there were and are.
    pub fn counts(&self) -> Counts {
        self.0.ledger.counts()
    }

    /// Owners of instances in quarantine.
    pub fn quarantined(&self) -> Vec<String> {
        self.0.ledger.quarantined()
    }

    /// Retired generations whose leases or disposal are still running.
    pub fn retired_alive(&self) -> usize {
        self.0.ledger.living().iter().filter(|g| matches!(g.state(), State::Retired | State::Disposing)).count()
    }

    /// Gives the oldest retired generation its deadline now; its number.
    pub fn force_oldest(&self) -> Option<u64> {
        let oldest = self.0.ledger.living().into_iter().find(|g| g.state() == State::Retired)?;
        let number = oldest.number();
        if self.0.home.send(Notice::Force(oldest)).is_err() {
            tracing::warn!(generation = number, "forced after the end of the reaper");
        }
        Some(number)
    }

    /// The published value once more, outside the ledger: a number and contents, nobody's turn.
    fn epilogue(&self) -> Arc<Published> {
        let published = self.published();
        let last = &published.active;
        let contents = Arc::clone(last.contents());
        let again = Generation::new(last.number(), contents, last.reload_id().to_owned(), last.published_at());
        Arc::new(Published { active: Arc::new(again), failed: published.failed.clone() })
    }

    /// The last call of a process: retires the active generation without a successor, once its turns have
    /// ended, and disposes it. A lease taken after it is of nothing that lives. `false` when `grace` was not enough.
    pub async fn close(&self, grace: Duration) -> bool {
        let mut events = self.0.events.subscribe();
        // INVARIANT: as in `publish`, what is closed has been replaced before. A reader that comes too late
        // finds this value, which owns nothing and is never disposed; without it that reader would look for an
        // open one for ever.
        let (old, drained) = exchange(&self.0.pointer, self.epilogue());
        self.retire(&old.active, drained);
        let number = old.active.number();
        let gone = async {
            loop {
                match events.recv().await {
                    Ok(LifeEvent::Disposed { number: n, .. } | LifeEvent::Abandoned { number: n, .. })
                        if n == number =>
                    {
                        return;
                    }
                    Err(broadcast::error::RecvError::Closed) => return,
                    _ => {}
                }
            }
        };
        tokio::select! {
            biased;
            () = gone => true,
            () = self.0.clock.sleep(grace) => false,
        }
    }
}
