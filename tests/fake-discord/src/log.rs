//! What was asked of the server, and what a real one would have refused.

use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// Why a request counts as a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    /// The request itself is wrong, whatever the world is.
    Malformed,
    /// It names what is not there, or what the bot may not do, or comes too late.
    Refused,
    /// It came faster than its limit.
    Limited,
    /// It came although a 429 had said to wait.
    Early,
    /// A frame the gateway closes for.
    Gateway,
}

/// A request a real server would refuse.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Violation {
    /// Why.
    pub kind: ViolationKind,
    /// Method and path, or the gateway's operation.
    pub request: String,
    /// Number of the request; 0 for the gateway.
    pub number: usize,
    /// HTTP status or close code.
    pub status: u16,
    /// Discord's code.
    pub code: u32,
    /// Text of the answer.
    pub message: String,
    /// Which fields, for a wrong form.
    pub errors: Value,
    /// When, Unix milliseconds.
    pub at_ms: u64,
}

/// A request of the bot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Request {
    /// Number from 1.
    pub number: usize,
    /// When, Unix milliseconds.
    pub at_ms: u64,
    /// Method.
    pub method: String,
    /// Path below `/api/v10`, with `:token` instead of an interaction's token.
    pub path: String,
    /// Query.
    pub query: String,
    /// JSON of the body.
    pub body: Value,
    /// Names of the files.
    pub files: Vec<String>,
    /// Status of the answer; 0 while there is none.
    pub status: u16,
    /// Discord's code; 0 for none.
    pub code: u32,
    /// The fault that was played.
    pub fault: Option<String>,
}

/// What was seen.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) requests: Vec<Arc<Request>>,
    pub(crate) violations: Vec<Violation>,
    /// Times of answers 401, 403 and 429.
    pub(crate) invalid_ms: Vec<u64>,
}

/// Answers 401, 403 and 429 in this time count towards the ban.
const INVALID_WINDOW_MS: u64 = 600_000;
const INVALID_MAX: usize = 10_000;

impl Log {
    /// How many of the last ten minutes' requests count towards the ban.
    pub(crate) fn invalid(&self, now_ms: u64) -> usize {
        self.invalid_ms.iter().rev().take_while(|at| **at + INVALID_WINDOW_MS > now_ms).count()
    }

    pub(crate) fn banned(&self, now_ms: u64) -> bool {
        self.invalid(now_ms) >= INVALID_MAX
    }
}
