//! Why a candidate could not be made.

use plugin_sdk::Diagnostic;
use std::io;
use std::path::{Path, PathBuf};

/// A copy could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A file operation failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not the one that was read a moment ago.
    #[error("{} changed while it was copied", path.display())]
    Changed {
        /// Which.
        path: PathBuf,
    },
}

impl CopyError {
    pub(super) fn new(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), source }
    }

    /// As the finding of a reload record.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            CopyError::Io { .. } => Diagnostic::error("reload::copy-failed", self.to_string()).help(
                "make room, or put the permissions of the data folder right; the reload is tried again by itself",
            ),
            CopyError::Changed { .. } => Diagnostic::error("reload::unstable-input", self.to_string())
                .help("wait until the writer is done; the reload is tried again by itself"),
        }
    }
}
