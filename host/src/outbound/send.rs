//! Sends one piece and does what each typed error asks for.

use super::clean::clean;
use super::order::Order;
use crate::config::Redactor;
use crate::endpoint::Endpoint;
use crate::render::plain_text;
use crate::task::SharedClock;
use plugin_sdk::{ConversationRef, Dialect, Outgoing, OutgoingKind, Segment, SendError, TextFormat};
use std::sync::Arc;
use std::time::Duration;

/// Tries of a send that did not leave.
const TRIES: u32 = 10;
/// Longest single wait between tries.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// What is to be said.
#[derive(Debug, Clone)]
pub struct Piece {
    /// What it is for.
    pub kind: OutgoingKind,
    /// Where.
    pub conversation: ConversationRef,
    /// What.
    pub segments: Vec<Segment>,
    /// Answered message.
    pub reply_to: Option<String>,
}

/// The sending side of the process.
#[derive(Clone)]
pub struct Outbound {
    clock: SharedClock,
    pub(super) order: Order,
    redactor: Arc<Redactor>,
}

impl Outbound {
    /// Waits with the given clock; knows no secret but by its shape.
    pub fn new(clock: SharedClock) -> Self {
        Self { clock, order: Order::default(), redactor: Redactor::new() }
    }

    /// The same, letting out none of these secrets.
    #[must_use]
    pub fn redacting(self, redactor: Arc<Redactor>) -> Self {
        Self { redactor, ..self }
    }

    /// Sends one piece; the error is the last one when every try failed. It waits for whatever was given before it
    /// for the same conversation; its place in this order is taken when the future is first polled.
    pub async fn send(&self, endpoint: &Arc<Endpoint>, piece: Piece) -> Result<(), SendError> {
        self.send_for_id(endpoint, piece).await.map(|_| ())
    }

    /// The same; gives the platform's id of the message.
    pub async fn send_for_id(&self, endpoint: &Arc<Endpoint>, piece: Piece) -> Result<String, SendError> {
        let _turn = self.order.enter(piece.conversation.to_string()).await;
        self.pass_on(endpoint, piece, None).await
    }

    /// Replaces a message that was sent.
    pub async fn edit(&self, endpoint: &Arc<Endpoint>, message_id: &str, piece: Piece) -> Result<(), SendError> {
        self.pass_on(endpoint, piece, Some(message_id)).await.map(|_| ())
    }

    /// A new message, or another text of the one named by `edits`.
    async fn pass_on(&self, endpoint: &Arc<Endpoint>, piece: Piece, edits: Option<&str>) -> Result<String, SendError> {
        let key = uuid::Uuid::now_v7().to_string();
        let mut segments = rendered(clean(&self.redactor, piece.segments), endpoint.info.dialect);
        let mut wait = Duration::from_secs(1);
        let mut plain_tried = false;
        for attempt in 1..=TRIES {
            let outgoing = Outgoing {
                kind: piece.kind,
                conversation: piece.conversation.clone(),
                segments: segments.clone(),
                entities: Vec::new(),
                reply_to: piece.reply_to.clone(),
                idempotency_key: key.clone(),
            };
            let passed = match edits {
                None => endpoint.connection.send.send(outgoing).await.map(|sent| sent.message_id),
                Some(id) => endpoint.connection.edit.edit(id, outgoing).await.map(|()| id.to_string()),
            };
            match passed {
                Ok(id) => return Ok(id),
                Err(SendError::NotModified) => return Ok(edits.unwrap_or_default().to_string()),
                Err(SendError::RetryAfter { seconds, .. }) => {
                    let seconds = if seconds.is_finite() { seconds.clamp(0.0, 900.0) } else { 900.0 };
                    self.clock.sleep(Duration::from_secs_f64(seconds)).await;
                }
                Err(SendError::Parse(_)) if !plain_tried => {
                    plain_tried = true;
                    segments = rendered(segments, Dialect::Plain);
                }
                Err(e @ SendError::Transient(_)) if attempt < TRIES => {
                    tracing::debug!(endpoint = endpoint.id, error = %e, attempt, "send is tried again");
                    self.clock.sleep(wait).await;
                    wait = (wait * 2).min(LONGEST_WAIT);
                }
                // An edit that is repeated has the same result.
                Err(SendError::Ambiguous(_)) if edits.is_some() && attempt < TRIES => self.clock.sleep(wait).await,
                // The same key makes the repeat recognisable; without it a repeat might be a second message.
                Err(SendError::Ambiguous(_)) if endpoint.info.limits.idempotent_send && attempt < TRIES => {
                    self.clock.sleep(wait).await;
                }
                Err(e) => return Err(e),
            }
        }
        Err(SendError::Permanent("every try failed".into()))
    }
}

/// Segments in the channel's dialect.
fn rendered(segments: Vec<Segment>, dialect: Dialect) -> Vec<Segment> {
    if dialect != Dialect::Plain {
        return segments;
    }
    segments
        .into_iter()
        .map(|s| match s {
            Segment::Text { text, format: TextFormat::Markdown } => Segment::plain(plain_text(&text)),
            other => other,
        })
        .collect()
}
