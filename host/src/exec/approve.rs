//! Phase 7: a person's yes, where one is needed.

use super::ToolExecutor;
use super::claim::journal_error;
use super::examine::Examined;
use super::executor::{TurnScope, cancelled};
use super::identity::{self, changed_files};
use super::ports::{ApprovalAnswer, ApprovalPort, ApprovalRequest};
use crate::admission::may_answer;
use crate::session::{CallIdentity, FileDigest, fresh_id};
use plugin_sdk::{ToolError, ToolExecutionContext};
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
    /// It was allowed for this session; id of the grant.
    ByGrant(String),
    /// This person said yes; id of the record.
    By(String, String),
    /// The caller brought the approval along.
    Given,
}

impl ToolExecutor {
    /// Asks where the policy says so; judges admission and denies again after the answer.
    pub(super) async fn approve(
        &self,
        examined: &Examined<'_>,
        call_id: &str,
        cx: &ToolExecutionContext,
        approved: bool,
    ) -> Result<Approved, ToolError> {
        if examined.decision.granted {
            return self.by_grant(examined, call_id, cx).await;
        }
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
        let _paused: Vec<_> = self.nest.within.iter().chain([&turn.ports.countdown]).map(|c| c.pause()).collect();
        // Calls that overlap may both call a tool that asks: their cards come one after another.
        let _card = tokio::select! {
            biased;
            () = cx.cancellation.cancelled() => return Err(cancelled()),
            card = turn.state.card.lock() => card,
        };
        if let Some(earlier) = turn.state.refusal(&examined.key()) {
            return Err(earlier);
        }
        if !turn.state.take_card(turn.ports.policy.read().input().approval.max_per_turn) {
            return Err(ToolError::new("APPROVAL_LIMIT", "too many approvals were asked for in this turn"));
        }
        let mut request = self.request_of(examined, call_id, cx);
        request.call.files = identity::files_of(examined, cx).await;
        self.note_question(turn, "question.asked", &request, cx, None).await.map_err(|e| journal_error(&e))?;
        let answer = self.wait_for_answer(port.as_ref(), &request, cx).await;
        self.note_question(turn, kind_of(&answer), &request, cx, Some(&answer)).await.map_err(|e| journal_error(&e))?;
        self.judge_answer(turn, examined, (&request, answer), cx).await
    }

    /// A yes from before: on record before it counts.
    async fn by_grant(
        &self,
        examined: &Examined<'_>,
        call_id: &str,
        cx: &ToolExecutionContext,
    ) -> Result<Approved, ToolError> {
        let Some(turn) = &self.turn else { return Ok(Approved::ByPolicy) };
        let tool = examined.tool;
        let grants = turn.ports.gates.grants.as_ref();
        let standing = self.standing_grant(tool, &turn.ports.policy.read());
        let (Some(grants), Some(id)) = (grants, standing) else {
            // Revoked since phase 6: the call is judged as if it had never been allowed.
            let error = ToolError::new("APPROVAL_STALE", "what was allowed for this session was revoked just now");
            return Err(error.retryable());
        };
        let data = json!({
            "call_id": call_id, "tool": &*tool.qualified, "owner": tool.owner(), "grant_id": id,
            "conversation": cx.origin.conversation.to_string(), "args_hash": examined.frozen.args_hash,
            "effect": "allow", "reason": "grant",
        });
        self.append(turn, "grant.used", cx, data, false).await.map_err(|e| journal_error(&e))?;
        if let Err(e) = grants.used(&id).await {
            tracing::warn!(error = %e, "the use of a grant was not noted; it may be forgotten too early");
        }
        Ok(Approved::ByGrant(id))
    }

    /// What a person would be shown; the files it would run are looked at only when it is asked.
    pub(super) fn request_of(
        &self,
        examined: &Examined<'_>,
        call_id: &str,
        cx: &ToolExecutionContext,
    ) -> ApprovalRequest {
        let call = self.identity(examined, call_id, cx);
        let (facts, policy) = self.fresh(cx);
        // What is shown and stored holds no secret; what is hashed and run are the frozen arguments themselves.
        let mut arguments = examined.frozen.arguments.clone();
        if let Some(turn) = &self.turn {
            turn.ports.redactor.redact_map(&mut arguments);
        }
        let shown = super::show::shown(examined.tool, &arguments);
        let cut = shown.iter().map(|line| line.chars().count()).sum::<usize>() > SHOWN_WHOLE;
        let remembers = self.turn.as_ref().is_some_and(|t| t.ports.gates.grants.is_some());
        ApprovalRequest {
            record_id: fresh_id(),
            call,
            gravity: identity::gravity(examined, cut),
            shown,
            whole: cut.then(|| super::show::shown_whole(examined.tool, &arguments)),
            arguments,
            because: examined.decision.deciding().cloned().collect(),
            approvers: examined.decision.approvers.clone(),
            session: identity::offer(examined, &facts).filter(|_| remembers),
            timeout: Duration::from_secs(policy.input().approval.timeout_seconds),
        }
    }

