//! When a refusal by a passing fault is tried again: after 5, 10, 20 … 300 s.

use crate::task::SharedClock;
use std::time::Duration;

const FIRST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(300);

/// One series.
#[derive(Debug, Default)]
pub(super) struct Retry {
    tries: u32,
    /// Monotonic.
    at: Option<Duration>,
}

impl Retry {
    /// A newer input begins the series anew.
    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }

    /// After a verdict: the next try, or none.
    pub(super) fn plan(&mut self, again: bool, now: Duration) {
        if !again {
            return self.restart();
        }
        let pause = FIRST.saturating_mul(2_u32.saturating_pow(self.tries)).min(LONGEST);
        self.tries += 1;
        self.at = Some(now + pause);
    }

    /// Ends when the next try is due; never without one.
    pub(super) async fn due(&self, clock: &SharedClock) {
        match self.at {
            Some(at) => clock.sleep(at.saturating_sub(clock.monotonic())).await,
            None => std::future::pending().await,
        }
    }
}
