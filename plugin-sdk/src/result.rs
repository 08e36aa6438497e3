//! Calls and their results.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One tool call as the model or a caller wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// Call id, unique in its turn.
    pub id: String,
    /// Qualified, wire or alias name.
    pub name: String,
    /// Arguments: a JSON value, or raw text to be parsed.
    pub arguments: Result<Value, String>,
}

impl ToolUse {
    /// A call with parsed arguments.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        Self { id: id.into(), name: name.into(), arguments: Ok(arguments) }
    }

    /// A call whose arguments are still text.
    pub fn raw(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: Err(arguments.into()) }
    }
}

/// Image bytes for a model, base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ImageData {
    /// `image/png`, `image/jpeg` or `image/webp`.
    pub mime: String,
    /// Base64 of the bytes.
    pub data: String,
}

/// One block of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// The image.
        #[serde(flatten)]
        image: ImageData,
    },
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        ContentBlock::Text { text: text.into() }
    }
}

/// A result code: `^[A-Z][A-Z0-9_]{1,63}$`.
pub type ErrorCode = String;

/// The one error a tool can return.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ToolError {
    /// Typed code.
    pub code: ErrorCode,
    /// One sentence for the model.
    pub message: String,
    /// What to do about it.
    #[serde(default)]
    pub help: Option<String>,
    /// Whether the same call may be tried again.
    #[serde(default)]
    pub retryable: bool,
    /// Further facts.
    #[serde(default)]
    pub details: Map<String, Value>,
}

impl ToolError {
    /// An error that is not retryable.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), help: None, retryable: false, details: Map::new() }
    }

    /// Marks it retryable.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// Adds help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds one detail.
    #[must_use]
    pub fn detail(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.details.insert(key.into(), value.into());
        self
    }
}

/// A local file that belongs to a result.
// SHAPE: 04 §7
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ToolArtifact {
    /// Native or published file.
    pub path: String,
    /// `text/plain` unless known better.
    pub mime_type: String,
    /// Bytes.
    pub size_bytes: u64,
    /// What the model sees of it.
    pub preview: String,
    /// The saved whole text, when the text was saved too.
    pub text_path: Option<String>,
}

/// What a call gave.
// SHAPE: 04 §7
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Set by the executor.
    pub tool_use_id: String,
    /// Qualified name, set by the executor.
    pub tool_name: String,
    /// Ordered blocks.
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// Whether it failed.
    #[serde(default)]
    pub is_error: bool,
    /// Why it failed.
    #[serde(default)]
    pub error: Option<ToolError>,
    /// For host code; not sent to the model by itself.
    #[serde(default)]
    pub data: Map<String, Value>,
    /// File reference.
    #[serde(default)]
    pub artifact: Option<ToolArtifact>,
    /// Numbers; `elapsed_ms` always.
    #[serde(default)]
    pub stats: Map<String, Value>,
    /// Free.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Texts of `tool.after` hooks.
    #[serde(default)]
    pub hook_feedback: Vec<String>,
}

impl ToolResult {
    /// A successful text result; an empty text gives no block.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        let content = if text.is_empty() { Vec::new() } else { vec![ContentBlock::text(text)] };
        Self { content, ..Self::empty() }
    }

    /// A success without content.
    pub fn empty() -> Self {
        Self {
            tool_use_id: String::new(),
            tool_name: String::new(),
            content: Vec::new(),
            is_error: false,
            error: None,
            data: Map::new(),
            artifact: None,
            stats: Map::new(),
            metadata: Map::new(),
            hook_feedback: Vec::new(),
        }
    }

    /// A failed result.
    pub fn error(error: ToolError) -> Self {
        Self { is_error: true, error: Some(error), ..Self::empty() }
    }

    /// Adds host data.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        if let Value::Object(map) = data {
            self.data = map;
        }
        self
    }

    /// The blocks a model sees: an error as one text `Error[code]: message` and the images, otherwise the
    /// content; then one block per hook feedback. `(no output)` when there is no text at all.
    pub fn model_blocks(&self) -> Vec<ContentBlock> {
        let mut out = Vec::new();
        if let Some(e) = &self.error {
            out.push(ContentBlock::text(format!("Error[{}]: {}", e.code, e.message)));
            out.extend(self.content.iter().filter(|b| matches!(b, ContentBlock::Image { .. })).cloned());
        } else {
            out.extend(self.content.iter().cloned());
        }
        out.extend(self.hook_feedback.iter().map(|f| ContentBlock::text(format!("[Hook feedback] {f}"))));
        if !out.iter().any(|b| matches!(b, ContentBlock::Text { text } if !text.is_empty())) {
            out.insert(0, ContentBlock::text("(no output)"));
        }
        out
    }

    /// The joined text of `model_blocks`.
    pub fn model_content(&self) -> String {
        let mut parts = Vec::new();
        for b in self.model_blocks() {
            if let ContentBlock::Text { text } = b {
                parts.push(text);
            }
        }
        parts.join("\n")
    }
}
