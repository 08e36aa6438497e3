//! The clock. Everything above asks it, so that a test can move time by hand.

use chrono::{DateTime, TimeDelta, Utc};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Wall time for records, monotonic time for deadlines.
pub trait Clock: Send + Sync {
    /// Wall time; may jump.
    fn now(&self) -> DateTime<Utc>;
    /// Time since an arbitrary start; never goes back.
    fn monotonic(&self) -> Duration;
    /// Ends when `monotonic` has grown by `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// A clock as it is passed around.
pub type SharedClock = Arc<dyn Clock>;

/// The clock of the machine.
#[derive(Debug, Clone)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Starts the monotonic part now.
    #[allow(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }

    /// The same, ready to be passed around.
    pub fn shared() -> SharedClock {
        Arc::new(Self::new())
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

#[allow(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
impl Clock for SystemClock {
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }
}

/// A clock that moves only when told to, for tests and scenarios. Clones share it.
#[derive(Clone)]
pub struct ManualClock(Arc<Mutex<ManualState>>);

struct ManualState {
    wall: DateTime<Utc>,
    monotonic: Duration,
    sleepers: Vec<(Duration, oneshot::Sender<()>)>,
}

impl ManualClock {
    /// A clock that shows `start`.
    pub fn new(start: DateTime<Utc>) -> Self {
        Self(Arc::new(Mutex::new(ManualState { wall: start, monotonic: Duration::ZERO, sleepers: Vec::new() })))
    }

    /// Moves both times and wakes whoever is due.
    pub fn advance(&self, by: Duration) {
        let mut due = Vec::new();
        {
            let mut s = self.state();
            s.monotonic += by;
            s.wall += TimeDelta::from_std(by).unwrap_or(TimeDelta::MAX);
            let now = s.monotonic;
            s.sleepers.retain(|(_, wake)| !wake.is_closed());
            while let Some(i) = s.sleepers.iter().position(|(at, _)| *at <= now) {
                due.push(s.sleepers.swap_remove(i));
            }
        }
        due.sort_by_key(|(at, _)| *at);
        for (_, wake) in due {
            // A sleeper that was dropped meanwhile needs no waking.
            let _ = wake.send(());
        }
    }

    /// Sets the wall time alone, as a clock correction does.
    pub fn set_wall(&self, wall: DateTime<Utc>) {
        self.state().wall = wall;
    }

    /// Sleepers that still wait; a test uses it to know that somebody has gone to sleep.
    pub fn sleepers(&self) -> usize {
        self.state().sleepers.iter().filter(|(_, wake)| !wake.is_closed()).count()
    }

    /// How far away the next sleeper's end is.
    pub fn next_due(&self) -> Option<Duration> {
        let s = self.state();
        let next = s.sleepers.iter().filter(|(_, wake)| !wake.is_closed()).map(|(at, _)| *at).min()?;
        Some(next.saturating_sub(s.monotonic))
    }

    /// The same, ready to be passed around.
    pub fn shared(&self) -> SharedClock {
        Arc::new(self.clone())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ManualState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new(DateTime::UNIX_EPOCH + TimeDelta::days(20_000))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        self.state().wall
    }

    fn monotonic(&self) -> Duration {
        self.state().monotonic
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        if duration.is_zero() {
            return futures::future::ready(()).boxed();
        }
        let (wake, woken) = oneshot::channel();
        let mut s = self.state();
        let at = s.monotonic + duration;
        s.sleepers.push((at, wake));
        drop(s);
        // The sender is only dropped with the clock itself: then nobody can move time any more.
        async move {
            if woken.await.is_err() {
                futures::future::pending::<()>().await;
            }
        }
        .boxed()
    }
}
