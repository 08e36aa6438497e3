//! Room 19, `exec`: one tool call in phases.
//! Must not choose tools. Next room: `jobs`.

mod approve;
mod arguments;
mod around;
mod artifacts;
mod body;
mod breaker;
mod claim;
mod countdown;
mod error;
mod examine;
mod executor;
mod fittings;
mod hooks;
mod identity;
mod middleware;
mod nested;
mod permission;
mod plan;
mod ports;
mod project;
mod show;
mod state;
#[cfg(test)]
mod tests;

pub use approve::SHOWN_WHOLE;
pub use artifacts::{ArtifactIndex, ArtifactRoom, Swept, ToolArtifactStore, preview, sweep_artifacts};
pub use breaker::CircuitBreaker;
pub use countdown::{Countdown, Paused};
pub use error::ArtifactError;
pub use executor::{ToolExecutor, TurnPorts};
pub use fittings::{CommandBinding, ToolObservation, ToolObserver};
pub use hooks::{ActiveLevels, BoundHook, HookDispatcher, HookScene};
pub use permission::{BlankReason, DefaultPermissionPolicy, PermissionDecision, PermissionEffect, PermissionPolicy};
pub use plan::{PlannedCall, PlannedState, ToolBatchPlan};
pub use ports::{
    ApprovalAnswer, ApprovalPort, ApprovalRequest, Gates, Membership, Offered, Owners, Refused, SessionOffer,
};
pub use show::hides;
pub use state::{CallRecord, CallStatus};
