//! The call envelope: the same meaning in every runtime.

use crate::{ContentBlock, Origin, Principal, ToolArtifact, ToolError, ToolExecutionContext, ToolResult};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The policy part of a call's context.
// SHAPE: 06 §1
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallPolicy {
    /// Nobody can be asked.
    pub unattended: bool,
    /// Permissions in force.
    pub permissions: Vec<String>,
    /// Whether the network may be used.
    pub network: bool,
    /// `none`, `data` or `workspace`.
    pub filesystem: String,
}

/// The context part of a call. Secrets are never in it.
// SHAPE: 06 §1
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallContext {
    /// Owner path.
    pub owner: String,
    /// Generation number.
    pub generation: u64,
    /// Session key.
    pub session_id: String,
    /// Turn id.
    pub turn_id: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Who it is for.
    pub principal: Principal,
    /// Effective policy.
    pub policy: CallPolicy,
    /// The owner's configuration.
    pub config: Map<String, Value>,
    /// Root of the turn's files.
    pub workspace_root: String,
    /// The owner's own folder.
    pub data_dir: String,
    /// Milliseconds left.
    pub deadline_ms: u64,
    /// Language of texts.
    pub locale: String,
}

/// What a runtime is given.
// SHAPE: 06 §1
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallRequest {
    /// Call id.
    pub call_id: String,
    /// Qualified name.
    pub tool: String,
    /// Validated arguments.
    pub input: Map<String, Value>,
    /// Context.
    pub context: CallContext,
}

impl CallRequest {
    /// The envelope of a call made in `cx` with validated arguments and `deadline_ms` left.
    pub fn from_context(cx: &ToolExecutionContext, input: Map<String, Value>, deadline_ms: u64) -> Self {
        Self {
            call_id: cx.call_id.clone(),
            tool: cx.tool_name.clone(),
            input,
            context: CallContext {
                owner: cx.owner.clone(),
                generation: cx.generation,
                session_id: cx.session_id.clone(),
                turn_id: cx.turn_id.clone(),
                origin: cx.origin.clone(),
                principal: cx.principal.clone(),
                policy: CallPolicy {
                    unattended: cx.policy.unattended,
                    permissions: cx.policy.permissions.clone(),
                    network: cx.policy.network,
                    filesystem: cx.policy.filesystem.clone(),
                },
                config: cx.config.clone(),
                workspace_root: cx.workspace_root.to_string_lossy().into_owned(),
                data_dir: cx.data_dir.as_ref().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default(),
                deadline_ms,
                locale: cx.locale.clone(),
            },
        }
    }
}

/// What a runtime gives back.
// SHAPE: 06 §1
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallResult {
    /// Blocks.
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// Structured data.
    #[serde(default)]
    pub data: Option<Value>,
    /// Whether it failed.
    #[serde(default)]
    pub is_error: bool,
    /// Why.
    #[serde(default)]
    pub error: Option<ToolError>,
    /// File to keep; must lie in the workspace or the plugin's data folder.
    #[serde(default)]
    pub artifact: Option<String>,
    /// Numbers.
    #[serde(default)]
    pub stats: Option<Map<String, Value>>,
}

/// Something that runs a checked call. Implemented by runtimes and by the host's own tools.
///
/// ```
/// use plugin_sdk::{Callable, ToolExecutionContext, ToolResult};
/// use serde_json::{Map, Value};
///
/// struct Echo;
/// #[async_trait::async_trait]
/// impl Callable for Echo {
///     async fn call(&self, input: Map<String, Value>, _cx: &ToolExecutionContext) -> ToolResult {
///         ToolResult::text(input.get("message").and_then(Value::as_str).unwrap_or_default())
///     }
/// }
/// ```
#[async_trait]
pub trait Callable: std::marker::Send + Sync {
    /// Runs the body. Arguments are validated and complete; the identity of the result is set by the executor.
    async fn call(&self, input: Map<String, Value>, cx: &ToolExecutionContext) -> ToolResult;

    /// Whether the body takes its own deadline (command tools); otherwise the executor's timer counts.
    fn owns_timeout(&self) -> bool {
        false
    }

    /// What the tool's own policy (path, command, URL) says about this one call; `None` when it has none.
    /// Only a tool of the host gains by `Verified`; everybody's `Ask` and `Deny` count.
    fn dedicated(&self, _input: &Map<String, Value>, _cx: &ToolExecutionContext) -> Option<Dedicated> {
        None
    }

    /// The command line this call would run, so that an approval also covers the files it names.
    fn command_line(&self, _input: &Map<String, Value>, _cx: &ToolExecutionContext) -> Option<CommandLine> {
        None
    }
}

/// The opinion of a dedicated policy about one concrete operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dedicated {
    /// Judged and found without risk.
    Verified,
    /// A person decides; why.
    Ask(String),
    /// Refused.
    Deny {
        /// Code of the error the model sees, as `COMMAND_DENIED`.
        code: String,
        /// Why.
        reason: String,
    },
}

/// A command line as words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The first names the program.
    pub words: Vec<String>,
    /// Where it runs.
    pub cwd: std::path::PathBuf,
}

impl CallResult {
    /// The result fields a runtime's answer becomes, without artifact handling.
    pub fn into_tool_result(self) -> ToolResult {
        let mut r = ToolResult { content: self.content, is_error: self.is_error, ..ToolResult::empty() };
        if let Some(error) = self.error {
            r.is_error = true;
            r.error = Some(error);
        }
        match self.data {
            Some(Value::Object(map)) => r.data = map,
            Some(other) => {
                r.data.insert("value".into(), other);
            }
            None => {}
        }
        if let Some(path) = self.artifact {
            r.artifact = Some(ToolArtifact {
                path,
                mime_type: "text/plain".into(),
                size_bytes: 0,
                preview: String::new(),
                text_path: None,
            });
        }
        r.stats = self.stats.unwrap_or_default();
        r
    }
}
