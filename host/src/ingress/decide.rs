//! Answers to questions: typed texts and pressed buttons. Whoever may not answer is told so, and nothing changes.

use super::again::{self, Taken};
use super::answer::Said;
use super::approve::{pending, shown_name};
use super::arrive::Arrived;
use super::desk::Desk;
use super::receive::{queue, say};
use crate::admission::{Facts, access, may_decide};
use crate::endpoint::Endpoint;
use crate::journal::Event;
use crate::session::{Act, Action, Decision, Heard, Meant, OpenQuestion, QuestionState, Settled, Wanted, outcome_text};
use crate::store::StoreError;
use plugin_sdk::{Addressed, ConversationRef, Principal, Segment};
use serde_json::json;
use std::sync::Arc;

/// A pressed button.
pub(super) struct Press {
    pub(super) token: u64,
    pub(super) action: String,
    pub(super) by: Principal,
    pub(super) conversation: ConversationRef,
}

/// Offers a message to the open questions; whether it must start no turn. Edited and forwarded ones never count.
pub(super) async fn capture(desk: &Arc<Desk>, arrived: &Arrived) -> bool {
    let message = &arrived.who.message;
    let forwarded = message.segments.iter().any(|s| matches!(s, Segment::Forward { .. }));
    if message.edited || forwarded {
        return false;
    }
    let principal = message.principal.id();
    let heard = Heard {
        session: &arrived.who.session,
        conversation: &message.conversation,
        principal: &principal,
        text: &arrived.text,
        reply_to: message.reply_to.as_ref().map(|r| r.message_id.as_str()),
        mention: message.addressed == Addressed::Mention,
        only_answers: arrived.over_console(),
    };
    match desk.talk.questions.meant(&heard) {
        Meant::Nothing => false,
        // Whoever asked has gone when nobody is there to ask again: then the text is a message like any other.
        Meant::Unfit(question) => desk.talk.questions.ask_again(&question),
        Meant::Decides(question, decision) => decided(desk, arrived, &question, decision).await,
    }
}

async fn decided(desk: &Arc<Desk>, arrived: &Arrived, question: &OpenQuestion, decision: Decision) -> bool {
    let who = &arrived.who.message.principal;
    let texts = desk.texts(&desk.publisher.published().active.contents().bot);
    if !may(desk, &arrived.endpoint, question, (who, decision.allows())).await {
        refused(desk, question, who).await;
        say(desk, arrived, &Said::notice(texts.get("approval-not-allowed", &[]))).await;
        return true;
    }
    match settle(desk, question, decision, who).await {
        Ok(Settled::Now(_) | Settled::Before(_)) => true,
        Ok(Settled::Gone) => false,
        Err(e) => {
            tracing::error!(error = %e, "an answer was not stored, so it does not count");
            say(desk, arrived, &Said::notice(texts.get("store-degraded", &[]))).await;
            true
        }
    }
}

async fn settle(
    desk: &Desk,
    question: &OpenQuestion,
    decision: Decision,
    who: &Principal,
) -> Result<Settled, StoreError> {
    let texts = desk.texts(&desk.publisher.published().active.contents().bot);
    let result = outcome_text(&texts, question, &decision, &shown_name(who));
    desk.talk.questions.settle(question, decision, Some(&who.id()), Some(result)).await
}

/// Whether this person may give this answer now: facts, role and policy are those of this moment.
async fn may(desk: &Desk, endpoint: &Endpoint, question: &OpenQuestion, (who, yes): (&Principal, bool)) -> bool {
    let Some(call) = &question.call else { return who.id() == question.principal };
    let facts = facts_of(desk, endpoint, &question.conversation, who).await;
    let call = pending(&question.principal, question.conversation.scope, call.gravity);
    may_decide(&call, &facts, &desk.policy.read(), yes)
}

/// The facts of whoever answers: role and policy of this moment, and what the platform says where an approver is
/// known by that.
pub(super) async fn facts_of(desk: &Desk, endpoint: &Endpoint, place: &ConversationRef, who: &Principal) -> Facts {
    let policy = desk.policy.read();
    let mut principal = who.clone();
    let given = who.role.filter(|_| endpoint.info.kind == crate::admission::CONSOLE);
    principal.role = given.or_else(|| policy.role_of(who, &place.endpoint_id()));
    let mut facts = Facts { conversation: place.clone(), principal, platform_permissions: None, attended: true };
    let looks_up = policy.input().approval.approvers.iter().any(|a| a.starts_with("platform("));
    if looks_up && endpoint.info.kind == place.platform {
        facts.platform_permissions = Some(desk.talk.lookups.held(endpoint, place, &who.user_id).await);
    }
    facts
}

