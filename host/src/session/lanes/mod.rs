//! Who runs when: tickets of a session in order, places over all, places of one person.

mod place;
mod schedule;
#[cfg(test)]
pub(super) mod tests;

pub use place::{PausedPlace, Place, Waiting};

use super::SessionKey;
use crate::task::SharedClock;
use plugin_sdk::CancellationSignal;
use schedule::{Position, Schedule, Waiter};
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot};

/// Bounds of the lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneLimits {
    /// Turns at a time.
    pub places: usize,
    /// Of them, of one person.
    pub per_principal: usize,
    /// Waiting messages of one session.
    pub queue: usize,
}

/// The wish to run one turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Ticket {
    /// Given when the message was stored; turns run in this order.
    pub number: u64,
    /// Session.
    pub session: SessionKey,
    /// Whose place it takes: the person, or the conversation of a sender nobody can tell apart.
    pub principal: String,
    /// Ends the running turn and stands for all that wait.
    pub supersede: bool,
    /// The message, handed on to whoever supersedes it.
    pub message: Value,
}

/// Why a running turn is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// A person said so.
    Person,
    /// A newer message took over.
    Superseded,
    /// The host ends.
    Shutdown,
    /// Its generation has to go.
    LeaseDeadline,
}

/// What a stop found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Whether a turn was running.
    pub running: bool,
    /// Messages that wait and stay.
    pub waiting: usize,
}

/// Too many messages wait in this session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{waiting} messages wait already")]
pub struct QueueFull {
    /// How many.
    pub waiting: usize,
}

/// Why a ticket never got its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LaneError {
    /// A newer message of the session stands for it.
    #[error("superseded by a newer message")]
    Superseded,
    /// The host ends.
    #[error("the host is ending")]
    Closing,
}

/// The lanes of a host. Clones share them.
#[derive(Clone)]
pub struct Lanes(Arc<Inner>);

struct Inner {
    clock: SharedClock,
    schedule: Mutex<Schedule>,
    idle: Notify,
}

impl Lanes {
    /// Nothing runs, nothing waits.
    pub fn new(limits: LaneLimits, clock: SharedClock) -> Self {
        Self(Arc::new(Inner { clock, schedule: Mutex::new(Schedule::new(limits)), idle: Notify::new() }))
    }

    /// Changes the bounds. What runs goes on.
    pub fn set_limits(&self, limits: LaneLimits) {
        self.change(|schedule| schedule.limits = limits);
    }

    /// Enters a ticket. Its order is settled when this returns, whenever the answer is awaited.
    pub fn submit(&self, ticket: Ticket) -> Result<Waiting, QueueFull> {
        let (grant, granted) = oneshot::channel();
        let session = ticket.session.clone();
        let waiter = Waiter {
            principal: ticket.principal,
            message: ticket.message,
            absorbed: Vec::new(),
            since: self.0.clock.monotonic(),
            grant,
        };
        let at = self.change(|schedule| schedule.enter(ticket.number, &session, waiter, ticket.supersede))?;
        Ok(Waiting::new(self.clone(), session, at, granted))
    }

    /// Ends the running turn of a session; waiting messages stay.
    pub fn stop(&self, session: &SessionKey, cause: StopCause) -> Stopped {
        self.lock().stop(session, cause)
    }

    /// Whose place the running turn of a session has taken.
    pub fn runner(&self, session: &SessionKey) -> Option<String> {
        self.lock().runner(session)
    }

    /// Ends every running turn.
    pub fn stop_all(&self, cause: StopCause) -> usize {
        self.lock().stop_all(cause)
    }

    /// Lets nobody in any more; who waits is told so.
    pub fn close(&self) {
        self.change(Schedule::close);
    }

    /// Ends when no turn runs.
    pub async fn idle(&self) {
        loop {
            let woken = self.0.idle.notified();
            tokio::pin!(woken);
            woken.as_mut().enable();
            if self.running() == 0 {
                return;
            }
            woken.await;
        }
    }

    /// Turns that run, those that ask included.
    pub fn running(&self) -> usize {
        self.lock().running()
    }

    /// Messages that wait, over all sessions.
    pub fn waiting(&self) -> usize {
        self.lock().waiting()
    }

    /// Whether something runs or waits in a session.
    pub fn is_busy(&self, session: &SessionKey) -> bool {
        self.lock().is_busy(session)
    }

    fn lock(&self) -> MutexGuard<'_, Schedule> {
        self.0.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the schedule, then hands out what became free. A place nobody took any more is dropped outside
    /// the lock, because its drop changes the schedule again.
    fn change<T>(&self, change: impl FnOnce(&mut Schedule) -> T) -> T {
        let mut schedule = self.lock();
        let changed = change(&mut schedule);
        let refused = schedule.hand_out(self);
        let idle = schedule.running() == 0;
        drop(schedule);
        drop(refused);
        if idle {
            self.0.idle.notify_waiters();
        }
        changed
    }

    fn finish(&self, session: &SessionKey, at: Position) {
        self.change(|schedule| schedule.finish(session, at));
    }

    fn withdraw(&self, session: &SessionKey, at: Position) {
        self.change(|schedule| schedule.withdraw(session, at));
    }

    fn pause(&self, session: &SessionKey, at: Position) {
        self.change(|schedule| schedule.pause(session, at));
    }

    /// `None` when the turn has its place, or needs none.
    fn reenter(&self, session: &SessionKey, at: Position) -> Option<oneshot::Receiver<()>> {
        self.change(|schedule| schedule.reenter(session, at))
    }
}

/// What a run is told to end with, shared by its place and the schedule.
#[derive(Clone, Default)]
struct StopSign {
    signal: CancellationSignal,
    cause: Arc<Mutex<Option<StopCause>>>,
}

impl StopSign {
    /// The first cause stays.
    fn raise(&self, cause: StopCause) {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cause);
        self.signal.request();
    }

    fn cause(&self) -> Option<StopCause> {
        *self.cause.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
