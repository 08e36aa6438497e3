//! What `status` says about a model, and how long one that failed is spared.

use crate::task::SharedClock;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a model that failed all its repeats is asked only once.
const REST: Duration = Duration::from_secs(60);

/// State of a model for reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelState {
    /// Answers, or was never asked.
    Up,
    /// Failed all repeats; nothing since has worked.
    Degraded,
    /// Refuses its key, its id or its address.
    Down,
}

impl ModelState {
    /// Contract name.
    pub fn as_str(self) -> &'static str {
        match self {
            ModelState::Up => "up",
            ModelState::Degraded => "degraded",
            ModelState::Down => "down",
        }
    }
}

/// The record of one client, shared by its requests.
#[derive(Debug)]
pub(super) struct Health(Mutex<Record>);

#[derive(Debug)]
struct Record {
    state: ModelState,
    rests_until: Option<Duration>,
}

impl Health {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Record { state: ModelState::Up, rests_until: None }))
    }

    pub(super) fn state(&self) -> ModelState {
        self.record().state
    }

    /// True while it rests. With no other model to turn to it is still asked, but only once: a person who tries
    /// again gets an answer as soon as there is one, and a server in trouble gets no burst of repeats.
    pub(super) fn rests(&self, clock: &SharedClock) -> bool {
        self.record().rests_until.is_some_and(|until| clock.monotonic() < until)
    }

    pub(super) fn worked(&self) {
        *self.record() = Record { state: ModelState::Up, rests_until: None };
    }

    pub(super) fn failed(&self, clock: &SharedClock) {
        *self.record() = Record { state: ModelState::Degraded, rests_until: Some(clock.monotonic() + REST) };
    }

    pub(super) fn refused(&self) {
        self.record().state = ModelState::Down;
    }

    fn record(&self) -> std::sync::MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
