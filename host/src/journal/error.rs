//! The one way the journal fails.

use crate::store::StoreError;

/// The event could not be written: tools with effects do not run.
#[derive(Debug, thiserror::Error)]
#[error("the journal cannot be written: {0}")]
pub struct JournalError(#[from] pub StoreError);
