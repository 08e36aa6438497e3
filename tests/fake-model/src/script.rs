//! What a server is told to say.

use crate::fault::Fault;
use crate::halves;
use crate::wire::{TOKEN, cut};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A script: how strict, how fast, and the answers in order. After the last one the server answers by itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// Key every request must carry; `None` takes any or none.
    pub key: Option<String>,
    /// Model ids served; empty serves any.
    pub models: Vec<String>,
    /// Pause before each chunk.
    pub latency_ms: u64,
    /// Answers, each used once unless it says otherwise.
    pub turns: Vec<Turn>,
}

/// One answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// Used only for a request whose last message holds this text.
    pub when: Option<String>,
    /// How often it is used; 0 is always, left out is once.
    pub times: Option<u64>,
    /// Reasoning before the answer.
    pub thinking: Option<Thinking>,
    /// Text of the answer.
    pub text: Option<String>,
    /// Calls of the answer.
    pub calls: Vec<Call>,
    /// Writes the calls as JSON inside the text, as some models do.
    pub calls_as_text: bool,
    /// Gives every part of the answer index 0.
    pub same_index: bool,
    /// Sends calls without ids.
    pub no_ids: bool,
    /// Sends the argument fragments of all calls in turn.
    pub interleave: bool,
    /// Opens the first call before the text has ended.
    pub overlap: bool,
    /// Announces calls without the (empty) place of their arguments.
    pub bare_start: bool,
    /// Writes arguments in ASCII, so that a character may be cut between the halves of its escape.
    pub escape: bool,
    /// Characters of a token, 4 when left out.
    pub token_chars: Option<usize>,
    /// One character per chunk, and half a character beyond the basic plane.
    pub halves: bool,
    /// Adds keys and events nobody has heard of.
    pub noise: bool,
    /// Why the answer ended, in the words of the format; what fits the answer when left out.
    pub finish: Option<String>,
    /// Token counts.
    pub usage: Usage,
    /// Bytes of the stream as they are, instead of an answer.
    pub raw: Option<Vec<String>>,
    /// Sends the stream in pieces of so many bytes, through the middle of characters.
    pub split_bytes: Option<usize>,
    /// Pause before each chunk, instead of the script's.
    pub latency_ms: Option<u64>,
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

    /// An answer of one call.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::calls([Call::new(name, arguments)])
    }

    /// A fault.
    pub fn fault(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }

    /// A stream given byte by byte.
    pub fn raw<S: Into<String>>(parts: impl IntoIterator<Item = S>) -> Self {
        Self { raw: Some(parts.into_iter().map(Into::into).collect()), ..Self::default() }
    }

    /// The same answer for every further request.
    #[must_use]
    pub fn always(mut self) -> Self {
        self.times = Some(0);
        self
    }

    /// A text in the pieces it is sent in.
    pub fn pieces(&self, text: &str) -> Vec<String> {
        if self.halves { halves::cut(text) } else { cut(text, self.token_chars.unwrap_or(TOKEN)) }
    }

    /// The calls that are sent as calls.
    pub fn sent_calls(&self) -> &[Call] {
        if self.calls_as_text { &[] } else { &self.calls }
    }

    /// The text that is sent: its own, then calls that are written as text.
    pub fn sent_text(&self) -> String {
        let mut text = self.text.clone().unwrap_or_default();
        if self.calls_as_text {
            for call in &self.calls {
                let call = serde_json::json!({"name": call.name, "arguments": call.arguments});
                text.push_str(&call.to_string());
            }
        }
        text
    }
}

/// Reasoning of an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thinking {
    /// What is thought.
    pub text: String,
    /// The signature that must come back with it.
    pub signature: Option<String>,
    /// An encrypted block instead of a text.
    pub redacted: Option<String>,
}

impl Thinking {
    /// Signed reasoning.
    pub fn signed(text: impl Into<String>, signature: impl Into<String>) -> Self {
        Self { text: text.into(), signature: Some(signature.into()), redacted: None }
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
    /// Further keys of the call, for example a provider's signature; they must come back unchanged.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl Call {
    /// A call with arguments.
    pub fn new(name: impl Into<String>, arguments: Value) -> Self {
        Self { name: name.into(), arguments, ..Self::default() }
    }

    /// The same with an id.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The arguments as they are sent; `escape` leaves only ASCII.
    pub fn arguments_text(&self, escape: bool) -> String {
        let text = match &self.arguments {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if escape { escaped(&text) } else { text }
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

/// Token counts of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Usage {
    /// Counted.
    #[default]
    On,
    /// Never sent, although it was asked for.
    Off,
    /// These.
    Counts(Counts),
}

/// Numbers of tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Counts {
    /// Read, all together.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Of the input, read from the cache.
    pub cached_read: u64,
    /// Of the input, written into the cache.
    pub cached_write: u64,
    /// Of the output, reasoning.
    pub reasoning: u64,
}
