//! What former turns left owed is told or done when the person can be reached again.

use super::about::About;
use super::arrive::Arrived;
use super::desk::Desk;
use super::receive::queue;
use crate::admission::{CONSOLE, access};
use crate::endpoint::Endpoint;
use crate::outbound::Piece;
use crate::session::{Debt, Owed, SessionKey};
use plugin_sdk::{OutgoingKind, Segment};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// Whether what is owed can be paid over this connection. A console shows one conversation; the connection of a
/// platform leads to all of its endpoint.
fn leads_to(endpoint: &Endpoint, owed: &Owed) -> bool {
    let console = endpoint.info.kind == CONSOLE;
    let there = match &endpoint.place {
        Some(place) => *place == owed.conversation,
        None => console || endpoint.id == owed.conversation.endpoint_id(),
    };
    there && endpoint.info.kind == owed.over
}

/// Pays what is owed over a connection that was just made, before it is read. Sentences and answers are sent
/// here; a turn that is run again takes its ticket here, so that it comes before whatever is said next.
pub(super) async fn pay(desk: &Arc<Desk>, endpoint: &Arc<Endpoint>) -> Vec<JoinHandle<()>> {
    // One connection at a time: two terminals of one conversation must not both be told.
    let mut begun = desk.talk.reruns.lock().await;
    let heads = match desk.talk.sessions.owing().await {
        Ok(heads) => heads,
        Err(error) => {
            tracing::error!(%error, "what is owed to people cannot be read");
            return Vec::new();
        }
    };
    let mut open = Vec::new();
    for head in heads {
        for owed in head.owed.iter().filter(|o| leads_to(endpoint, o)) {
            match &owed.what {
                Debt::Rerun { about } if begun.insert(owed.turn_id.clone()) => {
                    open.extend(rerun(desk, endpoint, &head.session, owed, about.clone()).await);
                }
                Debt::Rerun { .. } => {}
                Debt::Sentence { text } => {
                    let said = vec![Segment::markdown(text.clone())];
                    tell(desk, endpoint, &head.session, owed, (OutgoingKind::Notice, said)).await;
                }
                Debt::Answer { segments } => {
                    let texts = desk.texts(&desk.publisher.published().active.contents().bot);
                    let mut said = vec![Segment::markdown(format!("{}\n\n", texts.get("answer-late", &[])))];
                    said.extend(segments.iter().cloned());
                    tell(desk, endpoint, &head.session, owed, (OutgoingKind::Answer, said)).await;
                }
            }
        }
    }
    open
}

async fn tell(
    desk: &Arc<Desk>,
    endpoint: &Arc<Endpoint>,
    session: &SessionKey,
    owed: &Owed,
    (kind, segments): (OutgoingKind, Vec<Segment>),
) {
    let piece = Piece { kind, conversation: owed.conversation.clone(), segments, reply_to: None };
    match desk.talk.outbound.send(endpoint, piece).await {
        Ok(()) => paid(desk, session, &owed.turn_id).await,
        Err(error) => tracing::info!(%error, turn = owed.turn_id, "what is owed stays owed"),
    }
}

/// Struck off after it was said: a crash in between says it twice, never not at all.
pub(super) async fn paid(desk: &Desk, session: &SessionKey, turn_id: &str) {
    let struck = match desk.talk.sessions.paid(session, turn_id).await {
        Ok(()) => desk.talk.sessions.barrier().await,
        failed => failed,
    };
    if let Err(error) = struck {
        tracing::warn!(%error, turn = turn_id, "what was said stays owed and is said again");
    }
}

/// The message of a turn that only read is answered by a new turn. The record is struck off by the beginning of
/// that turn itself, in one write, so a crash neither forgets nor repeats it.
async fn rerun(
    desk: &Arc<Desk>,
    endpoint: &Arc<Endpoint>,
    session: &SessionKey,
    owed: &Owed,
    about: serde_json::Value,
) -> Option<JoinHandle<()>> {
    let bot = Arc::clone(&desk.publisher.published().active.contents().bot);
    let arrived: Option<Arrived> = match serde_json::from_value::<About>(about) {
        Ok(about) => Some(about.arrives(desk, endpoint, bot.agent.session_scope)),
        Err(error) => {
            tracing::error!(%error, turn = owed.turn_id, "a message that was broken off cannot be read");
            None
        }
    };
    let welcome = |a: &Arrived| a.over_console() || access(&a.who.facts, &desk.policy.read()).is_granted();
    let Some(mut arrived) = arrived.filter(welcome) else {
        paid(desk, session, &owed.turn_id).await;
        return None;
    };
    // The session it began in, whatever the scope of sessions is now.
    arrived.who.session = session.clone();
    queue(desk, arrived, &bot).ok()
}
