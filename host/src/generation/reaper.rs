//! What follows a retirement: the leases' deadline, disposal, quarantine. One task, so each happens once.

use super::info::Ledger;
use super::publisher::LifeEvent;
use super::{Generation, State};
use crate::task::SharedClock;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};

/// How long a cancelled turn may take to give its lease back.
const GRACE: Duration = Duration::from_secs(5);

/// What the reaper is told.
pub(super) enum Notice {
    /// A successor was published.
    Retired(Arc<Generation>),
    /// Closed and without a lease: said once per generation, by the counter.
    Drained(Arc<Generation>),
    /// Its deadline is now.
    Force(Arc<Generation>),
    /// A turn's deadline may have moved.
    Recheck,
}

/// A retired generation that still has leases.
struct Draining {
    generation: Arc<Generation>,
    /// Monotonic; `None` = no deadline.
    deadline: Option<Duration>,
    halfway: Option<Duration>,
    forced: bool,
    cancelled: u64,
}

/// See the file's head.
pub(super) struct Reaper {
    ledger: Arc<Ledger>,
    clock: SharedClock,
    events: broadcast::Sender<LifeEvent>,
    draining: Vec<Draining>,
}

impl Reaper {
    pub(super) fn new(ledger: Arc<Ledger>, clock: SharedClock, events: broadcast::Sender<LifeEvent>) -> Self {
        Self { ledger, clock, events, draining: Vec::new() }
    }

    /// Runs until every sender of notices is gone.
    pub(super) async fn run(mut self, mut notices: mpsc::UnboundedReceiver<Notice>) {
        loop {
            let pause = self.next_due().map(|due| due.saturating_sub(self.clock.monotonic()));
            let notice = tokio::select! {
                biased;
                notice = notices.recv() => match notice {
                    Some(notice) => Some(notice),
                    None => return,
                },
                () = sleep(&self.clock, pause) => None,
            };
            match notice {
                Some(Notice::Retired(generation)) => self.retired(generation),
                Some(Notice::Force(generation)) => self.force(&generation),
                Some(Notice::Drained(generation)) => self.drained(&generation).await,
                Some(Notice::Recheck) | None => {}
            }
            self.enforce();
        }
    }

    fn retired(&mut self, generation: Arc<Generation>) {
        self.tell(LifeEvent::Retired { number: generation.number() });
        if generation.state() != State::Retired {
            return;
        }
        let limit = generation.contents().bot.reload.lease_deadline_seconds;
        let limit = Duration::try_from_secs_f64(limit).ok().filter(|d| !d.is_zero());
        let from = generation.retired_at().unwrap_or_else(|| self.clock.monotonic());
        self.draining.push(Draining {
            generation,
            deadline: limit.map(|d| from + d),
            halfway: limit.map(|d| from + d / 2),
            forced: false,
            cancelled: 0,
        });
    }

    fn force(&mut self, generation: &Arc<Generation>) {
        if let Some(entry) = self.draining.iter_mut().find(|d| Arc::ptr_eq(&d.generation, generation)) {
            entry.forced = true;
        }
    }

    async fn drained(&mut self, generation: &Arc<Generation>) {
        self.draining.retain(|d| !Arc::ptr_eq(&d.generation, generation));
        // INVARIANT: only the step out of `Retired` disposes, so it happens once, and never after a
        // lease was given up (then the generation is quarantined and its code may still run).
        if !generation.step(State::Retired, State::Disposing) {
            return;
        }
        let number = generation.number();
        self.tell(LifeEvent::Drained { number });
        let quarantined = dispose(generation, &self.clock).await;
        if quarantined.is_empty() {
            generation.step(State::Disposing, State::Disposed);
            self.ledger.bury(generation, self.clock.monotonic());
        } else {
            generation.step(State::Disposing, State::Quarantined);
            self.ledger.quarantine(&quarantined);
        }
        self.tell(LifeEvent::Disposed { number, quarantined });
    }

    /// Cancels what is over its time, gives up what did not end after that.
    fn enforce(&mut self) {
        let now = self.clock.monotonic();
        let mut told = Vec::new();
        let mut lost = Vec::new();
        for entry in &mut self.draining {
            let number = entry.generation.number();
            if entry.halfway.is_some_and(|at| at <= now) {
                entry.halfway = None;
                let leases = entry.generation.lease_count();
                tracing::warn!(
                    code = "lease::deadline",
                    generation = number,
                    leases,
                    "half of the leases' time is over"
                );
                told.push(LifeEvent::Halfway { number, leases });
            }
            let (turns, abandoned) = entry.enforce(now);
            if turns > 0 {
                entry.cancelled += turns;
                told.push(LifeEvent::Cancelled { number, turns });
            }
            if abandoned {
                lost.push(Arc::clone(&entry.generation));
            }
        }
        for event in told {
            self.tell(event);
        }
        for generation in lost {
            self.abandon(&generation);
        }
    }

    fn abandon(&mut self, generation: &Arc<Generation>) {
        self.draining.retain(|d| !Arc::ptr_eq(&d.generation, generation));
        if !generation.step(State::Retired, State::Quarantined) {
            return;
        }
        let quarantined: Vec<_> = generation.contents().instances.iter().map(|i| i.owner.to_string()).collect();
        tracing::warn!(generation = generation.number(), "a lease did not come back: generation quarantined");
        self.ledger.quarantine(&quarantined);
        self.tell(LifeEvent::Abandoned { number: generation.number(), quarantined });
    }

    fn next_due(&self) -> Option<Duration> {
        self.draining.iter().filter_map(Draining::next_due).min()
    }

    fn tell(&self, event: LifeEvent) {
        // Without a subscriber nobody needs to know.
        let _ = self.events.send(event);
    }
}

impl Draining {
    /// Turns cancelled now, and whether one is lost.
    fn enforce(&self, now: Duration) -> (u64, bool) {
        let mut turns = 0;
        let mut lost = false;
        for held in self.generation.leases.held() {
            let mut turn = held.turn();
            match turn.cancelled_at {
                Some(at) if at + GRACE <= now => {
                    drop(turn);
                    held.abandon();
                    lost = true;
                }
                Some(_) => {}
                None if self.due(turn.waits_until).is_some_and(|at| at <= now) => {
                    turn.cancelled_at = Some(now);
                    if let Some(cancel) = &turn.cancel {
                        cancel.request();
                    }
                    turns += 1;
                }
                None => {}
            }
        }
        (turns, lost)
    }

    /// When a turn that waits for a person until `waits` has to end.
    fn due(&self, waits: Option<Duration>) -> Option<Duration> {
        if self.forced {
            return Some(Duration::ZERO);
        }
        self.deadline.map(|at| waits.map_or(at, |until| until.max(at)))
    }

    fn next_due(&self) -> Option<Duration> {
        let turns = self.generation.leases.held().into_iter().filter_map(|held| {
            let turn = held.turn();
            match turn.cancelled_at {
                Some(at) => Some(at + GRACE),
                None => self.due(turn.waits_until),
            }
        });
        turns.chain(self.halfway).min()
    }
}

async fn sleep(clock: &SharedClock, pause: Option<Duration>) {
    match pause {
        Some(pause) => clock.sleep(pause).await,
        None => std::future::pending().await,
    }
}

/// Disposes what no other generation uses, in reverse order of setup. Owners whose disposal failed.
async fn dispose(generation: &Generation, clock: &SharedClock) -> Vec<String> {
    let mut failed = Vec::new();
    for instance in generation.contents().instances.iter().rev() {
        if instance.leave() && !instance.dispose(clock).await {
            failed.push(instance.owner.to_string());
        }
    }
    failed
}
