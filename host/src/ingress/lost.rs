//! Cards that waited when the process ended: they say so, and one copy offers to ask again.

use super::desk::Desk;
use crate::endpoint::Endpoint;
use crate::outbound::Cards;
use plugin_sdk::Ability;
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
    let texts = desk.texts(&desk.publisher.published().active.contents().bot);
    let cards = Cards {
        outbound: desk.talk.outbound.clone(),
        endpoints: Arc::clone(&desk.talk.endpoints),
        own: None,
        tasks: desk.core.tasks.clone(),
    };
    for question in lost.iter().filter(|q| q.conversation.platform == endpoint.info.kind) {
        if let Err(e) = desk.talk.questions.show_lost(question, &cards, &texts).await {
            tracing::warn!(error = %e, "a lost card was not closed");
        }
    }
}
