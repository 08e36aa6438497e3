//! `/approvals`: what waits, what is allowed for the session, and taking it back.

use super::answer::Said;
use super::approve::one_line;
use super::arrive::Arrived;
use super::desk::Desk;
use crate::admission::{Facts, is_approver};
use crate::config::Texts;
use crate::journal::Event;
use crate::session::{Act, Action, Grant, OpenQuestion, SessionKey, Wanted};
use crate::store::StoreError;
use chrono::TimeDelta;
use plugin_sdk::{Ability, Button, ButtonStyle, Principal, Segment};
use serde_json::json;
use std::time::Duration;

/// How long a button that takes a permission back is known.
const KNOWN: Duration = Duration::from_secs(24 * 3600);

/// The command: without words the list, with `revoke NUMBER` one permission less.
pub(super) async fn command(desk: &Desk, arrived: &Arrived, texts: &Texts, args: &str) -> Said {
    let answered = match args.trim().strip_prefix("revoke") {
        Some(number) => by_number(desk, arrived, texts, number.trim()).await.map(Said::answer),
        None => list(desk, arrived, texts).await,
    };
    answered.unwrap_or_else(|e| {
        tracing::error!(error = %e, "what is allowed cannot be read");
        Said::notice(texts.get("store-degraded", &[]))
    })
}

/// Own grants; approvers see all of the chat.
async fn grants(desk: &Desk, arrived: &Arrived) -> Result<Vec<Grant>, StoreError> {
    let facts = &arrived.who.facts;
    let all = is_approver(facts, &desk.policy.read());
    let id = facts.principal.id();
    let grants = desk.talk.grants.list(&arrived.who.session).await?;
    Ok(grants.into_iter().filter(|g| all || g.requester == id).collect())
}

fn waiting(desk: &Desk, facts: &Facts) -> Vec<OpenQuestion> {
    let all = is_approver(facts, &desk.policy.read());
    let id = facts.principal.id();
    let here = |q: &OpenQuestion| q.conversation == facts.conversation;
    let open = desk.talk.questions.open().into_iter();
    open.filter(|q| q.wanted == Wanted::Approval && here(q) && (all || q.principal == id)).collect()
}

async fn list(desk: &Desk, arrived: &Arrived, texts: &Texts) -> Result<Said, StoreError> {
    let mut lines = Vec::new();
    let waiting = waiting(desk, &arrived.who.facts);
    if waiting.is_empty() {
        lines.push(texts.get("approvals-none", &[]));
    } else {
        lines.push(format!("**{}**", texts.get("approvals-title", &[])));
    }
    for q in &waiting {
        let tool = q.call.as_ref().map_or("", |c| c.identity.tool.as_str());
        let time = q.expires_at.format("%H:%M:%S UTC").to_string();
        let values = [("tool", tool), ("name", q.principal.as_str()), ("time", &time)];
        lines.push(format!("- {}", texts.get("approvals-pending", &values)));
    }
    let grants = grants(desk, arrived).await?;
    lines.push(String::new());
    if grants.is_empty() {
        lines.push(texts.get("approvals-no-grants", &[]));
        return Ok(Said::answer(lines.join("\n")));
    }
    lines.push(format!("**{}**", texts.get("approvals-grants", &[])));
    for (n, g) in grants.iter().enumerate() {
        let n = (n + 1).to_string();
        let values = [("n", n.as_str()), ("tool", &g.tool), ("name", &g.requester), ("by", &g.granted_by)];
        lines.push(texts.get("approvals-grant", &values));
    }
    lines.push(String::new());
    lines.push(texts.get("approvals-revoke-how", &[]));
    let mut said = Said::answer(lines.join("\n"));
    if arrived.endpoint.info.can(Ability::Buttons) {
        said.segments.push(buttons(desk, arrived, texts, &grants).await?);
    }
    Ok(said)
}

async fn buttons(desk: &Desk, arrived: &Arrived, texts: &Texts, grants: &[Grant]) -> Result<Segment, StoreError> {
    let until = desk.core.clock.now() + TimeDelta::from_std(KNOWN).unwrap_or_default();
    let action = |g: &Grant| Action {
        action: Act::Revoke,
        session: g.session.clone(),
        record: g.id.clone(),
        conversation: arrived.who.message.conversation.clone(),
        expires_at: until,
    };
    let ids = desk.talk.questions.new_actions(grants.iter().map(action).collect(), KNOWN).await?;
    let button = |(n, id): (usize, String)| {
        let label = texts.get("approvals-revoke-button", &[("n", &(n + 1).to_string())]);
        Button { id, label, style: ButtonStyle::Danger, url: None }
    };
    let all: Vec<Button> = ids.into_iter().enumerate().map(button).collect();
    Ok(Segment::Keyboard { rows: all.chunks(4).map(<[Button]>::to_vec).collect() })
}

async fn by_number(desk: &Desk, arrived: &Arrived, texts: &Texts, number: &str) -> Result<String, StoreError> {
    let grants = grants(desk, arrived).await?;
    let chosen = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).and_then(|n| grants.get(n));
    match chosen {
        Some(grant) => take_back(desk, grant, &arrived.who.facts.principal, texts).await,
        None => Ok(texts.get("approvals-revoke-unknown", &[])),
    }
}

/// A pressed button: its own, or that of an approver.
pub(super) async fn revoke(desk: &Desk, action: &Action, by: &Principal, texts: &Texts) -> Result<String, StoreError> {
    let found = desk.talk.grants.list(&action.session).await?.into_iter().find(|g| g.id == action.record);
    let Some(grant) = found else {
        return Ok(texts.get("button-invalid", &[]));
    };
    let approver = {
        let policy = desk.policy.read();
        let mut principal = by.clone();
        principal.role = policy.role_of(by, &action.conversation.endpoint_id());
        let conversation = action.conversation.clone();
        let facts = Facts { conversation, principal, platform_permissions: None, attended: true };
        is_approver(&facts, &policy)
    };
    if grant.requester != by.id() && !approver {
        return Ok(texts.get("approval-not-allowed", &[]));
    }
    take_back(desk, &grant, by, texts).await
}

/// On record first, then gone; the next check of a running turn sees it.
async fn take_back(desk: &Desk, grant: &Grant, by: &Principal, texts: &Texts) -> Result<String, StoreError> {
    note(desk, grant, &by.id(), "revoke").await;
    desk.talk.grants.revoke(&grant.session, &grant.id).await?;
    Ok(texts.get("approvals-revoked", &[("tool", &one_line(&grant.tool))]))
}

/// Ends every permission of a session.
pub(super) async fn end_all(desk: &Desk, session: &SessionKey, by: &str) {
    match desk.talk.grants.forget(session).await {
        Ok(ended) => {
            for grant in &ended {
                note(desk, grant, by, "new session").await;
            }
        }
        Err(e) => tracing::error!(error = %e, "the permissions of a session did not end"),
    }
}

async fn note(desk: &Desk, grant: &Grant, by: &str, reason: &str) {
    let data = json!({
        "grant_id": grant.id, "tool": grant.tool, "tool_hash": grant.tool_hash, "requester": grant.requester,
        "session": grant.session, "effect": "revoked", "reason": reason, "answered_by": by,
    });
    let event = Event { principal: Some(by.to_string()), ..Event::new("grant.revoked", data) };
    if let Err(e) = desk.core.journal.append(event).await {
        tracing::warn!(error = %e, "a revoked grant is not journaled");
    }
}
