//! What differs between the servers: which requests are right and how an answer looks.

use crate::script::Turn;
use axum::http::HeaderMap;
use serde_json::Value;

/// What stands between the address and the paths, and ends a `base_url`.
pub(crate) const BASE: &str = "/v1";
pub(crate) const TOKEN: usize = 4;

/// A format. One value lives as long as its server and may remember what it has sent.
pub trait Wire: Send + 'static {
    /// Path of the answers below `BASE`.
    fn path(&self) -> &'static str;

    /// The key of a request.
    fn key(&self, headers: &HeaderMap) -> Option<String>;

    /// Checks a whole request.
    fn check(&self, asked: &Asked<'_>) -> Result<(), Refusal>;

    /// Why this answer cannot be played.
    fn unplayable(&self, turn: &Turn) -> Option<&'static str>;

    /// What a request says.
    fn seen(&self, body: &Value) -> Seen;

    /// Writes an answer; `number` makes ids differ between requests.
    fn reply(&mut self, turn: &Turn, body: &Value, number: usize) -> Reply;

    /// An error: the body of an answer, or an event of a stream that has begun.
    fn error(&self, refusal: &Refusal, in_stream: bool) -> String;

    /// How this format refuses the definition of a tool.
    fn refuse_tool(&self, body: &Value, name: &str) -> Option<Refusal>;
}

/// A request.
pub struct Asked<'a> {
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// Its body.
    pub body: &'a Value,
    /// Ids of the models that exist; empty: all.
    pub models: &'a [String],
}

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// What is wrong.
    pub message: String,
    /// Which part.
    pub param: Option<String>,
    /// Code.
    pub code: Option<String>,
}

/// An answer ready to be sent.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The events of the stream.
    pub chunks: Vec<String>,
    /// The same as one answer.
    pub whole: Value,
}

/// What a request says, whatever its format.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// The newest text of the person.
    pub said: String,
    /// Text of the last message.
    pub last: String,
    /// The call the last message answers.
    pub answered: Option<Called>,
    /// The tools.
    pub tools: Vec<Offered>,
}

/// A call of a request's history with its result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Called {
    /// Name.
    pub name: String,
    /// Arguments.
    pub arguments: Value,
    /// Text of the result.
    pub result: String,
}

/// A tool of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offered {
    /// Name.
    pub name: String,
    /// Input schema.
    pub schema: Value,
    /// Whether it may be called now: not deferred, or loaded.
    pub ready: bool,
}

/// Pieces of a few characters, as tokens are.
pub fn tokens(text: &str) -> Vec<String> {
    cut(text, TOKEN)
}

pub(crate) fn cut(text: &str, size: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(size.max(1)).map(|c| c.iter().collect()).collect()
}