    fn identity(&self, examined: &Examined<'_>, call_id: &str, cx: &ToolExecutionContext) -> CallIdentity {
        match &self.turn {
            Some(turn) => {
                let digest = turn.ports.owners.digest(examined.tool.owner());
                identity::of(examined, (call_id, digest), &turn.ports.gates.session, cx)
            }
            None => identity::of(examined, (call_id, String::new()), &cx.session_id, cx),
        }
    }

    /// The port keeps the deadline, because it alone knows when the card was shown.
    async fn wait_for_answer(
        &self,
        port: &dyn ApprovalPort,
        request: &ApprovalRequest,
        cx: &ToolExecutionContext,
    ) -> ApprovalAnswer {
        let asked = port.ask(request.clone());
        tokio::pin!(asked);
        tokio::select! {
            biased;
            answer = &mut asked => return answer,
            () = cx.cancellation.cancelled() => {}
        }
        // The port sees the same signal: it closes its card, then it is here.
        tokio::select! {
            biased;
            _ = &mut asked => ApprovalAnswer::Withdrawn,
            () = self.base.clock.sleep(CLOSING) => ApprovalAnswer::Withdrawn,
        }
    }

    async fn judge_answer(
        &self,
        turn: &TurnScope,
        examined: &Examined<'_>,
        (request, answer): (&ApprovalRequest, ApprovalAnswer),
        cx: &ToolExecutionContext,
    ) -> Result<Approved, ToolError> {
        let (who, remember) = match answer {
            ApprovalAnswer::Allowed(who) => (who, false),
            ApprovalAnswer::AllowedSession(who) => (who, true),
            ApprovalAnswer::Rejected(_) => {
                let error = ToolError::new("APPROVAL_REJECTED", "the person asked said no; do not try this call again");
                turn.state.note_refusal(examined.key(), error.clone());
                return Err(error);
            }
            ApprovalAnswer::Expired => {
                return Err(ToolError::new("APPROVAL_EXPIRED", "nobody answered in time, which means no"));
            }
            ApprovalAnswer::Unavailable(why) => return Err(unavailable(&why)),
            ApprovalAnswer::Limit => {
                return Err(ToolError::new("APPROVAL_LIMIT", "too many approvals of this person are open already"));
            }
            ApprovalAnswer::Unrecorded(why) => {
                let message = "the question could not be recorded, so the call was not run";
                return Err(ToolError::new("JOURNAL_UNAVAILABLE", message).detail("cause", why));
            }
            ApprovalAnswer::Withdrawn => return Err(cancelled()),
        };
        turn.look_again().await;
        let (facts, policy) = self.fresh(cx);
        self.admit(examined.tool, &facts, &policy)?;
        self.decide(examined.tool, &examined.frozen, cx, (&facts, &policy))?;
        self.still_the_same(examined, request, cx).await?;
        if remember {
            self.remember(turn, examined, (request, &who), cx).await?;
        }
        Ok(Approved::By(who, request.record_id.clone()))
    }

    /// What was shown, recorded and hashed is what will run.
    async fn still_the_same(
        &self,
        examined: &Examined<'_>,
        request: &ApprovalRequest,
        cx: &ToolExecutionContext,
    ) -> Result<(), ToolError> {
        let now = self.identity(examined, &request.call.call_id, cx);
        if !examined.frozen.is_intact() || now.call_hash != request.call.call_hash {
            return Err(ToolError::new("APPROVAL_MISMATCH", "the arguments are not the approved ones"));
        }
        // Looked at now, and once more when nothing comes between the look and the body.
        let files = examined.approved_files.get_or_init(|| request.call.files.clone());
        self.files_unchanged(examined, files, cx).await
    }

