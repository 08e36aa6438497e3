//! The channels a scenario speaks through: one per platform, with one book of what was heard.

use crate::admission::CONSOLE;
use async_trait::async_trait;
use plugin_sdk::{
    Ability, AdapterInfo, AdapterLimits, ConversationRef, Delivery, Dialect, Draft, Lookup, MediaRef, Outgoing,
    Receive, Scope, Segment, SendError, Sent, Settled, TextFormat, TextUnit,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, mpsc};

/// A message of a scenario that is not settled.
#[derive(Debug, Clone)]
pub(super) struct Delivered {
    pub(super) conversation: ConversationRef,
    pub(super) principal: plugin_sdk::Principal,
}

/// A button that was shown, the newest last.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) conversation: ConversationRef,
    pub(super) message_id: String,
    label: String,
    pub(super) action: String,
    /// Its message was edited and has it no more.
    gone: bool,
}

/// What was heard and what is still open.
#[derive(Default)]
struct Books {
    replies: Vec<String>,
    open: HashMap<String, Delivered>,
    presses: usize,
    /// Where the answer to the last press belongs: before everything it set off.
    pressed_at: usize,
    buttons: Vec<Shown>,
}

/// What the channels of a stage share.
#[derive(Default)]
pub(super) struct Book {
    books: Mutex<Books>,
    pub(super) changed: Notify,
    sent: Arc<AtomicU64>,
}

impl Book {
    /// Numbers go on over all starts: an id that comes twice is a repeat.
    pub(super) fn counting(sent: Arc<AtomicU64>) -> Self {
        Self { sent, ..Self::default() }
    }

    fn with<T>(&self, f: impl FnOnce(&mut Books) -> T) -> T {
        let out = f(&mut self.books.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_waiters();
        out
    }

    /// The next number of a message or a press.
    pub(super) fn next(&self) -> u64 {
        self.sent.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn begin(&self, id: &str, message: Delivered) {
        self.with(|b| b.open.insert(id.to_string(), message));
    }

    pub(super) fn begin_press(&self) {
        self.with(|b| {
            b.presses += 1;
            b.pressed_at = b.replies.len();
        });
    }

    /// Messages that are not settled; `None` while a press is not answered.
    pub(super) fn open(&self) -> Option<Vec<Delivered>> {
        let books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        (books.presses == 0).then(|| books.open.values().cloned().collect())
    }

    pub(super) fn has_replies(&self) -> bool {
        !self.books.lock().unwrap_or_else(PoisonError::into_inner).replies.is_empty()
    }

    pub(super) fn take_replies(&self) -> Vec<String> {
        self.with(|b| std::mem::take(&mut b.replies))
    }

    /// The newest button of a label that this person can see; one that is gone only if there is no other.
    pub(super) fn button(&self, label: &str, user: &str, platform: &str) -> Option<Shown> {
        let books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let sees = |b: &&Shown| {
            b.label == label
                && b.conversation.platform == platform
                && (b.conversation.scope != Scope::Private || b.conversation.scene == user)
        };
        let found = books.buttons.iter().rev().filter(sees);
        found.clone().find(|b| !b.gone).or_else(|| found.clone().next()).cloned()
    }
}

/// One platform's channel.
pub(super) struct Channel {
    pub(super) book: Arc<Book>,
    pub(super) deliveries: tokio::sync::Mutex<mpsc::UnboundedReceiver<Delivery>>,
}

impl Channel {
    fn note_buttons(&self, piece: &Outgoing, message_id: &str) {
        let rows = piece.segments.iter().filter_map(|s| match s {
            Segment::Keyboard { rows } => Some(rows),
            _ => None,
        });
        let buttons = rows.flatten().flatten().filter(|b| !b.id.is_empty()).map(|b| Shown {
            conversation: piece.conversation.clone(),
            message_id: message_id.to_string(),
            label: b.label.clone(),
            action: b.id.clone(),
            gone: false,
        });
        let buttons: Vec<Shown> = buttons.collect();
        self.book.with(|b| {
            b.buttons.iter_mut().filter(|old| old.message_id == message_id).for_each(|old| old.gone = true);
            b.buttons.extend(buttons);
        });
    }
}

fn text_of(piece: &Outgoing) -> String {
    let mut text = String::new();
    for segment in &piece.segments {
        match segment {
            // The host's own footer stands behind the answer as plain text; a scenario is told the answer alone.
            Segment::Text { format: TextFormat::Plain, .. } if !text.is_empty() => {}
            Segment::Text { text: t, .. } => text.push_str(t),
            _ => {}
        }
    }
    text
}

#[async_trait]
impl Receive for Channel {
    async fn next(&self) -> Option<Delivery> {
        self.deliveries.lock().await.recv().await
    }
    async fn accept(&self, _token: u64) {}
    async fn stop(&self) {}
}

#[async_trait]
impl plugin_sdk::Send for Channel {
    async fn send(&self, piece: Outgoing) -> Result<Sent, SendError> {
        let message_id = self.book.next().to_string();
        self.note_buttons(&piece, &message_id);
        self.book.with(|b| b.replies.push(text_of(&piece)));
        Ok(Sent { message_id })
    }
}

#[async_trait]
impl plugin_sdk::Edit for Channel {
    async fn draft(&self, _draft: Draft) -> Result<(), SendError> {
        Ok(())
    }
    async fn typing(&self, _conversation: &ConversationRef, _label: Option<&str>) -> Result<(), SendError> {
        Ok(())
    }
    async fn edit(&self, message_id: &str, piece: Outgoing) -> Result<(), SendError> {
        self.note_buttons(&piece, message_id);
        Ok(())
    }
    async fn answer_button(&self, _token: u64, text: &str) -> Result<(), SendError> {
        self.book.with(|b| {
            let at = b.pressed_at.min(b.replies.len());
            b.replies.insert(at, text.to_string());
            b.presses = b.presses.saturating_sub(1);
        });
        Ok(())
    }
    async fn settled(&self, settled: Settled) -> Result<(), SendError> {
        self.book.with(|b| b.open.remove(&settled.message_id));
        Ok(())
    }
}

#[async_trait]
impl Lookup for Channel {
    /// Whoever sits at the console owns it; elsewhere nobody holds anything.
    async fn member(&self, conversation: &ConversationRef, _user_id: &str) -> Result<Vec<String>, SendError> {
        let owner = conversation.platform == CONSOLE;
        Ok(if owner { vec!["owner".into(), "admin".into()] } else { Vec::new() })
    }
    async fn download(&self, _media: &MediaRef, _max: u64) -> Result<Vec<u8>, SendError> {
        Ok(Vec::new())
    }
    async fn set_commands(&self, _language: Option<&str>, _commands: &[(String, String)]) -> Result<(), SendError> {
        Ok(())
    }
    async fn probe(&self) -> Result<(), SendError> {
        Ok(())
    }
}

/// What the channel of a platform can do: the console has no buttons, every other has.
pub(super) fn info(platform: &str) -> AdapterInfo {
    let limits =
        AdapterLimits { commands_max: 100, idempotent_send: true, ..AdapterLimits::text(1 << 20, TextUnit::Chars) };
    let abilities = match platform {
        CONSOLE => vec![Ability::Reply],
        _ => vec![Ability::Reply, Ability::Buttons],
    };
    AdapterInfo { kind: platform.into(), limits, abilities, dialect: Dialect::Markdown }
}

/// Ways into the channels, by platform.
pub(super) type Doors = BTreeMap<String, mpsc::UnboundedSender<Delivery>>;
