//! Whether a call of a program's own executor may run: a policy of the program, or the default one.

use crate::admission::{ApprovalDecision, Because, Extra, Facts, LivePolicy, Opinion, PolicyInput, approval};
use crate::config::{BotConfig, Mode};
use crate::index::Tool;
use plugin_sdk::ToolExecutionContext;
use serde_json::{Map, Value};

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionEffect {
    /// It runs.
    Allow,
    /// It is refused.
    Deny,
    /// A person has to say yes.
    RequireHuman,
}

/// A decision without a reason would explain nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a decision that stops a call needs a reason")]
pub struct BlankReason;

/// An effect and why. One that stops a call always has a reason.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionDecision {
    effect: PermissionEffect,
    reason: String,
    metadata: Map<String, Value>,
}

impl PermissionDecision {
    /// It runs.
    pub fn allow() -> Self {
        Self { effect: PermissionEffect::Allow, reason: String::new(), metadata: Map::new() }
    }

    /// It is refused.
    pub fn deny(reason: impl Into<String>) -> Result<Self, BlankReason> {
        Self::because(PermissionEffect::Deny, reason.into())
    }

    /// A person has to say yes.
    pub fn require_human(reason: impl Into<String>) -> Result<Self, BlankReason> {
        Self::because(PermissionEffect::RequireHuman, reason.into())
    }

    /// The policy panicked: nothing is known, so nothing runs.
    pub(super) fn failed() -> Self {
        let reason = "the policy itself failed".to_string();
        Self { effect: PermissionEffect::Deny, reason, metadata: Map::new() }
    }

    fn because(effect: PermissionEffect, reason: String) -> Result<Self, BlankReason> {
        if reason.trim().is_empty() {
            return Err(BlankReason);
        }
        Ok(Self { effect, reason, metadata: Map::new() })
    }

    /// Adds facts for whoever reads the refusal.
    #[must_use]
    pub fn metadata(mut self, metadata: Map<String, Value>) -> Self {
        self.metadata = metadata;
        self
    }

    /// The effect.
    pub fn effect(&self) -> PermissionEffect {
        self.effect
    }

    /// The reason; blank only when it runs.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The facts.
    pub fn facts(&self) -> &Map<String, Value> {
        &self.metadata
    }
}

/// Decides about each call before anything happens. It must answer at once and change nothing.
pub trait PermissionPolicy: Send + Sync {
    /// Judges validated arguments.
    fn check(&self, tool: &Tool, arguments: &Map<String, Value>, cx: &ToolExecutionContext) -> PermissionDecision;
}

/// What tools declare and what they can do decides; write and execute need a person.
pub struct DefaultPermissionPolicy {
    input: PolicyInput,
    live: LivePolicy,
}

impl Default for DefaultPermissionPolicy {
    fn default() -> Self {
        Self::new()
    }
}

impl DefaultPermissionPolicy {
    /// Both modes `confirm`.
    pub fn new() -> Self {
        Self::of(PolicyInput::from(&BotConfig::default()))
    }

    /// What becomes of tools that write.
    #[must_use]
    pub fn write_mode(mut self, mode: Mode) -> Self {
        self.input.approval.write_mode = mode;
        Self::of(self.input)
    }

    /// What becomes of tools that run programs.
    #[must_use]
    pub fn execute_mode(mut self, mode: Mode) -> Self {
        self.input.approval.execute_mode = mode;
        Self::of(self.input)
    }

    fn of(input: PolicyInput) -> Self {
        Self { live: LivePolicy::new(input.clone()), input }
    }
}

impl PermissionPolicy for DefaultPermissionPolicy {
    fn check(&self, tool: &Tool, arguments: &Map<String, Value>, cx: &ToolExecutionContext) -> PermissionDecision {
        let extra = Extra { dedicated: tool.from.callable.dedicated(arguments, cx), ..Extra::default() };
        let decision = approval(&tool.gated(), &facts_of(cx), &self.live, &extra);
        let reasons: Vec<String> = decision.deciding().map(|b| format!("{} = {}", b.source, b.value)).collect();
        let reason = if reasons.is_empty() { "policy".to_string() } else { reasons.join(", ") };
        let effect = match decision.decision {
            Opinion::Allow => return PermissionDecision::allow(),
            Opinion::Ask => PermissionEffect::RequireHuman,
            Opinion::Deny => PermissionEffect::Deny,
        };
        PermissionDecision { effect, reason, metadata: Map::new() }
    }
}

/// A program's decision in the words of the host's own.
pub(super) fn as_opinion(decision: PermissionDecision) -> ApprovalDecision {
    let effect = match decision.effect {
        PermissionEffect::Allow => Opinion::Allow,
        PermissionEffect::Deny => Opinion::Deny,
        PermissionEffect::RequireHuman => Opinion::Ask,
    };
    ApprovalDecision {
        decision: effect,
        because: vec![Because { source: "permission_policy".into(), value: decision.reason, effect }],
        approvers: Vec::new(),
        auto_master: false,
        granted: false,
        code: None,
    }
}

/// The facts of a call outside a turn.
pub(super) fn facts_of(cx: &ToolExecutionContext) -> Facts {
    Facts {
        conversation: cx.origin.conversation.clone(),
        principal: cx.principal.clone(),
        platform_permissions: None,
        attended: !cx.policy.unattended,
    }
}
