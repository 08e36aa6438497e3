//! What goes wrong with an answer.

use serde::{Deserialize, Serialize};

/// A fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// An HTTP error, or with status 200 a page instead of an answer.
    Status {
        /// Status.
        status: u16,
        /// Text of the error.
        #[serde(default)]
        message: String,
        /// Code of the error.
        #[serde(default)]
        code: Option<String>,
        /// Part of the request it is about.
        #[serde(default)]
        param: Option<String>,
        /// `Retry-After` as it is sent, seconds or a date; `date+N` is the date N seconds from now.
        #[serde(default)]
        retry_after: Option<String>,
        /// Answers with a page instead of JSON, as proxies do.
        #[serde(default)]
        html: bool,
    },
    /// The connection ends after so many chunks.
    Cut {
        /// Chunks before it.
        after: usize,
    },
    /// The connection ends after so many bytes.
    CutBytes {
        /// Bytes before it.
        after: usize,
    },
    /// The body ends as if it were complete after so many chunks.
    End {
        /// Chunks before it.
        after: usize,
    },
    /// Nothing comes any more after so many chunks; with `None` not even the head.
    Hang {
        /// Chunks before it.
        #[serde(default)]
        after: Option<usize>,
    },
    /// The chunk of this number (from 0) comes again and again, without an end.
    Endless {
        /// Chunks before it.
        after: usize,
    },
    /// An error object inside the stream, after so many chunks.
    StreamError {
        /// Chunks before it.
        after: usize,
        /// Its text.
        message: String,
    },
    /// A redirect.
    Redirect {
        /// Where to.
        to: String,
    },
    /// 400 that names this tool while it is in the request, else the turn's answer.
    RefuseTool {
        /// Name.
        name: String,
    },
    /// 400 that names this key of the request (or beta) while it is used, else the turn's answer.
    RefuseField {
        /// Name.
        name: String,
    },
}

impl Fault {
    /// An HTTP error with a text.
    pub fn status(status: u16, message: impl Into<String>) -> Self {
        Fault::Status { status, message: message.into(), code: None, param: None, retry_after: None, html: false }
    }

    /// 429 with this `Retry-After`.
    pub fn busy(retry_after: impl Into<String>) -> Self {
        let retry_after = Some(retry_after.into());
        Fault::Status { status: 429, message: "slow down".into(), code: None, param: None, retry_after, html: false }
    }

    /// A page with a status.
    pub fn page(status: u16) -> Self {
        let message = "Bad Gateway".into();
        Fault::Status { status, message, code: None, param: None, retry_after: None, html: true }
    }
}
