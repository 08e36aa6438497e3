//! What the server is told to say.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A script: how strict, how fast, and the answers in order. After the last one the server answers by itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// Key every request must carry as a bearer token; `None` takes any or none.
    pub key: Option<String>,
    /// Model ids served; empty serves any.
    pub models: Vec<String>,
    /// Pause before each chunk.
    pub latency_ms: u64,
    /// Answers, each used once.
    pub turns: Vec<Turn>,
}

/// One answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// Used only for a request whose last message holds this text.
    pub when: Option<String>,
    /// Text of the answer.
    pub text: Option<String>,
    /// Calls of the answer.
    pub calls: Vec<Call>,
    /// Writes the calls as JSON inside the text, as some models do.
    pub calls_as_text: bool,
    /// Gives every call index 0.
    pub same_index: bool,
    /// Sends calls without ids.
    pub no_ids: bool,
    /// Sends the argument fragments of all calls in turn.
    pub interleave: bool,
    /// Finish reason; `tool_calls` or `stop` when left out.
    pub finish: Option<String>,
    /// Token counts; `off` sends none although they were asked for.
    pub usage: Usage,
    /// Bytes of the stream as they are, instead of an answer.
    pub raw: Option<Vec<String>>,
    /// What goes wrong.
    pub fault: Option<Fault>,
}

impl Turn {
    /// An answer of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// An answer of calls.
    pub fn calls(calls: impl IntoIterator<Item = Call>) -> Self {
        Self { calls: calls.into_iter().collect(), ..Self::default() }
    }

    /// A fault.
    pub fn fault(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }

    /// A stream given byte by byte.
    pub fn raw<S: Into<String>>(parts: impl IntoIterator<Item = S>) -> Self {
        Self { raw: Some(parts.into_iter().map(Into::into).collect()), ..Self::default() }
    }
}

/// One call of an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Name as the model writes it.
    pub name: String,
    /// An object, or a string that is sent as it is.
    #[serde(default)]
    pub arguments: Value,
    /// Id; a fresh one when left out.
    #[serde(default)]
    pub id: Option<String>,
}

impl Call {
    /// A call with arguments.
    pub fn new(name: impl Into<String>, arguments: Value) -> Self {
        Self { name: name.into(), arguments, id: None }
    }

    /// The same with an id.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    pub(crate) fn arguments_text(&self) -> String {
        match &self.arguments {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// Token counts of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Usage {
    /// Counted when asked for.
    #[default]
    On,
    /// Never sent.
    Off,
}

/// What goes wrong with an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// An HTTP error.
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
        /// `Retry-After`: seconds or a date.
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
    /// Nothing comes any more after so many chunks; with `None` not even the head.
    Hang {
        /// Chunks before it.
        #[serde(default)]
        after: Option<usize>,
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
}

impl Fault {
    /// An HTTP error with a text.
    pub fn status(status: u16, message: impl Into<String>) -> Self {
        Fault::Status { status, message: message.into(), code: None, param: None, retry_after: None, html: false }
    }
}
