//! A channel that a test speaks through: what was said, the newest buttons, what was settled.

use async_trait::async_trait;
use host::app::Host;
use host::task::SystemClock;
use plugin_sdk::{
    Ability, AdapterInfo, AdapterLimits, Addressed, Connection, ConversationRef, Delivery, Dialect, Edit, Inbound,
    Lookup, Message, Outgoing, Principal, Receive, Scope, Segment, Send, SendError, Sent, Settled, TextUnit,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

/// One channel, with buttons or as a terminal.
pub(crate) struct Channel {
    pub(crate) kind: &'static str,
    door: mpsc::UnboundedSender<Delivery>,
    deliveries: tokio::sync::Mutex<mpsc::UnboundedReceiver<Delivery>>,
    book: Mutex<Book>,
    changed: Notify,
    numbers: AtomicU64,
}

/// What was heard.
#[derive(Default)]
pub(crate) struct Book {
    /// Per scene: what was said. The nth message has the id `SCENE/n`.
    pub(crate) said: HashMap<String, Vec<String>>,
    /// Per scene: the newest buttons, by label.
    pub(crate) buttons: HashMap<String, HashMap<String, String>>,
    /// Ids of messages that are done.
    pub(crate) settled: Vec<String>,
    pressed: HashMap<u64, String>,
    /// Per user: what they hold on the platform.
    pub(crate) held: HashMap<String, Vec<String>>,
    /// How often the platform was asked.
    pub(crate) lookups: usize,
    /// Message, text and buttons of each edit.
    pub(crate) edits: Vec<String>,
}

fn text(piece: &Outgoing) -> String {
    piece
        .segments
        .iter()
        .filter_map(|s| if let Segment::Text { text, .. } = s { Some(text.as_str()) } else { None })
        .collect()
}

impl Channel {
    pub(crate) fn new(kind: &'static str) -> Arc<Self> {
        let (door, deliveries) = mpsc::unbounded_channel();
        Arc::new(Self {
            kind,
            door,
            deliveries: tokio::sync::Mutex::new(deliveries),
            book: Mutex::default(),
            changed: Notify::new(),
            numbers: AtomicU64::new(1),
        })
    }

    pub(crate) fn attach(self: &Arc<Self>, host: &Arc<Host>) -> tokio::task::JoinHandle<()> {
        let limits =
            AdapterLimits { commands_max: 10, idempotent_send: true, ..AdapterLimits::text(1 << 20, TextUnit::Chars) };
        let buttons = if self.kind == "console" { vec![] } else { vec![Ability::Buttons] };
        let info = AdapterInfo { kind: self.kind.into(), limits, abilities: buttons, dialect: Dialect::Markdown };
        let connection =
            Connection { receive: self.clone(), send: self.clone(), edit: self.clone(), lookup: self.clone() };
        let (host, key) = (Arc::clone(host), self.kind);
        tokio::spawn(async move { host.attach(key, info, connection, None).await })
    }

    pub(crate) fn with<T>(&self, f: impl FnOnce(&mut Book) -> T) -> T {
        let out = f(&mut self.book.lock().expect("a lock"));
        self.changed.notify_waiters();
        out
    }

    pub(crate) async fn until<T>(&self, mut found: impl FnMut(&mut Book) -> Option<T>) -> T {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                let now = found(&mut self.book.lock().expect("a lock"));
                if let Some(now) = now {
                    return now;
                }
                changed.await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), wait).await.expect("something happens in 30 s")
    }

    /// Says something; gives the id of the message.
    pub(crate) fn say(&self, from: &Principal, place: &ConversationRef, text: &str) -> String {
        self.tell(from, place, text, |_| {})
    }

    /// The same with what else is special about the message.
    pub(crate) fn tell(
        &self,
        from: &Principal,
        place: &ConversationRef,
        text: &str,
        alter: impl FnOnce(&mut Message),
    ) -> String {
        let n = self.numbers.fetch_add(1, Ordering::SeqCst);
        let id = format!("in{n}");
        let mut message = Message {
            id: id.clone(),
            conversation: place.clone(),
            principal: from.clone(),
            segments: vec![Segment::plain(text)],
            sent_at: SystemClock::shared().now(),
            addressed: if place.scope == Scope::Private { Addressed::Private } else { Addressed::Mention },
            command: None,
            reply_to: None,
            album_id: None,
            edited: false,
        };
        alter(&mut message);
        self.door.send(Delivery { event_key: id.clone(), token: n, event: Inbound::Message(message) }).expect("open");
        id
    }

    /// The text a press is answered with.
    pub(crate) async fn press(&self, label: &str, by: &Principal, place: &ConversationRef) -> String {
        let n = self.numbers.fetch_add(1, Ordering::SeqCst);
        let action = self.with(|b| b.buttons.get(&place.scene).and_then(|l| l.get(label)).cloned()).expect("a button");
        let event = Inbound::Button { action, message_id: "m".into(), by: by.clone(), conversation: place.clone() };
        self.door.send(Delivery { event_key: format!("b{n}"), token: n, event }).expect("open");
        self.until(|b| b.pressed.remove(&n)).await
    }

    /// Ends with a card (`true`) or with the end of the message.
    pub(crate) async fn card_or_end(&self, id: &str, place: &ConversationRef, cards: usize) -> bool {
        self.until(|b| {
            let said = b.said.get(&place.scene).map_or(0, |s| s.iter().filter(|t| t.contains("May I run")).count());
            if said > cards { Some(true) } else { b.settled.iter().any(|s| s == id).then_some(false) }
        })
        .await
    }

    pub(crate) async fn settled(&self, id: &str) {
        self.until(|b| b.settled.iter().any(|s| s == id).then_some(())).await;
    }

    pub(crate) fn said(&self, place: &ConversationRef) -> String {
        self.with(|b| b.said.get(&place.scene).cloned().unwrap_or_default().join("\n"))
    }
}

