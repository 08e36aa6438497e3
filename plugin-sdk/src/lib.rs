//! The contract between the Understudy host, its channel adapters and its plugins.
//!
//! Everything here is data and traits: no IO, no clock, no global state. The host, every adapter and
//! every Rust plugin share exactly these types; their JSON forms are what crosses a process boundary.

mod adapter;
mod call;
mod context;
mod diagnostic;
mod hook;
mod limits;
mod message;
mod middleware;
pub mod ports;
mod principal;
mod result;
mod rich;
mod tool;

pub use adapter::{
    Ability, Adapter, AdapterError, AdapterInfo, Connection, Delivery, Draft, Edit, Inbound, Lookup, Outgoing,
    OutgoingKind, PauseScope, PieceField, Receive, Send, SendError, Sent, Settled, Unsupported,
};
pub use call::{CallContext, CallPolicy, CallRequest, CallResult, Callable, CommandLine, Dedicated};
pub use context::{CancellationSignal, Cancelled, EffectivePolicy, HostSlot, Origin, OriginKind, ToolExecutionContext};
pub use diagnostic::{Diagnostic, Diagnostics, Related, Severity, Span};
pub use hook::{
    BodyStatus, HookError, HookEvent, HookEventKind, HookHandler, HookPayload, HookRegistration, HookResult,
};
pub use limits::{AdapterLimits, Dialect, EditInterval, SendRate, TextUnit};
pub use message::{
    Addressed, Button, ButtonStyle, CommandCall, ForwardEntry, MediaRef, MediaSource, MentionTarget, Message, ReplyTo,
    Segment, TextFormat,
};
pub use middleware::{RunNext, ToolCall, ToolMiddleware, ToolNext};
pub use principal::{ConversationRef, OwnerPath, Principal, Role, Scope, SenderKind};
pub use result::{ContentBlock, ErrorCode, ImageData, ToolArtifact, ToolError, ToolResult, ToolUse};
pub use rich::{EntityKind, RichText, TextEntity};
pub use tool::{
    Approval, Capability, ChatCommand, ContextRetention, ExecutionMode, PreviewMode, ToolDef, ToolExample, ToolOptions,
};

/// Version of this contract, compared with a plugin's `sdk` range.
pub const SDK_VERSION: &str = env!("CARGO_PKG_VERSION");