/// A refusal is on record; the question still waits.
async fn refused(desk: &Desk, question: &OpenQuestion, who: &Principal) {
    let call = question.call.as_ref().map(|c| &c.identity);
    let data = json!({
        "record_id": question.id, "effect": "refused", "reason": "may not answer", "answered_by": who.id(),
        "conversation": question.conversation.to_string(),
        "call_id": call.map(|c| &c.call_id), "tool": call.map(|c| &c.tool), "owner": call.map(|c| &c.owner),
        "args_hash": call.map(|c| &c.args_hash),
    });
    let event = Event::new("question.refused", data).of_turn(0, &question.turn_id, who.id());
    if let Err(e) = desk.core.journal.append(event).await {
        tracing::warn!(error = %e, "a refused answer is not journaled");
    }
}

/// A press: resolved, judged, then answered to the platform exactly once.
pub(super) async fn press(desk: &Arc<Desk>, endpoint: &Arc<Endpoint>, press: Press) {
    let text = match pressed(desk, endpoint, &press).await {
        Ok(text) => text,
        Err(e) => {
            tracing::error!(error = %e, "a press was not stored, so it does not count");
            desk.texts(&desk.publisher.published().active.contents().bot).get("store-degraded", &[])
        }
    };
    // What was decided counts, whether or not its acknowledgement arrives.
    if let Err(e) = endpoint.connection.edit.answer_button(press.token, &text).await {
        tracing::debug!(endpoint = endpoint.id, error = %e, "a press was not answered");
    }
}

async fn pressed(desk: &Arc<Desk>, endpoint: &Arc<Endpoint>, press: &Press) -> Result<String, StoreError> {
    let texts = desk.texts(&desk.publisher.published().active.contents().bot);
    let invalid = || texts.get("button-invalid", &[]);
    let Some(action) = desk.talk.questions.action(&press.action, &press.conversation).await? else {
        return Ok(invalid());
    };
    if !is_let_in(desk, press) {
        let data = json!({ "reason": "press", "record_id": action.record, "effect": "refused" });
        super::stranger::note(desk, "access.refused", &press.by.id(), data).await;
        return Ok(texts.get("approval-not-allowed", &[]));
    }
    let Some(decision) = action.action.decision() else { return other(desk, endpoint, press, &action).await };
    let Some(question) = desk.talk.questions.question(&action.session, &action.record).await? else {
        return Ok(invalid());
    };
    let told = |q: &OpenQuestion| match q.state {
        QuestionState::Expired | QuestionState::Withdrawn | QuestionState::Lost => invalid(),
        _ => q.result.clone().unwrap_or_else(invalid),
    };
    if question.state != QuestionState::Pending {
        return Ok(told(&question));
    }
    if !may(desk, endpoint, &question, (&press.by, decision.allows())).await {
        refused(desk, &question, &press.by).await;
        let key = if question.wanted == Wanted::Approval { "approval-not-allowed" } else { "question-not-yours" };
        return Ok(texts.get(key, &[]));
    }
    Ok(match settle(desk, &question, decision, &press.by).await? {
        Settled::Now(q) | Settled::Before(q) => told(&q),
        Settled::Gone => invalid(),
    })
}

/// Access is judged before a press acts.
fn is_let_in(desk: &Desk, press: &Press) -> bool {
    let policy = desk.policy.read();
    let mut principal = press.by.clone();
    principal.role = policy.role_of(&press.by, &press.conversation.endpoint_id());
    let facts =
        Facts { conversation: press.conversation.clone(), principal, platform_permissions: None, attended: true };
    access(&facts, &policy).is_granted()
}

/// Buttons that answer no question.
async fn other(
    desk: &Arc<Desk>,
    endpoint: &Arc<Endpoint>,
    press: &Press,
    action: &Action,
) -> Result<String, StoreError> {
    let bot = Arc::clone(&desk.publisher.published().active.contents().bot);
    let texts = desk.texts(&bot);
    if action.action == Act::Revoke {
        return super::approvals::revoke(desk, endpoint, action, &press.by).await;
    }
    match again::take_of(desk, &action.session, &action.record, &press.by.id()).await? {
        Taken::NotYours => Ok(texts.get("question-not-yours", &[])),
        Taken::Gone => Ok(texts.get("button-invalid", &[])),
        Taken::About(about) => {
            let mut arrived = about.arrives(desk, endpoint, bot.agent.session_scope);
            arrived.who.session = action.session.clone();
            // The lane follows it to its end; a full one says so in the chat.
            let queued = queue(desk, arrived, &bot);
            Ok(texts.get(if queued.is_ok() { "question-asked-again" } else { "queue-full" }, &[]))
        }
    }
}