#[async_trait]
impl Receive for Channel {
    async fn next(&self) -> Option<Delivery> {
        self.deliveries.lock().await.recv().await
    }
    async fn accept(&self, _: u64) {}
    async fn stop(&self) {}
}

#[async_trait]
impl Send for Channel {
    async fn send(&self, piece: Outgoing) -> Result<Sent, SendError> {
        let scene = piece.conversation.scene.clone();
        let buttons: HashMap<String, String> = piece
            .segments
            .iter()
            .filter_map(|s| if let Segment::Keyboard { rows } = s { Some(rows) } else { None })
            .flatten()
            .flatten()
            .map(|b| (b.label.clone(), b.id.clone()))
            .collect();
        let message_id = self.with(|b| {
            let said = b.said.entry(scene.clone()).or_default();
            said.push(text(&piece));
            let id = format!("{scene}/{}", said.len());
            if !buttons.is_empty() {
                b.buttons.insert(scene, buttons);
            }
            id
        });
        Ok(Sent { message_id })
    }
}

#[async_trait]
impl Edit for Channel {
    async fn edit(&self, message_id: &str, piece: Outgoing) -> Result<(), SendError> {
        let keyboard =
            piece.segments.iter().find_map(|s| if let Segment::Keyboard { rows } = s { Some(rows) } else { None });
        let labels: HashMap<String, String> =
            keyboard.into_iter().flatten().flatten().map(|b| (b.label.clone(), b.id.clone())).collect();
        self.with(|b| {
            b.edits.push(format!("{message_id} {} {}", text(&piece), labels.keys().cloned().collect::<String>()));
            if !labels.is_empty() {
                b.buttons.insert(piece.conversation.scene.clone(), labels);
            }
        });
        Ok(())
    }
    async fn answer_button(&self, token: u64, text: &str) -> Result<(), SendError> {
        self.with(|b| b.pressed.insert(token, text.to_string()));
        Ok(())
    }
    async fn settled(&self, settled: Settled) -> Result<(), SendError> {
        self.with(|b| b.settled.push(settled.message_id));
        Ok(())
    }
}

#[async_trait]
impl Lookup for Channel {
    async fn member(&self, _: &ConversationRef, user: &str) -> Result<Vec<String>, SendError> {
        Ok(self.with(|b| {
            b.lookups += 1;
            b.held.get(user).cloned().unwrap_or_default()
        }))
    }
}
