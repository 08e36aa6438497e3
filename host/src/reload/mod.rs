//! Room 13, `reload`: watch, plan, the reload spine, `ReloadRecord`; announces what was published.
//! Must not touch a running turn. Next room: `session`.
//!
//! One task (`run`) takes jobs from the queue and sends them down the `spine`, one at a time.

mod desired;
mod handle;
mod log;
mod plan;
mod queue;
mod record;
mod retry;
mod run;
mod spine;
mod watch;

pub use desired::DesiredState;
pub use handle::{ReloadError, ReloadHandle, ReloadState};
pub use queue::ReloadOptions;
pub use record::{Changes, Outcome, Plan, ReloadRecord, TestCounts, Trigger};
pub use run::{ReloadSetup, Started, start};
pub use watch::{RootState, WatchState};

#[cfg(test)]
mod tests;
