//! What can go wrong with a seal or a lease. Publishing has no error.

use crate::store::StoreError;
use plugin_sdk::Diagnostic;

/// A context was used after its lease had been returned, or was taken away at the deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("generation {generation} is retired for this context: its lease was returned")]
pub struct Retired {
    /// Number of the generation.
    pub generation: u64,
}

/// Why a candidate could not be sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// Something else was published since it was prepared: prepare again.
    #[error("generation {published:?} is published, the candidate was prepared against {base:?}")]
    BaseChanged {
        /// What it was prepared against.
        base: Option<u64>,
        /// What is published.
        published: Option<u64>,
    },
    /// Its inputs could not be written, or not made durable.
    #[error("the inputs of the generation could not be recorded: {0}")]
    NotRecorded(#[from] StoreError),
}

impl SealError {
    /// The finding that the record carries.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            SealError::BaseChanged { .. } => Diagnostic::error("seal::base-changed", self.to_string()),
            SealError::NotRecorded(_) => Diagnostic::error("seal::not-recorded", self.to_string())
                .help("see the state of the store in `understudy status`; the reload is tried again by itself"),
        }
    }
}
