//! Room 3, `journal`: append-only events, subscribe.
//! Must not decide anything. Next room: `config`.

mod error;
mod event;
mod writer;

pub use error::JournalError;
pub use event::{Event, Record};
pub use writer::{Journal, Redact};

#[cfg(test)]
mod tests;
