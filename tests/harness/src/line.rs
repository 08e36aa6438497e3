//! A channel and a model in the test's own process: the test delivers and answers, and sees everything that is
//! asked, sent and settled, in one order.

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use host::app::Host;
use host::model::{ModelCall, ModelClient, ModelError, ModelEvent, ModelRequest, StopReason};
use plugin_sdk::{
    Ability, AdapterInfo, AdapterLimits, Addressed, Connection, ConversationRef, Delivery, Dialect, Edit, Inbound,
    Lookup, Message, Outgoing, Principal, Receive, Scope, Segment, Send, SendError, Sent, Settled, TextUnit,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;

/// What comes out of the host.
#[derive(Debug)]
pub enum Seen {
    /// The model is asked.
    Asked(Asked),
    /// A message was sent.
    Said {
        /// Chat and thread.
        place: String,
        /// Its text.
        text: String,
        /// Ids of its buttons by label.
        buttons: Vec<(String, String)>,
    },
    /// A message of a person is done.
    Settled {
        /// Its id.
        id: String,
        /// The outcome.
        outcome: String,
    },
}

/// A request of a turn; dropped, the stream ends without an answer.
#[derive(Debug)]
pub struct Asked {
    /// What the person wrote.
    pub text: String,
    /// Texts of the whole request.
    pub request: String,
    answer: mpsc::UnboundedSender<ModelEvent>,
}

impl Asked {
    /// The next piece of the answer; whether the turn still listens.
    pub fn says(&self, event: ModelEvent) -> bool {
        self.answer.send(event).is_ok()
    }

    /// A whole answer.
    pub fn answers(self, text: &str) {
        self.says(ModelEvent::Text(text.into()));
        self.says(ModelEvent::Stop(StopReason::End));
    }

    /// A step that calls tools without arguments.
    pub fn calls(self, tools: &[&str]) {
        for (n, tool) in tools.iter().enumerate() {
            let call = ModelCall { id: format!("c{n}"), name: (*tool).into(), arguments: "{}".into() };
            self.says(ModelEvent::Call(call));
        }
        self.says(ModelEvent::Stop(StopReason::ToolUse));
    }

    /// Ends when the turn listens no more.
    pub async fn left(&self) {
        self.answer.closed().await;
    }
}

/// A model whose answers are the test's.
pub struct Told(pub mpsc::UnboundedSender<Seen>);

#[async_trait]
impl ModelClient for Told {
    fn name(&self) -> &str {
        "told"
    }

    async fn complete(
        &self,
        request: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError> {
        let (answer, events) = mpsc::unbounded_channel();
        let whole = serde_json::to_string(&request.messages).unwrap_or_default();
        let asked = Asked { text: request.user_text, request: whole, answer };
        // a test that has ended looks no more
        drop(self.0.send(Seen::Asked(asked)));
        let events = stream::unfold(events, |mut events| async move { events.recv().await.map(|e| (Ok(e), events)) });
        Ok(events.boxed())
    }
}

struct Wire {
    deliveries: Mutex<mpsc::UnboundedReceiver<Delivery>>,
    shown: mpsc::UnboundedSender<Seen>,
    sent: AtomicU64,
}

/// A connection of kind `telegram`, served by a host.
pub struct Line {
    deliver: mpsc::UnboundedSender<Delivery>,
    serving: JoinHandle<()>,
}

fn place(at: &ConversationRef) -> String {
    at.thread.as_ref().map_or_else(|| at.scene.clone(), |thread| format!("{}#{thread}", at.scene))
}

impl Line {
    /// Connects; what is shown goes to `shown`, in order.
    pub fn open(host: &Arc<Host>, shown: mpsc::UnboundedSender<Seen>) -> Self {
        let (deliver, deliveries) = mpsc::unbounded_channel();
        let wire = Arc::new(Wire { deliveries: Mutex::new(deliveries), shown, sent: AtomicU64::new(0) });
        let connection =
            Connection { receive: wire.clone(), send: wire.clone(), edit: wire.clone(), lookup: wire.clone() };
        let limits =
            AdapterLimits { commands_max: 100, idempotent_send: true, ..AdapterLimits::text(1 << 20, TextUnit::Chars) };
        let abilities = vec![Ability::Reply, Ability::Buttons];
        let info = AdapterInfo { kind: "telegram".into(), limits, abilities, dialect: Dialect::Markdown };
        let host = Arc::clone(host);
        let serving = tokio::spawn(async move { host.attach("main", info, connection, None).await });
        Self { deliver, serving }
    }

    /// A person writes: in private, or in a thread of the group `-100`.
    pub fn write(&self, id: &str, person: &str, thread: Option<&str>, text: &str) {
        let message = Message {
            id: id.into(),
            conversation: ConversationRef {
                platform: "telegram".into(),
                endpoint: "main".into(),
                scope: if thread.is_some() { Scope::Group } else { Scope::Private },
                scene: if thread.is_some() { "-100".into() } else { person.into() },
                parent: None,
                thread: thread.map(str::to_owned),
            },
            principal: Principal::person("telegram", person, None),
            segments: vec![Segment::plain(text)],
            sent_at: host::task::SystemClock::shared().now(),
            addressed: if thread.is_some() { Addressed::Mention } else { Addressed::Private },
            command: None,
            reply_to: None,
            album_id: None,
            edited: false,
        };
        let delivery = Delivery { event_key: id.into(), token: 0, event: Inbound::Message(message) };
        self.deliver.send(delivery).expect("an open line");
    }

    /// Closes it; ends when everything that came over it is settled.
    pub async fn close(self) {
        drop(self.deliver);
        self.serving.await.expect("the line ends");
    }
}

#[async_trait]
impl Receive for Wire {
    async fn next(&self) -> Option<Delivery> {
        self.deliveries.lock().await.recv().await
    }
    async fn accept(&self, _token: u64) {}
    async fn stop(&self) {}
}

#[async_trait]
impl Send for Wire {
    async fn send(&self, piece: Outgoing) -> Result<Sent, SendError> {
        let (mut text, mut buttons) = (String::new(), Vec::new());
        for segment in &piece.segments {
            match segment {
                Segment::Text { text: part, .. } => text.push_str(part),
                Segment::Keyboard { rows } => {
                    buttons.extend(rows.iter().flatten().map(|b| (b.label.clone(), b.id.clone())));
                }
                _ => {}
            }
        }
        // a test that has ended looks no more
        drop(self.shown.send(Seen::Said { place: place(&piece.conversation), text, buttons }));
        Ok(Sent { message_id: format!("s{}", self.sent.fetch_add(1, Ordering::Relaxed)) })
    }
}

#[async_trait]
impl Edit for Wire {
    async fn edit(&self, _message_id: &str, _piece: Outgoing) -> Result<(), SendError> {
        Ok(())
    }
    async fn settled(&self, settled: Settled) -> Result<(), SendError> {
        drop(self.shown.send(Seen::Settled { id: settled.message_id, outcome: settled.outcome }));
        Ok(())
    }
}

impl Lookup for Wire {}
