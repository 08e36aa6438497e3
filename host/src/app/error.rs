//! Why a host did not start.

use plugin_sdk::Diagnostic;

/// Every finding; nothing is left behind.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the host did not start: {}", diagnostics.iter().map(|d| d.message.as_str()).collect::<Vec<_>>().join("; "))]
pub struct StartError {
    /// Never empty.
    pub diagnostics: Vec<Diagnostic>,
}

impl From<Diagnostic> for StartError {
    fn from(d: Diagnostic) -> Self {
        Self { diagnostics: vec![d] }
    }
}
