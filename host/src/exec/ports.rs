//! What the executor asks of the turn it works for.

use crate::admission::{Because, Declared};
use crate::index::Tool;
use crate::session::{CallIdentity, Gravity, SessionGrants};
use async_trait::async_trait;
use plugin_sdk::{EffectivePolicy, OwnerPath};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// Why a name may not be called here; the qualified name where there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// No such name; at most three admitted ones that are near.
    Unknown {
        /// Nearest first.
        nearest: Vec<String>,
    },
    /// Its full schema was not sent in this step's request.
    NotLoaded(String),
    /// Admission denies it here.
    NotAdmitted(String),
    /// Hidden, or private to something that is not active.
    NotListed(String),
    /// It was there once and is not in this generation.
    Gone(String),
}

/// Which names the caller of this step may use. Implemented by the turn's controller for the model.
pub trait Offered: Send + Sync {
    /// The qualified name behind a wire name, alias or qualified name, if it may be called.
    fn may_call(&self, name: &str) -> Result<String, Refused>;
}

/// What an owner is allowed in this generation.
pub trait Owners: Send + Sync {
    /// The policy its tools see in their context.
    fn policy(&self, owner: &OwnerPath) -> EffectivePolicy;
    /// Whether its code may call `tool` (`permissions.call_tools`).
    fn may_call(&self, owner: &OwnerPath, tool: &Tool) -> bool;
    /// Digest of its sealed files.
    fn digest(&self, _owner: &OwnerPath) -> String {
        String::new()
    }
}

/// What may be remembered of a yes, and what would make the question needless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOffer {
    /// The setting or declaration that ends the asking, for whoever keeps the bot; `None` for `once`.
    pub ends: Option<String>,
}

/// A call that needs a person's yes.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// Id of its record: 128 random bits, hex.
    pub record_id: String,
    /// Which call.
    pub call: CallIdentity,
    /// The frozen arguments: exactly what will run. A `${secret.NAME}` text is still a text here.
    pub arguments: Map<String, Value>,
    /// The arguments as they may be shown, `key: JSON` each, values marked secret masked.
    pub shown: Vec<String>,
    /// The same as one JSON object, when that is too long for a card.
    pub whole: Option<String>,
    /// Every reason.
    pub because: Vec<Because>,
    /// Permits of who may answer.
    pub approvers: Vec<String>,
    /// Whether the requester alone is enough.
    pub gravity: Gravity,
    /// Whether a yes may be remembered for the session.
    pub session: Option<SessionOffer>,
    /// How long the question stays open.
    pub timeout: Duration,
}

/// How a request for approval ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Yes, this once; who said it.
    Allowed(String),
    /// Yes, for this session; who said it.
    AllowedSession(String),
    /// No; who said it.
    Rejected(String),
    /// No answer in time: means no.
    Expired,
    /// It cannot be shown to anybody who may answer; why.
    Unavailable(String),
    /// Too many questions are open or wait.
    Limit,
    /// Its record could not be written, so it was not shown; why.
    Unrecorded(String),
    /// The turn was stopped meanwhile.
    Withdrawn,
}

/// Asks a person whether a call may run.
#[async_trait]
pub trait ApprovalPort: Send + Sync {
    /// Records the request, shows it and waits for the answer, at most `request.timeout`.
    async fn ask(&self, request: ApprovalRequest) -> ApprovalAnswer;

    /// A remembered yes for this tool left, because a session keeps only so many.
    async fn grant_dropped(&self, _tool: &str) {}
}

/// What the person of a turn holds on its platform.
#[async_trait]
pub trait Membership: Send + Sync {
    /// As it is now, or was at most a minute ago; else why it is not known.
    async fn held(&self) -> Result<Vec<String>, String>;
}

/// How the calls of a turn are approved.
#[derive(Clone, Default)]
pub struct Gates {
    /// Asks for a yes; `None` when nobody can be asked.
    pub approval: Option<Arc<dyn ApprovalPort>>,
    /// What was allowed for the session; `None` = nothing is remembered.
    pub grants: Option<SessionGrants>,
    /// Text form of the session, part of what a yes is bound to.
    pub session: String,
    /// What a chat command asks for beside its tool.
    pub command: Option<Declared>,
    /// Looked up again before each call; `None` when no permit needs it.
    pub member: Option<Arc<dyn Membership>>,
}
