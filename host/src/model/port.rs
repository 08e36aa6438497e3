//! The model port: one request, one stream of events.

use async_trait::async_trait;
use futures::stream::BoxStream;
use plugin_sdk::{CancellationSignal, ContentBlock, ImageData};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A call the model made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// Provider's id, or `call_<step>_<n>`.
    pub id: String,
    /// Wire name as sent by the model, prefixes removed.
    pub name: String,
    /// Arguments text as assembled; empty means `{}`.
    pub arguments: String,
}

/// A part of an answer that only its maker can read: signed reasoning, the signature of a call. It goes back to
/// the same service and model as it came, and to nobody else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    /// Fingerprint of the service and model that made it.
    pub maker: String,
    /// How many parts of its message stand before it: the text is one, each call another.
    pub after: u32,
    /// Base64 of the part: it is kept, never read or shown.
    pub data: String,
}

/// One entry of the conversation a model is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum ModelMessage {
    /// A person.
    User {
        /// Text, head line included where the host adds one.
        text: String,
        /// Images beside it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<ImageData>,
    },
    /// The model.
    Assistant {
        /// Text, may be empty with calls.
        text: String,
        /// Calls.
        calls: Vec<ModelCall>,
        /// What its maker wants back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        opaque: Vec<Opaque>,
    },
    /// The result of a call.
    Tool {
        /// Call it answers.
        call_id: String,
        /// Qualified name.
        tool: String,
        /// Model projection.
        content: Vec<ContentBlock>,
        /// Whether it failed.
        is_error: bool,
        /// Host data (for the offline model; never sent to a provider).
        #[serde(default)]
        data: Value,
        /// Qualified names of the tools this very result loaded, said by the host alone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        references: Vec<String>,
    },
}

impl ModelMessage {
    /// Words of a person.
    pub fn user(text: impl Into<String>) -> Self {
        ModelMessage::User { text: text.into(), images: Vec::new() }
    }

    /// Words of the model.
    pub fn assistant(text: impl Into<String>, calls: Vec<ModelCall>) -> Self {
        ModelMessage::Assistant { text: text.into(), calls, opaque: Vec::new() }
    }
}

/// A tool as sent: serialised once per generation.
#[derive(Debug, Clone)]
pub struct ModelTool {
    /// Wire name.
    pub wire: Arc<str>,
    /// Qualified name.
    pub qualified: Arc<str>,
    /// Description, deprecation note included.
    pub description: Arc<str>,
    /// Visible schema as validated by the host.
    pub schema: Arc<Value>,
    /// Search words: terms of name, tags and keywords (for the offline model).
    pub words: Arc<[String]>,
    /// Whether it belongs to the controller (`discover`, `load_tool`, `load_skill`, `tool_search`, `ask_user`).
    pub meta: bool,
    /// Whether it is here because somebody loaded it: the oldest of these leave first when a provider takes
    /// fewer tools than there are.
    pub loaded: bool,
}

/// Whether the model may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    Auto,
    /// Text only.
    None,
}

/// One model step.
#[derive(Clone)]
pub struct ModelRequest {
    /// System prompt.
    pub system: Arc<str>,
    /// History view and the turn so far; the newest user message is the last `User`.
    pub messages: Vec<ModelMessage>,
    /// Tools in their stable order.
    pub tools: Vec<ModelTool>,
    /// The rest of the turn's catalog, for a client that `wants_catalog`; none of it may be called yet.
    pub deferred: Vec<ModelTool>,
    /// Whether calls are allowed.
    pub tool_choice: ToolChoice,
    /// Model step of this turn, from 1.
    pub step: u32,
    /// The person's newest text without head lines (what the offline model reads).
    pub user_text: String,
    /// `/help` of this person (what the offline model answers greetings with).
    pub help_text: Arc<str>,
    /// Language of the person's texts.
    pub language: crate::config::Language,
    /// Cancellation of the turn.
    pub cancellation: CancellationSignal,
}

/// Token counts of a step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Input.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Read from a cache; part of the input.
    pub cached_read: u64,
    /// Written to a cache; part of the input.
    #[serde(default)]
    pub cached_write: u64,
    /// Reasoning.
    pub reasoning: u64,
    /// Whether it is an estimate.
    pub estimated: bool,
    /// Cost by the model's prices.
    pub cost_usd: f64,
}

impl Usage {
    /// Adds another step's.
    pub fn add(&mut self, other: &Usage) {
        self.input += other.input;
        self.output += other.output;
        self.cached_read += other.cached_read;
        self.cached_write += other.cached_write;
        self.reasoning += other.reasoning;
        self.estimated |= other.estimated;
        self.cost_usd += other.cost_usd;
    }
}

/// Why the stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// End of the answer.
    End,
    /// Calls follow.
    ToolUse,
    /// Cut by length.
    Length,
    /// Refused.
    Refusal,
}

/// One event of a model stream.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// Visible text.
    Text(String),
    /// A whole call, assembled.
    Call(ModelCall),
    /// A part its maker wants back.
    Opaque(Opaque),
    /// Another model answers this step: its name.
    Answering(String),
    /// Usage.
    Usage(Usage),
    /// A repeat starts: forget this step's text so far.
    Restart,
    /// A tool was left out of this step: the provider refused it, or it takes no more (wire name, reason).
    ToolRefused(String, String),
    /// End.
    Stop(StopReason),
}

/// Why a model step failed after its own repeats.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Not reachable, overloaded, or its key is refused.
    #[error("model unavailable: {0}")]
    Unavailable(String),
    /// Our request was refused.
    #[error("model rejected the request: {0}")]
    Rejected(String),
    /// Our request has too many bytes for the service, or for something before it.
    #[error("model takes no request of this size: {0}")]
    TooLarge(String),
    /// The conversation is too long for it.
    #[error("too long for the model")]
    TooLong,
    /// Cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// A model client.
#[async_trait]
pub trait ModelClient: Send + Sync {
    /// Name shown in reports: the model id, `offline` for the built-in.
    fn name(&self) -> &str;

    /// Whether requests should carry the deferred part of the catalog.
    fn wants_catalog(&self) -> bool {
        false
    }

    /// Most tools of one request.
    fn max_tools(&self) -> usize {
        usize::MAX
    }

    /// Whether it can see images.
    fn sees_images(&self) -> bool {
        false
    }

    /// Starts a step.
    async fn complete(
        &self,
        request: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError>;
}
