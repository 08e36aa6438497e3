//! Cards on the connections of the process: with buttons where there are some, else as text.

use super::{Outbound, Piece};
use crate::endpoint::{Endpoint, Endpoints};
use crate::task::Tasks;
use async_trait::async_trait;
use plugin_sdk::ports::{Card, CardCopy, CardSink};
use plugin_sdk::{Ability, Button, ConversationRef, MediaRef, MediaSource, OutgoingKind, Segment};
use std::sync::Arc;

/// Shows cards. The turn's own connection first: several terminals may speak for the same place.
pub struct Cards {
    /// Sends.
    pub outbound: Outbound,
    /// Where other copies go.
    pub endpoints: Arc<Endpoints>,
    /// The connection of the turn.
    pub own: Option<(ConversationRef, Arc<Endpoint>)>,
    /// Edits do not hold up what was decided.
    pub tasks: Tasks,
}

impl Cards {
    fn endpoint(&self, to: &ConversationRef) -> Option<Arc<Endpoint>> {
        match &self.own {
            Some((place, endpoint)) if place == to => Some(Arc::clone(endpoint)),
            _ => self.endpoints.of(to),
        }
    }

    fn segments(endpoint: &Endpoint, card: &Card) -> Vec<Segment> {
        let buttons = endpoint.info.can(Ability::Buttons);
        let mut text = card.text.clone();
        let files = endpoint.info.can(Ability::MediaOut);
        if let (Some(file), false, None) = (&card.attachment, files, &card.end) {
            text.push_str(&format!("\n\n{}:\n```\n{}\n```", file.name, file.text));
        }
        if let Some(end) = &card.end {
            text.push_str(&format!("\n\n{}", end.text));
        } else if let (Some(typed), false) = (&card.typed, buttons) {
            text.push_str(&format!("\n\n{typed}"));
        }
        let mut segments = vec![Segment::markdown(text)];
        if let (Some(file), true) = (&card.attachment, files) {
            segments.push(Segment::File { media: inline(&file.name, &file.text), caption: None });
        }
        let numbered = |b: &Button| Button { id: String::new(), ..b.clone() };
        let shown: Vec<Button> = match buttons {
            true => card.buttons.clone(),
            false if card.typed.is_none() => card.buttons.iter().map(numbered).collect(),
            false => Vec::new(),
        };
        if !shown.is_empty() {
            segments.push(Segment::Keyboard { rows: shown.chunks(3).map(<[Button]>::to_vec).collect() });
        }
        segments
    }
}

/// A small text as a file of its own.
fn inline(name: &str, text: &str) -> MediaRef {
    MediaRef {
        source: MediaSource::Url(format!("data:application/json,{}", crate::config::percent_encoded(text))),
        mime: "application/json".into(),
        name: Some(name.to_string()),
        size: u64::try_from(text.len()).ok(),
        sha256: None,
    }
}

#[async_trait]
impl CardSink for Cards {
    async fn show(&self, to: &ConversationRef, card: &Card) -> Result<CardCopy, String> {
        let endpoint = self.endpoint(to).ok_or_else(|| format!("there is no connection to {to}"))?;
        let piece = Piece {
            kind: OutgoingKind::Question,
            conversation: to.clone(),
            segments: Self::segments(&endpoint, card),
            reply_to: card.reply_to.clone(),
        };
        let message_id = self.outbound.send_for_id(&endpoint, piece).await.map_err(|e| e.to_string())?;
        Ok(CardCopy { conversation: to.clone(), message_id })
    }

    async fn edit(&self, copy: &CardCopy, card: &Card) {
        let Some(endpoint) = self.endpoint(&copy.conversation) else { return };
        if endpoint.info.can(Ability::Buttons) {
            let piece = Piece {
                kind: OutgoingKind::Question,
                conversation: copy.conversation.clone(),
                segments: Self::segments(&endpoint, card),
                reply_to: None,
            };
            let (outbound, id) = (self.outbound.clone(), copy.message_id.clone());
            self.tasks.spawn("edit card", async move {
                if let Err(e) = outbound.edit(&endpoint, &id, piece).await {
                    tracing::warn!(endpoint = endpoint.id, error = %e, "a card was not edited");
                }
            });
            return;
        }
        let Some(end) = card.end.as_ref().filter(|end| end.tell) else { return };
        let piece = Piece {
            kind: OutgoingKind::Notice,
            conversation: copy.conversation.clone(),
            segments: vec![Segment::plain(end.text.clone())],
            reply_to: None,
        };
        if let Err(e) = self.outbound.send(&endpoint, piece).await {
            tracing::debug!(endpoint = endpoint.id, error = %e, "the end of a card was not told");
        }
    }
}
