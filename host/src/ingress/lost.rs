//! Cards that waited when the process ended: they say so, and one copy offers to ask again.

use super::desk::Desk;
use crate::config::BotConfig;
use crate::endpoint::Endpoint;
use crate::outbound::Cards;
use plugin_sdk::{Ability, ConversationRef};
use std::sync::Arc;

/// Edits the cards that stand on a connection which has just come up. Where cards cannot be edited the sentence
/// about the turn that broke off says it all.
pub(super) async fn show(desk: &Arc<Desk>, endpoint: &Arc<Endpoint>) {
    if !endpoint.info.can(Ability::Buttons) {
        return;
    }
    let lost = match desk.talk.questions.lost().await {
        Ok(lost) => lost,
        Err(e) => return tracing::warn!(error = %e, "cards of the last process were not found"),
    };
    let bot = Arc::clone(&desk.publisher.published().active.contents().bot);
    let texts = desk.texts(&bot);
    let cards = Cards {
        outbound: desk.talk.outbound.clone(),
        endpoints: Arc::clone(&desk.talk.endpoints),
        own: None,
        tasks: desk.core.tasks.clone(),
    };
    let reached = |place: &ConversationRef| is_reached(endpoint, place, &bot);
    for question in &lost {
        if let Err(e) = desk.talk.questions.show_lost(question, reached, &cards, &texts).await {
            tracing::warn!(error = %e, "a lost card was not closed");
        }
    }
}

/// Whether a connection leads to a place: it is the place's own, or the place's own is configured no more.
fn is_reached(endpoint: &Endpoint, place: &ConversationRef, bot: &BotConfig) -> bool {
    let configured = bot.adapters.get(&place.platform).is_some_and(|names| names.contains_key(&place.endpoint));
    endpoint.id == place.endpoint_id() || (endpoint.info.kind == place.platform && !configured)
}
