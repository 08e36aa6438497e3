//! A clock that stops while a person is asked: that of a turn, and that of one call.

use crate::task::SharedClock;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Time that runs out, except while somebody is asked. Clones share it.
#[derive(Clone)]
pub struct Countdown(Arc<Inner>);

struct Inner {
    clock: SharedClock,
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    left: Duration,
    /// When `left` was last true; only counts while nobody is asked.
    since: Duration,
    asking: u32,
    /// How often it went on after it stood still.
    waits: u32,
}

impl Countdown {
    /// Starts now.
    pub fn new(clock: SharedClock, limit: Duration) -> Self {
        let state = Mutex::new(State { left: limit, since: clock.monotonic(), asking: 0, waits: 0 });
        Self(Arc::new(Inner { clock, state, changed: Notify::new() }))
    }

    /// Time left.
    pub fn left(&self) -> Duration {
        let state = self.state();
        if state.asking > 0 { state.left } else { self.running(&state) }
    }

    /// Stops it until the value is dropped.
    pub fn pause(&self) -> Paused {
        let mut state = self.state();
        if state.asking == 0 {
            state.left = self.running(&state);
        }
        state.asking += 1;
        drop(state);
        self.0.changed.notify_waiters();
        Paused(self.clone())
    }

    /// How often it went on after somebody was asked.
    pub fn waits(&self) -> u32 {
        self.state().waits
    }

    /// Ends when nothing is left.
    pub async fn expired(&self) {
        loop {
            let changed = self.0.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let asking = self.state().asking > 0;
            let left = self.left();
            if asking {
                changed.await;
            } else if left.is_zero() {
                return;
            } else {
                tokio::select! { () = changed => {}, () = self.0.clock.sleep(left) => {} }
            }
        }
    }

    fn running(&self, state: &State) -> Duration {
        state.left.saturating_sub(self.0.clock.monotonic().saturating_sub(state.since))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a countdown stopped.
pub struct Paused(Countdown);

impl Drop for Paused {
    fn drop(&mut self) {
        let now = self.0.0.clock.monotonic();
        let mut state = self.0.state();
        state.asking -= 1;
        if state.asking == 0 {
            state.since = now;
            state.waits = state.waits.saturating_add(1);
        }
        drop(state);
        self.0.0.changed.notify_waiters();
    }
}