    /// The files of a yes are still those that were shown.
    pub(super) async fn files_unchanged(
        &self,
        examined: &Examined<'_>,
        approved: &[FileDigest],
        cx: &ToolExecutionContext,
    ) -> Result<(), ToolError> {
        match changed_files(approved, &identity::files_of(examined, cx).await).as_slice() {
            [] => Ok(()),
            changed => {
                let message = "a file this call runs was changed after the question; call again to ask again";
                Err(ToolError::new("APPROVAL_STALE", message).retryable().detail("files", changed.to_vec()))
            }
        }
    }

    /// Keeps a yes for the session: on record, durable, before it counts.
    async fn remember(
        &self,
        turn: &TurnScope,
        examined: &Examined<'_>,
        (request, who): (&ApprovalRequest, &str),
        cx: &ToolExecutionContext,
    ) -> Result<(), ToolError> {
        let Some(grants) = turn.ports.gates.grants.as_ref().filter(|_| request.session.is_some()) else {
            return Ok(());
        };
        let call = &request.call;
        let data = json!({
            "call_id": call.call_id, "tool": call.tool, "owner": call.owner, "args_hash": call.args_hash,
            "conversation": cx.origin.conversation.to_string(), "effect": "allow", "reason": "session",
            "answered_by": who, "record_id": request.record_id, "tool_hash": call.tool_hash,
        });
        self.append(turn, "grant.added", cx, data, true).await.map_err(|e| journal_error(&e))?;
        match grants.add(&examined.tool.qualified, &call.tool_hash, who).await {
            Ok((_, Some(left))) => {
                if let Some(port) = &turn.ports.gates.approval {
                    port.grant_dropped(&left.tool).await;
                }
            }
            Ok((_, None)) => {}
            // The yes stands for this call; the next one asks again.
            Err(e) => tracing::warn!(error = %e, "a yes for the session was not kept"),
        }
        Ok(())
    }

    async fn note_question(
        &self,
        turn: &TurnScope,
        kind: &'static str,
        request: &ApprovalRequest,
        cx: &ToolExecutionContext,
        answer: Option<&ApprovalAnswer>,
    ) -> Result<(), crate::journal::JournalError> {
        use ApprovalAnswer::{Allowed, AllowedSession, Rejected};
        let answered_by = match answer {
            Some(Allowed(who) | AllowedSession(who) | Rejected(who)) => Some(who.as_str()),
            _ => None,
        };
        let because: Vec<_> = request.because.iter().map(|b| json!({ "source": b.source, "value": b.value })).collect();
        let call = &request.call;
        let data = json!({
            "record_id": request.record_id,
            "call_id": call.call_id,
            "tool": call.tool,
            "owner": call.owner,
            "args_hash": call.args_hash,
            "call_hash": call.call_hash,
            "conversation": cx.origin.conversation.to_string(),
            "reason": because,
            "effect": answer.map(effect_of),
            "answered_by": answered_by,
        });
        // A question is shown, and a yes acted upon, only once it is on disk.
        self.append(turn, kind, cx, data, true).await
    }
}

/// Characters of arguments that a card shows whole.
pub const SHOWN_WHOLE: usize = 2500;
/// How long a port may take to close the card of a stopped turn.
const CLOSING: Duration = Duration::from_secs(5);

fn kind_of(answer: &ApprovalAnswer) -> &'static str {
    match answer {
        ApprovalAnswer::Allowed(_) | ApprovalAnswer::AllowedSession(_) | ApprovalAnswer::Rejected(_) => {
            "question.answered"
        }
        ApprovalAnswer::Expired => "question.expired",
        ApprovalAnswer::Unavailable(_) | ApprovalAnswer::Limit | ApprovalAnswer::Unrecorded(_) => "question.refused",
        ApprovalAnswer::Withdrawn => "question.withdrawn",
    }
}

fn effect_of(answer: &ApprovalAnswer) -> &'static str {
    match answer {
        ApprovalAnswer::Allowed(_) => "allow",
        ApprovalAnswer::AllowedSession(_) => "allow_session",
        ApprovalAnswer::Rejected(_) => "deny",
        ApprovalAnswer::Expired => "expired",
        ApprovalAnswer::Unavailable(_) => "unavailable",
        ApprovalAnswer::Limit => "limit",
        ApprovalAnswer::Unrecorded(_) => "unrecorded",
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
    turn.ports.gates.approval.clone().ok_or_else(|| unavailable("there is no way to ask here"))
}

fn unavailable(why: &str) -> ToolError {
    ToolError::new("APPROVAL_UNAVAILABLE", format!("this call needs an approval and nobody can be asked: {why}"))
}
