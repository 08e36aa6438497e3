//! Room 14, `session`: address, tickets, questions, history, loaded set, grants.
//! Must not call a model. Next room: `route`.

mod error;
mod grants;
mod head;
mod history;
mod key;
mod lanes;
mod ledger;
mod owed;
mod questions;
mod reading;
mod repair;
mod sessions;
mod snapshot;
mod summary;
mod transcript;

pub use error::SessionError;
pub use grants::{Grant, Grants, SessionGrants};
pub use head::{Ended, Head, Running};
pub use history::{HistoryEntry, Paired};
pub use key::SessionKey;
pub use lanes::{LaneError, LaneLimits, Lanes, PausedPlace, Place, QueueFull, StopCause, Stopped, Ticket, Waiting};
pub use ledger::{Counts, Ledger};
pub use owed::{Closing, Debt, Owed};
pub use questions::{
    Act, Action, AskedIn, Asking, CallIdentity, CallRecord, Decision, FileDigest, Gravity, Heard, Meant, OpenQuestion,
    QuestionEnd, QuestionPort, QuestionState, Questions, Reason, Settled, Showing, Waits, Wanted, outcome_text,
};
pub use repair::{Repaired, is_sendable, repair};
pub use sessions::Sessions;
pub use snapshot::{Dropped, LoadedSnapshot, StoredSkill, StoredTool, Via};
pub use summary::{Covered, SUMMARY};
pub use transcript::{Commit, Transcript};

/// 128 bits nobody can guess, hex. A time-ordered id alone has fewer random bits, so two are mixed.
pub fn fresh_id() -> String {
    use sha2::{Digest, Sha256};
    let (one, two) = (uuid::Uuid::now_v7(), uuid::Uuid::now_v7());
    let mixed = Sha256::new().chain_update(one).chain_update(two).finalize();
    mixed.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
