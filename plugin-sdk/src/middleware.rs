//! Middleware: code of an embedding program around the bodies of tools.

use crate::{ToolError, ToolResult};
use async_trait::async_trait;
use serde_json::{Map, Value};
use std::marker::Send as SendBound;
use std::path::PathBuf;
use std::sync::Arc;

/// The call a middleware sees: a copy; changing it changes nothing.
// SHAPE: 04 §9
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Call id.
    pub tool_use_id: String,
    /// Qualified name.
    pub tool_name: String,
    /// The frozen arguments.
    pub arguments: Map<String, Value>,
    /// Agent.
    pub agent_id: String,
    /// Session key.
    pub session_id: String,
    /// Turn id.
    pub run_id: String,
    /// New each time a waiting turn continues.
    pub activation_id: String,
    /// Root of the turn's files.
    pub workspace_root: PathBuf,
}

/// What runs behind a wrapper: the next one, at last the body.
#[async_trait]
pub trait RunNext: SendBound + Sync {
    /// Runs it and gives its result; an error when it cannot be run (again).
    async fn run_next(&self) -> Result<ToolResult, ToolError>;
}

/// The rest of a call. Works once and only while its own wrapper runs.
pub struct ToolNext(Arc<dyn RunNext>);

impl ToolNext {
    /// Around `rest`; a test of a middleware may bring its own.
    pub fn new(rest: Arc<dyn RunNext>) -> Self {
        Self(rest)
    }

    /// Runs the rest of the call. A second use, and one after the wrapper has returned, is an error.
    pub async fn run(&self) -> Result<ToolResult, ToolError> {
        self.0.run_next().await
    }
}

/// Wraps every call of a program's executor.
///
/// ```
/// use plugin_sdk::{ToolCall, ToolError, ToolMiddleware, ToolNext, ToolResult};
///
/// struct Quiet;
/// #[async_trait::async_trait]
/// impl ToolMiddleware for Quiet {
///     async fn wrap_tool_call(&self, call: ToolCall, next: ToolNext) -> Result<ToolResult, ToolError> {
///         if call.tool_name == "noisy" {
///             return Ok(ToolResult::text("not now"));
///         }
///         next.run().await
///     }
/// }
/// ```
#[async_trait]
pub trait ToolMiddleware: SendBound + Sync {
    /// Gives the result of the call: its own, without `next`, or what it makes of the result of `next`.
    async fn wrap_tool_call(&self, call: ToolCall, next: ToolNext) -> Result<ToolResult, ToolError>;
}
