//! What ends a scan without a tree.

/// The input kept changing while it was read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} changed while it was read, {attempts} times in a row")]
pub struct UnstableInput {
    /// Path relative to the bot folder where it was seen last.
    pub path: String,
    /// Scans begun.
    pub attempts: u32,
}

impl UnstableInput {
    /// As the finding of a reload record.
    pub fn diagnostic(&self) -> plugin_sdk::Diagnostic {
        plugin_sdk::Diagnostic::error("reload::unstable-input", self.to_string())
            .file(self.path.clone())
            .help("wait until the writer is done; the reload is tried again by itself")
    }
}
