//! Faults of the executor's own work. What a model sees is a `ToolError`.

use plugin_sdk::ToolError;
use std::io;
use std::path::PathBuf;

/// Why an artifact was not saved or an old one not removed.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// The path leads out of the folders a tool may hand files out of.
    #[error("{0} is not in the workspace or the plugin's data folder")]
    Outside(PathBuf),
    /// Not a regular file.
    #[error("{0} is not a regular file")]
    NotAFile(PathBuf),
    /// Larger than the artifact folder may become.
    #[error("{path} has {bytes} bytes, more than {max}")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// Reading or writing failed.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The value cannot be written as JSON.
    #[error("not writable as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The record of the file could not be written or read.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
    /// The work broke off.
    #[error("saving was interrupted: {0}")]
    Interrupted(String),
}

impl ArtifactError {
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

impl From<ArtifactError> for ToolError {
    /// The model learns what failed; paths of the host stay in the details.
    fn from(error: ArtifactError) -> Self {
        let message = match &error {
            ArtifactError::Outside(_) => "the result's file is not in the workspace or the plugin's data folder",
            ArtifactError::NotAFile(_) => "the result's file is not a regular file",
            ArtifactError::TooLarge { .. } => "the result's file is too large to be kept",
            ArtifactError::Io { .. }
            | ArtifactError::Json(_)
            | ArtifactError::Store(_)
            | ArtifactError::Interrupted(_) => "the result could not be saved",
        };
        ToolError::new("ARTIFACT_ERROR", message).detail("cause", error.to_string())
    }
}
