//! Room 12, `generation`: seal, publish, lease, retire, dispose; the only pointer swap.
//! Must not know files, watchers, HTTP or chat. Next room: `reload`.

/// What `count.rs` counts with; the loom model puts its own in this place.
mod atomic {
    pub(super) use std::sync::atomic::{AtomicU64, Ordering};
}
mod count;
mod error;
mod info;
mod lease;
mod publisher;
mod reaper;
mod seal;
mod value;

pub use error::{Retired, SealError};
pub use info::{Counts, GenerationInfo};
pub use lease::{Lease, LeaseRef};
pub use publisher::{LifeEvent, Publisher};
pub use seal::{SealInput, Sealed, seal};
pub use value::{Generation, Published, State};

use reaper::Notice;

#[cfg(test)]
mod tests;
