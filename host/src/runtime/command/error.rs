//! Why a command gave no result of its own.

use plugin_sdk::{ToolError, ToolResult};
use std::time::Duration;

/// A call that failed outside the program, or whose output cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CommandError {
    /// The folders or the input of the call cannot be prepared.
    #[error("{0}")]
    Prepare(String),
    /// The program cannot be started.
    #[error("{message}")]
    Start {
        /// What the system said, with the program.
        message: String,
        /// What to do about it.
        help: Option<String>,
    },
    /// The program ended with a status other than 0.
    #[error("{message}")]
    Failed {
        /// Exit code or signal and the first line of stderr.
        message: String,
        /// Exit code, when it ended by itself.
        exit_code: Option<i32>,
        /// Signal, when one ended it.
        signal: Option<i32>,
        /// The end of stderr, for admins.
        stderr: String,
        /// What to do about it.
        help: Option<String>,
    },
    /// Standard output breaks the rules.
    #[error("{0}")]
    InvalidResult(String),
    /// More standard output than the cap.
    #[error("the program wrote more than {0} bytes to its standard output and was stopped")]
    OutputTooLarge(usize),
    /// The deadline passed while the program ran; it was stopped and has ended.
    #[error("no result within {} s; the program was stopped", seconds(*.0))]
    Timeout(Duration),
    /// The deadline passed while waiting for a place; nothing ran.
    #[error("waited {} s for one of {parallel} command places; nothing ran", seconds(*.limit))]
    NoPlace {
        /// The deadline.
        limit: Duration,
        /// Places.
        parallel: usize,
    },
    /// Cancelled; the program has ended, or never started.
    #[error("cancelled")]
    Cancelled,
    /// Killed, but its end was not seen.
    #[error("the program was killed but its end could not be confirmed")]
    NotEnded,
}

/// Seconds without superfluous digits.
fn seconds(d: Duration) -> f64 {
    (d.as_secs_f64() * 1000.0).round() / 1000.0
}

impl CommandError {
    /// Contract code.
    pub fn code(&self) -> &'static str {
        match self {
            CommandError::Prepare(_) | CommandError::Start { .. } | CommandError::Failed { .. } => "COMMAND_FAILED",
            CommandError::InvalidResult(_) => "INVALID_RESULT",
            CommandError::OutputTooLarge(_) => "OUTPUT_TOO_LARGE",
            CommandError::Timeout(_) | CommandError::NoPlace { .. } => "TOOL_TIMEOUT",
            CommandError::Cancelled => "CANCELLED",
            CommandError::NotEnded => "OUTCOME_UNKNOWN",
        }
    }

    /// The failed result of the call.
    pub(super) fn into_result(self) -> ToolResult {
        let mut error = ToolError::new(self.code(), self.to_string());
        error.retryable =
            matches!(self, CommandError::Timeout(_) | CommandError::NoPlace { .. } | CommandError::Cancelled);
        match self {
            CommandError::Start { help, .. } => error.help = help,
            CommandError::Failed { exit_code, signal, stderr, help, .. } => {
                error.help = help;
                if let Some(code) = exit_code {
                    error = error.detail("exit_code", code);
                }
                if let Some(signal) = signal {
                    error = error.detail("signal", signal);
                }
                error = error.detail("stderr", stderr);
            }
            _ => {}
        }
        ToolResult::error(error)
    }
}
