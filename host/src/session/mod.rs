//! Room 14, `session`: address, tickets, questions, history, loaded set.
//! Must not call a model. Next room: `route`.

mod error;
mod head;
mod history;
mod key;
mod lanes;
mod questions;
mod repair;
mod sessions;
mod snapshot;
mod transcript;

pub use error::SessionError;
pub use head::{Ended, Head, Running};
pub use history::{HistoryEntry, Paired};
pub use key::SessionKey;
pub use lanes::{LaneError, LaneLimits, Lanes, PausedPlace, Place, QueueFull, StopCause, Stopped, Ticket, Waiting};
pub use questions::{AskedIn, Captured, OpenQuestion, QuestionEnd, QuestionPort, QuestionSink, Questions, Wanted};
pub use repair::{Repaired, is_sendable, repair};
pub use sessions::Sessions;
pub use snapshot::{Dropped, LoadedSnapshot, StoredSkill, StoredTool, Via};
pub use transcript::{Commit, Transcript};

#[cfg(test)]
mod tests;
