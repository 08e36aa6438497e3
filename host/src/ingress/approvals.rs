//! `/approvals`: what waits, what is allowed for the session, and taking it back.

use super::answer::Said;
use super::approve::one_line;
use super::arrive::Arrived;
use super::decide::facts_of;
use super::desk::Desk;
use crate::admission::{Facts, is_approver};
use crate::config::{SessionScope, Texts};
use crate::endpoint::Endpoint;
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
    let facts = &asking(desk, arrived).await;
    let all = is_approver(facts, &desk.policy.read());
    let id = facts.principal.id();
    let scope = desk.publisher.published().active.contents().bot.agent.session_scope;
    let grants = match (all, scope) {
        (true, SessionScope::User) => desk.talk.grants.list_in(&facts.conversation).await?,
        _ => desk.talk.grants.list(&arrived.who.session).await?,
    };
    Ok(grants.into_iter().filter(|g| all || g.requester == id).collect())
}

/// The facts of whoever asks, in this conversation.
async fn asking(desk: &Desk, arrived: &Arrived) -> Facts {
    facts_of(desk, &arrived.endpoint, &arrived.who.message.conversation, &arrived.who.facts.principal).await
}

fn waiting(desk: &Desk, facts: &Facts) -> Vec<OpenQuestion> {
    let all = is_approver(facts, &desk.policy.read());
    let id = facts.principal.id();
    let here = |q: &OpenQuestion| q.conversation == facts.conversation;
    let open = desk.talk.questions.open().into_iter();
    open.filter(|q| q.wanted == Wanted::Approval && here(q) && (all || q.principal == id)).collect()
}

async fn list(desk: &Desk, arrived: &Arrived, texts: &Texts) -> Result<Said, StoreError> {
    let waiting = waiting(desk, &asking(desk, arrived).await);
    let grants = grants(desk, arrived).await?;
    let mut lines = match waiting.is_empty() {
        true => vec![texts.get("approvals-none", &[])],
        false => vec![format!("**{}**", texts.get("approvals-title", &[]))],
    };
    for (n, q) in waiting.iter().enumerate() {
        let tool = q.call.as_ref().map_or("", |c| c.identity.tool.as_str());
        let (n, time) = ((n + 1).to_string(), q.expires_at.format("%H:%M:%S UTC").to_string());
        let values = [("n", n.as_str()), ("tool", tool), ("name", q.principal.as_str()), ("time", &time)];
        lines.push(texts.get("approvals-pending", &values));
    }
    lines.push(String::new());
    if grants.is_empty() {
        lines.push(texts.get("approvals-no-grants", &[]));
    } else {
        lines.push(format!("**{}**", texts.get("approvals-grants", &[])));
    }
    for (n, g) in grants.iter().enumerate() {
        let n = (n + 1).to_string();
        let values = [("n", n.as_str()), ("tool", &g.tool), ("name", &g.requester), ("by", &g.granted_by)];
        lines.push(texts.get("approvals-grant", &values));
    }
    if !grants.is_empty() {
        lines.extend([String::new(), texts.get("approvals-revoke-how", &[])]);
    }
    let mut said = Said::answer(lines.join("\n"));
    if arrived.endpoint.info.can(Ability::Buttons) && !(waiting.is_empty() && grants.is_empty()) {
        said.segments.push(buttons(desk, arrived, texts, (&waiting, &grants)).await?);
    }
    Ok(said)
}

/// A row for each that waits, then the permissions to take back.
async fn buttons(
    desk: &Desk,
    arrived: &Arrived,
    texts: &Texts,
    (waiting, grants): (&[OpenQuestion], &[Grant]),
) -> Result<Segment, StoreError> {
    let until = desk.core.clock.now() + TimeDelta::from_std(KNOWN).unwrap_or_default();
    let action = |action: Act, session: &SessionKey, record: &str| Action {
        action,
        session: session.clone(),
        record: record.to_string(),
        conversation: arrived.who.message.conversation.clone(),
        expires_at: until,
    };
    let mut wanted = Vec::new();
    for (n, q) in waiting.iter().enumerate() {
        let label = |key: &str| format!("{}. {}", n + 1, texts.get(key, &[]));
        wanted.push((action(Act::Once, &q.session, &q.id), label("approval-button-once"), ButtonStyle::Primary));
        wanted.push((action(Act::Deny, &q.session, &q.id), label("approval-button-deny"), ButtonStyle::Danger));
    }
    for (n, g) in grants.iter().enumerate() {
        let label = texts.get("approvals-revoke-button", &[("n", &(n + 1).to_string())]);
        wanted.push((action(Act::Revoke, &g.session, &g.id), label, ButtonStyle::Danger));
    }
    let ids = desk.talk.questions.new_actions(wanted.iter().map(|(a, ..)| a.clone()).collect(), KNOWN).await?;
    let button = |((_, label, style), id)| Button { id, label, style, url: None };
    let mut all: Vec<Button> = wanted.into_iter().zip(ids).map(button).collect();
    let revokes = all.split_off(waiting.len() * 2);
    Ok(Segment::Keyboard { rows: all.chunks(2).chain(revokes.chunks(4)).map(<[Button]>::to_vec).collect() })
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
pub(super) async fn revoke(
    desk: &Desk,
    endpoint: &Endpoint,
    action: &Action,
    by: &Principal,
) -> Result<String, StoreError> {
    let texts = &*desk.texts(&desk.publisher.published().active.contents().bot);
    let found = desk.talk.grants.list(&action.session).await?.into_iter().find(|g| g.id == action.record);
    let Some(grant) = found else {
        return Ok(texts.get("button-invalid", &[]));
    };
    let facts = facts_of(desk, endpoint, &action.conversation, by).await;
    let approver = is_approver(&facts, &desk.policy.read());
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
