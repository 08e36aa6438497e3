//! Sentences to the masters: in their private chats, and on the consoles.

use super::desk::Desk;
use crate::admission::CONSOLE;
use crate::outbound::Piece;
use crate::turn::{Budget, TurnOutcome, TurnReport};
use plugin_sdk::{ConversationRef, OutgoingKind, Scope, Segment};
use std::sync::Arc;

/// The name under which the day's one sentence to the masters is noted.
const MASTERS: &str = "";

/// After a turn: masters are told once a day that a budget is used up.
pub(super) async fn hear(desk: &Arc<Desk>, report: &TurnReport, who: &str, place: &ConversationRef) {
    let TurnOutcome::BudgetExceeded { what: what @ (Budget::Tokens | Budget::Cost) } = report.outcome else { return };
    match desk.talk.ledger.warn(MASTERS).await {
        Ok(true) => {}
        Ok(false) => return,
        Err(error) => {
            tracing::error!(%error, "the masters are not told of a budget");
            return;
        }
    }
    let bot = Arc::clone(&desk.publisher.published().active.contents().bot);
    let key = if what == Budget::Tokens { "budget-masters-tokens" } else { "budget-masters-cost" };
    tell(desk, desk.texts(&bot).get(key, &[("principal", who)]), place).await;
}

/// Says something to every master who can be reached now, but in the place where it was just said.
async fn tell(desk: &Arc<Desk>, text: String, but: &ConversationRef) {
    tracing::warn!(text, "the masters are told");
    let mut places: Vec<ConversationRef> = Vec::new();
    let masters = desk.policy.read().input().access.masters.clone();
    for endpoint in desk.talk.endpoints.list() {
        let (kind, name) = endpoint.id.split_once('/').unwrap_or((&endpoint.id, ""));
        let own = endpoint.place.clone().filter(|p| p.platform == CONSOLE);
        let theirs = masters.iter().filter_map(|id| id.split_once(':')).filter(|(p, _)| *p == kind);
        let private = |user: &str| ConversationRef {
            platform: kind.to_owned(),
            endpoint: name.to_owned(),
            scope: Scope::Private,
            scene: user.to_owned(),
            parent: None,
            thread: None,
        };
        for place in own.into_iter().chain(theirs.map(|(_, user)| private(user))) {
            if place == *but || places.contains(&place) {
                continue;
            }
            places.push(place.clone());
            let segments = vec![Segment::markdown(text.clone())];
            let piece = Piece { kind: OutgoingKind::Notice, conversation: place, segments, reply_to: None };
            if let Err(error) = desk.talk.outbound.send(&endpoint, piece).await {
                tracing::warn!(%error, endpoint = endpoint.id, "a master was not told");
            }
        }
    }
}
