//! The server's own time.

use tokio::time::{Duration, Instant};

/// A clock that goes with real time or stands, and can be moved forward.
#[derive(Debug)]
pub(crate) struct Clock {
    started: Instant,
    offset_ms: i64,
    pub(crate) flows: bool,
}

impl Clock {
    pub(crate) fn new(start: i64, flows: bool) -> Self {
        Self { started: Instant::now(), offset_ms: start.saturating_mul(1000), flows }
    }

    /// Milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        let gone = if self.flows { self.started.elapsed().as_millis() } else { 0 };
        self.offset_ms.saturating_add(i64::try_from(gone).unwrap_or(i64::MAX))
    }

    /// Moves it forward.
    pub(crate) fn advance(&mut self, by: Duration) {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.offset_ms = self.offset_ms.saturating_add(by);
    }
}
