//! Phase 7: a person's yes, where one is needed.

use super::claim::journal_error;
use super::examine::{Examined, denied};
use super::executor::{TurnScope, cancelled};
use super::ports::{ApprovalAnswer, ApprovalPort, ApprovalRequest};
use super::{ToolExecutor, arguments};
use crate::admission::{approval, may_answer};
use plugin_sdk::{Capability, ToolError, ToolExecutionContext};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Why a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Approved {
    /// Nobody had to be asked.
    ByPolicy,
    /// A master asked for it and `approval.auto_approve_master` is on.
    AutoMaster,
    /// This person said yes.
    By(String),
    /// The caller brought the approval along.
    Given,
}

/// What a person is shown.
pub(super) fn request_of(examined: &Examined<'_>, call_id: &str, timeout: Duration) -> ApprovalRequest {
    let options = &examined.tool.def().options;
    ApprovalRequest {
        call_id: call_id.to_string(),
        tool: examined.tool.qualified.to_string(),
        owner: examined.tool.owner().to_string(),
        arguments: examined.frozen.arguments.clone(),
        shown: arguments::shown(examined.tool, &examined.frozen.arguments),
        args_hash: examined.frozen.args_hash.clone(),
        because: examined.decision.deciding().cloned().collect(),
        approvers: examined.decision.approvers.clone(),
        executes: options.capabilities.iter().flatten().any(|c| *c == Capability::Execute),
        timeout,
    }
}

impl ToolExecutor {
    pub(super) fn approval_timeout(&self, cx: &ToolExecutionContext) -> Duration {
        Duration::from_secs(self.fresh(cx).1.input().approval.timeout_seconds)
    }

    /// Asks where the policy says so; judges admission and denies again after the answer.
    pub(super) async fn approve(
        &self,
        examined: &Examined<'_>,
        call_id: &str,
        cx: &ToolExecutionContext,
        approved: bool,
    ) -> Result<Approved, ToolError> {
        if !examined.needs_person() {
            return Ok(if examined.decision.auto_master { Approved::AutoMaster } else { Approved::ByPolicy });
        }
        if approved {
            return Ok(Approved::Given);
        }
        let Some(turn) = &self.turn else {
            let message = "this call needs a person's approval and nobody can be asked here";
            return Err(ToolError::new("HITL_REQUIRED", message));
        };
        if let Some(earlier) = turn.state.refusal(&examined.key()) {
            return Err(earlier);
        }
        let port = askable(turn)?;
        if !turn.state.take_card(turn.ports.policy.read().input().approval.max_per_turn) {
            return Err(ToolError::new("APPROVAL_LIMIT", "too many approvals were asked for in this turn"));
        }
        let request = request_of(examined, call_id, self.approval_timeout(cx));
        self.note_question(turn, "question.asked", &request, cx, None).await.map_err(|e| journal_error(&e))?;
        let answer = self.wait_for_answer(turn, port, &request, cx).await;
        let kind = match &answer {
            ApprovalAnswer::Allowed(_) | ApprovalAnswer::Rejected(_) => "question.answered",
            ApprovalAnswer::Expired => "question.expired",
            ApprovalAnswer::Unavailable(_) => "question.refused",
            ApprovalAnswer::Withdrawn => "question.withdrawn",
        };
        self.note_question(turn, kind, &request, cx, Some(&answer)).await.map_err(|e| journal_error(&e))?;
        self.judge_answer(turn, examined, answer, cx)
    }

    /// The clock of the turn and of every call around this one stands still meanwhile.
    async fn wait_for_answer(
        &self,
        turn: &TurnScope,
        port: Arc<dyn ApprovalPort>,
        request: &ApprovalRequest,
        cx: &ToolExecutionContext,
    ) -> ApprovalAnswer {
        let _paused: Vec<_> = self.nest.within.iter().chain([&turn.ports.countdown]).map(|c| c.pause()).collect();
        let asked = async {
            // Calls that overlap may both call a tool that asks: their cards come one after another.
            let _card = turn.state.card.lock().await;
            tokio::select! {
                biased;
                answer = port.ask(request.clone()) => answer,
                () = self.base.clock.sleep(request.timeout) => ApprovalAnswer::Expired,
            }
        };
        tokio::select! {
            biased;
            () = cx.cancellation.cancelled() => ApprovalAnswer::Withdrawn,
            answer = asked => answer,
        }
    }

    fn judge_answer(
        &self,
        turn: &TurnScope,
        examined: &Examined<'_>,
        answer: ApprovalAnswer,
        cx: &ToolExecutionContext,
    ) -> Result<Approved, ToolError> {
        let who = match answer {
            ApprovalAnswer::Allowed(who) => who,
            ApprovalAnswer::Rejected(_) => {
                let error = ToolError::new("APPROVAL_REJECTED", "the person asked said no; do not try this call again");
                turn.state.note_refusal(examined.key(), error.clone());
                return Err(error);
            }
            ApprovalAnswer::Expired => {
                return Err(ToolError::new("APPROVAL_EXPIRED", "nobody answered in time, which means no"));
            }
            ApprovalAnswer::Unavailable(why) => return Err(unavailable(&why)),
            ApprovalAnswer::Withdrawn => return Err(cancelled()),
        };
        let (facts, policy) = self.fresh(cx);
        self.admit(examined.tool, &facts, &policy)?;
        denied(&approval(&examined.tool.gated(), &facts, &policy))?;
        if !examined.frozen.is_intact() {
            return Err(ToolError::new("APPROVAL_MISMATCH", "the arguments are not the approved ones"));
        }
        Ok(Approved::By(who))
    }

    async fn note_question(
        &self,
        turn: &TurnScope,
        kind: &'static str,
        request: &ApprovalRequest,
        cx: &ToolExecutionContext,
        answer: Option<&ApprovalAnswer>,
    ) -> Result<(), crate::journal::JournalError> {
        let answered_by = match answer {
            Some(ApprovalAnswer::Allowed(who) | ApprovalAnswer::Rejected(who)) => Some(who.as_str()),
            _ => None,
        };
        let because: Vec<_> = request.because.iter().map(|b| json!({ "source": b.source, "value": b.value })).collect();
        let data = json!({
            "call_id": request.call_id,
            "tool": request.tool,
            "owner": request.owner,
            "args_hash": request.args_hash,
            "conversation": cx.origin.conversation.to_string(),
            "reason": because,
            "effect": answer.map(effect_of),
            "answered_by": answered_by,
        });
        // A question is shown, and a yes acted upon, only once it is on disk.
        self.append(turn, kind, cx, data, true).await
    }
}

fn effect_of(answer: &ApprovalAnswer) -> &'static str {
    match answer {
        ApprovalAnswer::Allowed(_) => "allow",
        ApprovalAnswer::Rejected(_) => "deny",
        ApprovalAnswer::Expired => "expired",
        ApprovalAnswer::Unavailable(_) => "unavailable",
        ApprovalAnswer::Withdrawn => "withdrawn",
    }
}

fn askable(turn: &TurnScope) -> Result<Arc<dyn ApprovalPort>, ToolError> {
    let facts = &turn.ports.facts;
    if !facts.attended {
        return Err(unavailable("this turn is unattended"));
    }
    if !may_answer(&facts.principal) {
        return Err(unavailable("the sender is not an identified person"));
    }
    turn.ports.approval.clone().ok_or_else(|| unavailable("there is no way to ask here"))
}

fn unavailable(why: &str) -> ToolError {
    ToolError::new("APPROVAL_UNAVAILABLE", format!("this call needs an approval and nobody can be asked: {why}"))
}
