//! What a running tool knows: its owner's view of the turn, frozen.

use crate::ports::{Ask, CallTool};
use crate::{ConversationRef, Principal, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::any::Any;
use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// The work was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// One token per turn: woken at once, never reset. Clones share it.
#[derive(Clone, Default)]
pub struct CancellationSignal(Arc<SignalInner>);

#[derive(Default)]
struct SignalInner {
    requested: AtomicBool,
    wake: Notify,
    parent: Option<CancellationSignal>,
}

impl CancellationSignal {
    /// A fresh signal.
    pub fn new() -> Self {
        Self::default()
    }

    /// A signal that is also requested when `self` is; requesting the child leaves `self` alone.
    pub fn child(&self) -> Self {
        Self(Arc::new(SignalInner { parent: Some(self.clone()), ..SignalInner::default() }))
    }

    /// Requests cancellation and wakes every waiter.
    pub fn request(&self) {
        self.0.requested.store(true, Ordering::SeqCst);
        self.0.wake.notify_waiters();
    }

    /// Whether it was requested.
    pub fn requested(&self) -> bool {
        self.0.requested.load(Ordering::SeqCst) || self.0.parent.as_ref().is_some_and(Self::requested)
    }

    /// `Err(Cancelled)` once requested.
    pub fn raise_if_requested(&self) -> Result<(), Cancelled> {
        if self.requested() { Err(Cancelled) } else { Ok(()) }
    }

    /// Ends when it is requested.
    pub fn cancelled(&self) -> Pin<Box<dyn Future<Output = ()> + std::marker::Send + '_>> {
        Box::pin(async move {
            loop {
                let own = self.0.wake.notified();
                tokio::pin!(own);
                own.as_mut().enable();
                if self.requested() {
                    return;
                }
                match &self.0.parent {
                    None => own.await,
                    Some(parent) => tokio::select! { () = own => {}, () = parent.cancelled() => {} },
                }
            }
        })
    }
}

impl fmt::Debug for CancellationSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CancellationSignal({})", self.requested())
    }
}

/// What started the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// A chat message.
    Message,
    /// A schedule.
    Schedule,
    /// A timer or task of a plugin.
    Plugin,
    /// A client of the host's MCP server.
    Mcp,
    /// An HTTP or command-line call.
    Http,
    /// A program that uses the host as a library.
    Program,
}

/// Where a call comes from.
// SHAPE: 04 §6
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Origin {
    /// What started it.
    pub kind: OriginKind,
    /// The conversation.
    #[serde(flatten)]
    pub conversation: ConversationRef,
    /// The message answered.
    pub message_id: Option<String>,
}

/// The effective policy of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EffectivePolicy {
    /// Nobody can be asked.
    pub unattended: bool,
    /// Permissions in force, one text each (`http:api.example`).
    pub permissions: Vec<String>,
    /// Whether the owner may use the network.
    pub network: bool,
    /// `none`, `data` or `workspace`.
    pub filesystem: String,
}

/// A value of the host itself, opaque to plugins.
#[derive(Clone, Default)]
pub struct HostSlot(Option<Arc<dyn Any + std::marker::Send + Sync>>);

impl HostSlot {
    /// Wraps a value.
    pub fn new<T: Any + std::marker::Send + Sync>(value: Arc<T>) -> Self {
        Self(Some(value))
    }

    /// The value when it is a `T`.
    pub fn get<T: Any + std::marker::Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.clone()?.downcast::<T>().ok()
    }
}

impl fmt::Debug for HostSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostSlot")
    }
}

/// The context of one call. It is always the declaring owner's, in the turn's generation, whoever calls.
// SHAPE: 04 §6
#[derive(Clone)]
pub struct ToolExecutionContext {
    /// Root of files and commands of this turn; the only required value.
    pub workspace_root: PathBuf,
    /// The owner's own configuration.
    pub config: Map<String, Value>,
    /// Owner path of the tool.
    pub owner: String,
    /// Generation number, 0 outside a bot.
    pub generation: u64,
    /// Where the call comes from.
    pub origin: Origin,
    /// Who it is for.
    pub principal: Principal,
    /// Effective policy.
    pub policy: EffectivePolicy,
    /// Asks the person; `None` when nobody can be asked.
    pub question: Option<Arc<dyn Ask>>,
    /// Calls other tools by name.
    pub call_tool: Option<Arc<dyn CallTool>>,
    /// Call id.
    pub call_id: String,
    /// Qualified name.
    pub tool_name: String,
    /// Turn id.
    pub turn_id: String,
    /// Session key.
    pub session_id: String,
    /// Agent.
    pub agent_id: String,
    /// Permission mode label.
    pub permission_mode: String,
    /// Free.
    pub metadata: Map<String, Value>,
    /// Cancellation of the turn.
    pub cancellation: CancellationSignal,
    /// Deadline of this call in seconds.
    pub tool_timeout_seconds: Option<f64>,
    /// Folder of the owner's own data.
    pub data_dir: Option<PathBuf>,
    /// Language of texts.
    pub locale: String,
    /// Host-internal value; plugins see nothing in it.
    pub host: HostSlot,
}

impl ToolExecutionContext {
    /// A context with the defaults of a program that uses the host as a library.
    pub fn new(workspace_root: impl Into<PathBuf>) -> Self {
        Self {
            workspace_root: workspace_root.into(),
            config: Map::new(),
            owner: ".".into(),
            generation: 0,
            origin: Origin {
                kind: OriginKind::Program,
                conversation: ConversationRef {
                    platform: "program".into(),
                    endpoint: "program".into(),
                    scope: crate::Scope::Private,
                    scene: String::new(),
                    parent: None,
                    thread: None,
                },
                message_id: None,
            },
            principal: Principal::system("program"),
            policy: EffectivePolicy { filesystem: "none".into(), ..EffectivePolicy::default() },
            question: None,
            call_tool: None,
            call_id: String::new(),
            tool_name: String::new(),
            turn_id: String::new(),
            session_id: String::new(),
            agent_id: String::new(),
            permission_mode: "default".into(),
            metadata: Map::new(),
            cancellation: CancellationSignal::new(),
            tool_timeout_seconds: None,
            data_dir: None,
            locale: "en".into(),
            host: HostSlot::default(),
        }
    }

    /// Asks through the port, or the error for a turn without one.
    pub async fn ask(&self, question: crate::ports::Question) -> Result<crate::ports::Answer, ToolError> {
        match &self.question {
            Some(port) => port.ask(question).await,
            None => Err(ToolError::new("QUESTION_UNAVAILABLE", "nobody can be asked in this turn")),
        }
    }
}

impl fmt::Debug for ToolExecutionContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolExecutionContext")
            .field("owner", &self.owner)
            .field("tool_name", &self.tool_name)
            .field("call_id", &self.call_id)
            .field("turn_id", &self.turn_id)
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}
