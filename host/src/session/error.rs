//! What can go wrong with a session.

use crate::store::StoreError;

/// A fault of the session room.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The store failed; nothing of the step was kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored record is not what it should be.
    #[error("session {session}: {what} cannot be read: {why}")]
    Unreadable {
        /// Session key.
        session: String,
        /// Which record.
        what: &'static str,
        /// Why.
        why: String,
    },
}
