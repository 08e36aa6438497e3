//! At the start: what becomes of the turns that ran when the process ended. Nothing is continued in the middle.

use super::about::{About, Repeats};
use super::again;
use super::desk::Desk;
use super::direct;
use super::stranger;
use crate::config::Texts;
use crate::journal::{Event, JournalError};
use crate::session::{Closing, Counts, Debt, Head, Owed, Running, SessionError};
use crate::store::StoreError;
use crate::turn::{Broken, FailCode, Remains};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};

/// Why the remains of a former process cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// A session.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// A clock that was set back during a turn put its events before its beginning.
const SLACK: TimeDelta = TimeDelta::hours(1);

/// Closes every turn that was running, before anything is connected; how many there were. What people are to be
/// told, or still to be answered, is kept with their sessions until they can be reached.
pub async fn recover(desk: &Desk) -> Result<usize, RecoverError> {
    stranger::let_in(desk).await?;
    let lost = desk.talk.questions.take_lost().await?;
    let asked: HashSet<String> = lost.into_iter().map(|q| q.turn_id).collect();
    let found: Vec<(Head, Running)> =
        desk.talk.sessions.interrupted().await?.into_iter().filter_map(|h| h.running.clone().map(|r| (h, r))).collect();
    let Some(since) = found.iter().map(|(_, running)| running.since).min() else { return Ok(0) };
    let turns: BTreeSet<String> = found.iter().map(|(_, running)| running.turn_id.clone()).collect();
    let events = desk.core.journal.of_turns(&turns, since - SLACK).await?;
    let texts = desk.texts(&desk.publisher.published().active.contents().bot);
    for (head, running) in &found {
        let history = desk.talk.sessions.left_by(head).await?;
        let journal = events.get(&running.turn_id).map_or(&[][..], Vec::as_slice);
        let remains = Remains { history: &history, journal, asked: asked.contains(&running.turn_id) };
        let broken = Broken::of(remains, desk.core.clock.now());
        close(desk, head, running, broken, &texts).await?;
    }
    desk.core.store.barrier().await?;
    Ok(found.len())
}

async fn close(desk: &Desk, head: &Head, running: &Running, broken: Broken, texts: &Texts) -> Result<(), RecoverError> {
    let about = serde_json::from_value::<About>(running.about.clone()).ok();
    let rerun = about.as_ref().is_some_and(|a| a.over.is_some() && broken.is_harmless() && !was_rerun(a));
    let principal = about.as_ref().map(|a| a.message.principal.id()).unwrap_or_default();
    let data = json!({
        "outcome": "failed",
        "detail": FailCode::Interrupted.as_str(),
        "rerun": rerun,
        "asked": broken.asked,
        "effects": broken.effects,
        "unknown": broken.unknown,
    });
    tracing::warn!(turn = running.turn_id, session = %head.session, rerun, "a turn was broken off by the last end of the process");
    let mut closing = Closing { outcome: Some(outcome(&broken, desk.core.clock.now())), ..Closing::default() };
    if let Some(about) = about.filter(|a| a.over.is_some()) {
        closing.owed = Some(owed(running, &about, &broken, rerun, texts));
        if !rerun {
            closing.extra.push(again::offer(&head.session, &running.turn_id, &about));
        }
    }
    if !principal.is_empty() {
        let usage = broken.usage;
        let used = Counts {
            turns: 1,
            input: usage.input,
            output: usage.output,
            cached_read: usage.cached_read,
            cost_usd: usage.cost_usd,
            warned: false,
        };
        desk.talk.ledger.add(&principal, used).await?;
        closing.extra.push(desk.talk.ledger.record(&principal).0);
    }
    closing.entries = broken.entries;
    desk.talk.sessions.close_interrupted(head, closing).await?;
    let event = Event { turn_id: Some(running.turn_id.clone()), ..Event::new("turn.finished", data) };
    desk.core.journal.append(Event { principal: Some(principal), ..event }).await?;
    if direct::is_fresh(&head.session) {
        direct::remove_fresh(desk, &head.session).await;
    }
    Ok(())
}

fn was_rerun(about: &About) -> bool {
    about.repeats.as_ref().is_some_and(|r| r.rerun)
}

fn owed(running: &Running, about: &About, broken: &Broken, rerun: bool, texts: &Texts) -> Owed {
    let what = if rerun {
        let repeats = Some(Repeats { retry_of: running.turn_id.clone(), rerun: true });
        // data and text only: nothing in it that JSON lacks
        let about = serde_json::to_value(About { repeats, ..about.clone() }).unwrap_or(Value::Null);
        Debt::Rerun { about }
    } else {
        Debt::Sentence { text: sentence(&running.turn_id, broken, texts) }
    };
    Owed {
        turn_id: running.turn_id.clone(),
        conversation: about.message.conversation.clone(),
        over: about.over.clone().unwrap_or_default(),
        what,
    }
}

/// What the person is told: what happened, which tools, how to ask again.
fn sentence(turn: &str, broken: &Broken, texts: &Texts) -> String {
    let done: Vec<&str> = broken.effects.iter().filter(|t| !broken.unknown.contains(t)).map(String::as_str).collect();
    let mut parts = Vec::new();
    if broken.asked && broken.effects.is_empty() {
        parts.push(texts.get("turn-interrupted-asked", &[("turn", turn)]));
    } else {
        parts.push(texts.get("turn-failed-interrupted", &[("turn", turn)]));
    }
    if !done.is_empty() {
        parts.push(texts.get("turn-interrupted-done", &[("tools", &done.join(", "))]));
    }
    if !broken.unknown.is_empty() {
        parts.push(texts.get("turn-interrupted-unknown", &[("tools", &broken.unknown.join(", "))]));
    }
    parts.push(texts.get("turn-ask-again-how", &[("label", &texts.get("turn-ask-again", &[]))]));
    parts.join(" ")
}

fn outcome(broken: &Broken, at: DateTime<Utc>) -> Value {
    json!({
        "outcome": "failed",
        "detail": FailCode::Interrupted.as_str(),
        "retryable": broken.is_harmless(),
        "usage": broken.usage,
        "found_at": at,
    })
}
