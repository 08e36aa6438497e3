//! Messages that ask for an earlier one to be answered again: `/retry`, and the word that takes an offer.

use super::about::{About, Repeats};
use super::again;
use super::answer::Said;
use super::arrive::Arrived;
use super::desk::Desk;
use crate::config::BotConfig;
use crate::route::{self, Builtin};
use plugin_sdk::Segment;
use serde_json::Value;

/// What a message asks for.
pub(super) enum Repeat {
    /// It is a message like any other.
    No,
    /// There is nothing to repeat now.
    Said(Said),
    /// The earlier message, in the place of this one.
    Turn(Box<Arrived>),
}

/// Reads a message. What is repeated takes the place of this one in the queue and is settled as this one.
pub(super) async fn repeat(desk: &Desk, arrived: &Arrived, bot: &BotConfig) -> Repeat {
    let who = &arrived.who;
    let said = |key: &str| Repeat::Said(Said::notice(desk.texts(bot).get(key, &[])));
    let about = if again::is_word(&arrived.text) {
        match again::take(desk, &who.session, &who.facts.principal.id()).await {
            Ok(Some(about)) => about,
            Ok(None) => return Repeat::No,
            Err(error) => {
                tracing::error!(%error, "an offer cannot be taken");
                return said("store-degraded");
            }
        }
    } else if route::parse(&arrived.text).is_some_and(|w| Builtin::of(&w.word) == Some(Builtin::Retry)) {
        if desk.talk.lanes.is_busy(&who.session) {
            return said("retry-running");
        }
        match newest(desk, arrived).await {
            Some(about) => about,
            None => return said("retry-none"),
        }
    } else {
        return Repeat::No;
    };
    let mut again = about.arrives(desk, &arrived.endpoint, bot.agent.session_scope);
    again.who.session = who.session.clone();
    again.who.message.id.clone_from(&who.message.id);
    Repeat::Turn(Box::new(again))
}

/// The person's newest message in this session, as it is kept.
async fn newest(desk: &Desk, arrived: &Arrived) -> Option<About> {
    let who = &arrived.who;
    let id = who.facts.principal.id();
    let history = match desk.talk.sessions.history(&who.session).await {
        Ok(history) => history,
        Err(error) => {
            tracing::error!(%error, "a history cannot be read");
            return None;
        }
    };
    let mine = |e: &&crate::session::HistoryEntry| e.role() == "user" && e.principal.as_deref() == Some(id.as_str());
    let entry = history.iter().rev().find(mine)?;
    let text = entry.message.get("text").and_then(Value::as_str).unwrap_or_default();
    let kept = entry.meta.get("segments").cloned().and_then(|s| serde_json::from_value::<Vec<Segment>>(s).ok());
    let mut message = who.message.clone();
    message.segments = kept.unwrap_or_else(|| vec![Segment::plain(text)]);
    message.sent_at = entry.at;
    message.command = None;
    let over = Some(arrived.endpoint.info.kind.clone());
    let repeats = Some(Repeats { retry_of: entry.turn_id.clone(), rerun: false });
    Some(About { message, over, given_role: who.given_role, repeats })
}
