//! Why a host did not start.

use plugin_sdk::{Diagnostic, Severity};

/// Every finding; nothing is left behind.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the host did not start: {}", diagnostics.iter().map(|d| d.message.as_str()).collect::<Vec<_>>().join("; "))]
pub struct StartError {
    /// Never empty.
    pub diagnostics: Vec<Diagnostic>,
}

impl From<Diagnostic> for StartError {
    fn from(mut d: Diagnostic) -> Self {
        // Whatever it is in a running host: here it keeps one from starting.
        if !d.is_error() {
            d.severity = Severity::Error;
            d.message = format!("the host did not start: {}", d.message);
        }
        Self { diagnostics: vec![d] }
    }
}
