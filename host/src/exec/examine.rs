//! Phases 1 to 6: everything that is decided without a side effect.

use super::ToolExecutor;
use super::arguments::{self, Frozen};
use super::permission::{PermissionDecision, as_opinion, facts_of};
use super::ports::Refused;
use super::state::Ordinal;
use crate::admission::{
    AccessVerdict, ApprovalDecision, Declared, Extra, Facts, Gated, LivePolicy, Opinion, access, approval,
    can_access_tool,
};
use crate::index::Tool;
use crate::session::FileDigest;
use plugin_sdk::{ToolError, ToolExecutionContext, ToolUse};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A call that passed phases 1 to 6.
pub(super) struct Examined<'a> {
    pub(super) tool: &'a Tool,
    pub(super) frozen: Frozen,
    pub(super) decision: ApprovalDecision,
    /// What is said about asking, the way to the tool included.
    pub(super) declared: &'a Declared,
    /// Files of the workspace that a person said yes to.
    pub(super) approved_files: OnceLock<Vec<FileDigest>>,
}

impl Examined<'_> {
    /// What makes two calls equal.
    pub(super) fn key(&self) -> String {
        call_key(self.tool, &self.frozen)
    }

    pub(super) fn needs_person(&self) -> bool {
        self.decision.decision == Opinion::Ask
    }
}

fn call_key(tool: &Tool, frozen: &Frozen) -> String {
    format!("{}\n{}", tool.qualified, frozen.args_hash)
}

/// A call that was stopped, with what was known of it by then.
pub(super) struct Stopped<'a> {
    pub(super) tool: Option<&'a Tool>,
    /// Key for the guard against repeats; `None` when the guard itself stopped it.
    pub(super) key: Option<String>,
    pub(super) frozen: Option<Frozen>,
    pub(super) error: ToolError,
}

