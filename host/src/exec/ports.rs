//! What the executor asks of the turn it works for.

use crate::admission::Because;
use crate::index::Tool;
use async_trait::async_trait;
use plugin_sdk::{EffectivePolicy, OwnerPath};
use serde_json::{Map, Value};
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
}

/// A call that needs a person's yes.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// Call id.
    pub call_id: String,
    /// Qualified name.
    pub tool: String,
    /// Declaring owner.
    pub owner: String,
    /// The frozen arguments: exactly what will run. A `${secret.NAME}` text is still a text here.
    pub arguments: Map<String, Value>,
    /// The arguments as they may be shown, `key: JSON` each, values marked secret masked.
    pub shown: Vec<String>,
    /// Hash of the frozen arguments.
    pub args_hash: String,
    /// Every reason.
    pub because: Vec<Because>,
    /// Permits of who may answer.
    pub approvers: Vec<String>,
    /// Whether the tool executes programs: then the requester alone is not enough, in private neither.
    pub executes: bool,
    /// How long the question stays open.
    pub timeout: Duration,
}

/// How a request for approval ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Yes, this once; who said it.
    Allowed(String),
    /// No; who said it.
    Rejected(String),
    /// No answer in time: means no.
    Expired,
    /// It cannot be shown to anybody who may answer; why.
    Unavailable(String),
    /// The turn was stopped meanwhile.
    Withdrawn,
}

/// Asks a person whether a call may run.
#[async_trait]
pub trait ApprovalPort: Send + Sync {
    /// Shows the request and waits for the answer, at most `request.timeout`.
    async fn ask(&self, request: ApprovalRequest) -> ApprovalAnswer;
}
