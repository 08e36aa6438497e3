//! The time of the server: it runs, or it stands still until it is moved.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::Notify;

/// How time passes at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Time {
    /// As on the wall, from now on.
    #[default]
    Running,
    /// Only by [`crate::FakeDiscord::advance`]; starts at these Unix milliseconds.
    Frozen(u64),
}

struct Inner {
    /// Unix milliseconds without what has run since `since`.
    base_ms: u64,
    since: Option<Instant>,
}

pub(crate) struct Clock {
    inner: Mutex<Inner>,
    moved: Notify,
}

#[expect(clippy::disallowed_methods, reason = "a server of its own; this is its only clock")]
fn instant() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a server of its own; this is its only clock")]
fn wall_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map(millis).unwrap_or_default()
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Clock {
    pub(crate) fn new(time: Time) -> Self {
        let inner = match time {
            Time::Running => Inner { base_ms: wall_ms(), since: Some(instant()) },
            Time::Frozen(base_ms) => Inner { base_ms, since: None },
        };
        Self { inner: Mutex::new(inner), moved: Notify::new() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now_ms(&self) -> u64 {
        let inner = self.inner();
        inner.base_ms + inner.since.map_or(0, |since| millis(since.elapsed()))
    }

    pub(crate) fn frozen(&self) -> bool {
        self.inner().since.is_none()
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.inner().base_ms += millis(by);
        self.moved.notify_waiters();
    }

    /// Stops time, or lets it run on.
    pub(crate) fn freeze(&self, frozen: bool) {
        let now = self.now_ms();
        *self.inner() = Inner { base_ms: now, since: (!frozen).then(instant) };
        self.moved.notify_waiters();
    }

    /// Returns once this time has come.
    pub(crate) async fn reached(&self, at_ms: u64) {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            let now = self.now_ms();
            if now >= at_ms {
                return;
            }
            if self.frozen() {
                moved.await;
            } else {
                // either way the loop looks again
                let _ = tokio::time::timeout(Duration::from_millis(at_ms - now), moved).await;
            }
        }
    }
}

/// A time as Discord prints it.
pub(crate) fn printed(ms: u64) -> String {
    let at = i64::try_from(ms).ok().and_then(chrono::DateTime::from_timestamp_millis).unwrap_or_default();
    at.format("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string()
}