impl ToolExecutor {
    /// Phases 1 to 6.
    pub(super) fn examine<'a>(
        &'a self,
        call: &ToolUse,
        place: Ordinal,
        cx: &ToolExecutionContext,
    ) -> Result<Examined<'a>, Box<Stopped<'a>>> {
        let raw_key = format!("{}\nraw {}", call.name, arguments::raw_hash(call));
        self.repeats(&raw_key).map_err(|error| Box::new(Stopped { tool: None, key: None, frozen: None, error }))?;
        let early = |tool, error| Box::new(Stopped { tool, key: Some(raw_key.clone()), frozen: None, error });
        let tool = self.resolve(&call.name).map_err(|error| early(None, error))?;
        let sent = arguments::parse(call).map_err(|error| early(Some(tool), error))?;
        let frozen = arguments::validate(tool, sent).map_err(|error| early(Some(tool), error))?;
        match self.judge(tool, &frozen, place, cx) {
            Ok(decision) => Ok(Examined {
                tool,
                frozen,
                decision,
                declared: self.gated(tool).declared,
                approved_files: OnceLock::new(),
            }),
            Err(error) => {
                let key = (error.code != "LOOP_BLOCKED").then(|| call_key(tool, &frozen));
                Err(Box::new(Stopped { tool: Some(tool), key, frozen: Some(frozen), error }))
            }
        }
    }

    /// Phases 4 to 6.
    fn judge(
        &self,
        tool: &Tool,
        frozen: &Frozen,
        place: Ordinal,
        cx: &ToolExecutionContext,
    ) -> Result<ApprovalDecision, ToolError> {
        let (facts, policy) = self.fresh(cx);
        self.admit(tool, &facts, &policy)?;
        if let Some(turn) = &self.turn {
            turn.state.limits(place, self.nest.depth)?;
        }
        self.repeats(&call_key(tool, frozen))?;
        self.decide(tool, frozen, cx, (&facts, &policy))
    }

    /// Phase 6: the five opinions, as they are at this moment; a deny is an error.
    pub(super) fn decide(
        &self,
        tool: &Tool,
        frozen: &Frozen,
        cx: &ToolExecutionContext,
        (facts, policy): (&Facts, &LivePolicy),
    ) -> Result<ApprovalDecision, ToolError> {
        if let (None, Some(own)) = (&self.turn, &self.base.fittings.permission) {
            let judged = catch_unwind(AssertUnwindSafe(|| own.check(tool, &frozen.arguments, cx)));
            let decision = as_opinion(judged.unwrap_or_else(|_| PermissionDecision::failed()));
            denied(&decision)?;
            return Ok(decision);
        }
        let extra = Extra {
            dedicated: tool.from.callable.dedicated(&frozen.arguments, cx),
            parent: None,
            granted: self.standing_grant(tool, policy).is_some(),
        };
        let decision = approval(&self.gated(tool), facts, policy, &extra);
        denied(&decision)?;
        Ok(decision)
    }

    /// A tool for the approval decision; a chat command may ask beside it, for the call it makes itself.
    pub(super) fn gated<'a>(&'a self, tool: &'a Tool) -> Gated<'a> {
        let turn = self.turn.as_ref().filter(|_| self.nest.depth <= 1);
        tool.gated().reached_by(turn.and_then(|t| t.ports.gates.command.as_ref()))
    }

    /// The remembered yes that covers a tool as it is.
    pub(super) fn standing_grant(&self, tool: &Tool, policy: &LivePolicy) -> Option<String> {
        let grants = self.turn.as_ref()?.ports.gates.grants.as_ref().filter(|g| !g.is_empty())?;
        let remember = Duration::from_secs(policy.input().approval.remember_days.saturating_mul(86_400));
        grants.standing(&tool.qualified, &tool.tool_hash(), remember)
    }

    /// Phase 1.
    fn resolve(&self, name: &str) -> Result<&Tool, ToolError> {
        let offered = match (&self.nest.offered, &self.turn) {
            (Some(own), _) => own.may_call(name),
            (None, Some(turn)) => turn.ports.offered.may_call(name),
            (None, None) => self.listed(name),
        };
        let qualified = offered.map_err(not_offered)?;
        self.base.index.get(&qualified).ok_or_else(|| not_offered(Refused::Gone(qualified)))
    }

    /// Without a turn every tool that is not hidden counts as sent.
    fn listed(&self, name: &str) -> Result<String, Refused> {
        match self.base.index.get(name) {
            Some(tool) if tool.def().options.hidden => Err(Refused::NotListed(tool.qualified.to_string())),
            Some(tool) => Ok(tool.qualified.to_string()),
            None => Err(Refused::Unknown { nearest: self.base.index.nearest(name, 3) }),
        }
    }

    fn repeats(&self, key: &str) -> Result<(), ToolError> {
        let Some(turn) = &self.turn else { return Ok(()) };
        let guard = self.base.bot.agent.loop_guard;
        if !turn.state.is_loop(key, guard) {
            return Ok(());
        }
        let message = format!(
            "blocked by agent.loop_guard: this call gave the same result {guard} times in a row; \
             do something else or answer with what you have"
        );
        Err(ToolError::new("LOOP_BLOCKED", message))
    }

    /// The facts of this moment: a role that was taken away meanwhile no longer counts.
    pub(super) fn fresh(&self, cx: &ToolExecutionContext) -> (Facts, Arc<LivePolicy>) {
        match &self.turn {
            Some(turn) => {
                let policy = turn.ports.policy.read();
                (turn.facts(&policy), policy)
            }
            None => (facts_of(cx), Arc::clone(&self.base.policy)),
        }
    }

    /// Phase 4.
    pub(super) fn admit(&self, tool: &Tool, facts: &Facts, policy: &LivePolicy) -> Result<(), ToolError> {
        let name = || tool.qualified.to_string();
        let verdict = access(facts, policy);
        let let_in = self.turn.as_ref().is_some_and(|t| t.let_in);
        if verdict == AccessVerdict::Denied || (let_in && !verdict.is_granted()) {
            let because = if verdict == AccessVerdict::Denied { "access.deny" } else { "access" };
            return Err(not_offered(Refused::NotAdmitted(name())).detail("because", because));
        }
        can_access_tool(&tool.guarded(), facts, policy)
            .map_err(|denial| not_offered(Refused::NotAdmitted(name())).detail("because", denial.reason))
    }
}

/// A deny beats everything, a yes included.
pub(super) fn denied(decision: &ApprovalDecision) -> Result<(), ToolError> {
    if decision.decision != Opinion::Deny {
        return Ok(());
    }
    let because = decision.deciding().next();
    let source = because.map_or("policy", |b| b.source.as_str());
    let reason = because.map_or("deny", |b| b.value.as_str());
    let code = decision.code.as_deref().unwrap_or("PERMISSION_ERROR");
    let error = ToolError::new(code, format!("refused by {source}: {reason}"));
    Err(error.detail("policy", source).detail("reason", reason))
}

/// What a caller is told about a name it may not call.
fn not_offered(refused: Refused) -> ToolError {
    let not_allowed =
        |message: String, reason: &str| ToolError::new("TOOL_NOT_ALLOWED", message).detail("reason", reason);
    match refused {
        Refused::Unknown { nearest } => {
            let error = ToolError::new(
                "NOT_FOUND",
                match nearest.as_slice() {
                    [] => "there is no tool of this name".to_string(),
                    names => format!("there is no tool of this name; near are: {}", names.join(", ")),
                },
            );
            error.detail("nearest", nearest)
        }
        Refused::NotLoaded(name) => {
            not_allowed(format!("`{name}` is not loaded: load it first, then call it in the next step"), "not_loaded")
                .retryable()
        }
        Refused::NotAdmitted(name) => not_allowed(format!("`{name}` is not available here"), "not_admitted"),
        Refused::NotListed(name) => not_allowed(format!("`{name}` cannot be called by a model"), "not_listed"),
        Refused::Gone(name) => not_allowed(format!("`{name}` is no longer available"), "gone"),
    }
}
