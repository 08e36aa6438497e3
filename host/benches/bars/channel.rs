//! A host with a channel that waits for the end of each message.

use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt};
use host::app::{Host, HostOptions, StoreKind};
use host::model::{ModelClient, ModelError, ModelEvent, ModelRequest, StopReason, Usage};
use host::task::SystemClock;
use plugin_sdk::{
    Ability, AdapterInfo, AdapterLimits, Addressed, Connection, ConversationRef, Delivery, Dialect, Edit, Inbound,
    Lookup, Message, Outgoing, Principal, Receive, Role, Scope, Segment, Send, SendError, Sent, Settled, TextUnit,
};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Answers `pong` after a time.
pub(crate) struct Pong(pub(crate) Duration);

#[async_trait]
impl ModelClient for Pong {
    fn name(&self) -> &str {
        "pong"
    }

    async fn complete(
        &self,
        _: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError> {
        if !self.0.is_zero() {
            tokio::time::sleep(self.0).await;
        }
        let usage = Usage { input: 100, output: 1, ..Usage::default() };
        let events = [ModelEvent::Text("pong".into()), ModelEvent::Usage(usage), ModelEvent::Stop(StopReason::End)];
        Ok(stream::iter(events.map(Ok)).boxed())
    }
}

/// The channel's end of a connection.
struct Line {
    deliveries: tokio::sync::Mutex<mpsc::UnboundedReceiver<Delivery>>,
    open: Mutex<HashMap<String, oneshot::Sender<String>>>,
    sent: AtomicU64,
}

#[async_trait]
impl Receive for Line {
    async fn next(&self) -> Option<Delivery> {
        self.deliveries.lock().await.recv().await
    }
    async fn accept(&self, _token: u64) {}
    async fn stop(&self) {}
}

#[async_trait]
impl Send for Line {
    async fn send(&self, _piece: Outgoing) -> Result<Sent, SendError> {
        Ok(Sent { message_id: self.sent.fetch_add(1, Ordering::Relaxed).to_string() })
    }
}

#[async_trait]
impl Edit for Line {
    async fn settled(&self, settled: Settled) -> Result<(), SendError> {
        if let Some(waiting) = self.open.lock().expect("a lock").remove(&settled.message_id) {
            // Whoever no longer waits does not need to hear it.
            drop(waiting.send(settled.outcome));
        }
        Ok(())
    }
}

impl Lookup for Line {}

fn info() -> AdapterInfo {
    let limits =
        AdapterLimits { commands_max: 100, idempotent_send: true, ..AdapterLimits::text(1 << 20, TextUnit::Chars) };
    AdapterInfo { kind: "console".into(), limits, abilities: vec![Ability::Reply], dialect: Dialect::Markdown }
}

/// A running host and the line to it.
pub(crate) struct Rig {
    pub(crate) host: Arc<Host>,
    line: Arc<Line>,
    deliver: mpsc::UnboundedSender<Delivery>,
    next: AtomicU64,
    serving: JoinHandle<()>,
    _data: tempfile::TempDir,
}

impl Rig {
    /// Starts a host of `bot` with a model that takes `latency`.
    pub(crate) async fn start(bot: &Path, store: StoreKind, watch: bool, latency: Duration) -> Arc<Self> {
        let data = tempfile::tempdir().expect("a folder");
        let mut options = HostOptions::new(bot, SystemClock::shared());
        options.data_dir = (store == StoreKind::Disk).then(|| data.path().join("data"));
        options.store = store;
        options.watch = watch;
        options.model = Some(Arc::new(Pong(latency)));
        let host = match Host::start(options).await {
            Ok(host) => Arc::new(host),
            Err(e) => panic!("{:#?}", e.diagnostics),
        };
        let (deliver, deliveries) = mpsc::unbounded_channel();
        let line = Arc::new(Line {
            deliveries: tokio::sync::Mutex::new(deliveries),
            open: Mutex::default(),
            sent: AtomicU64::new(0),
        });
        let connection =
            Connection { receive: line.clone(), send: line.clone(), edit: line.clone(), lookup: line.clone() };
        let served = Arc::clone(&host);
        let serving = tokio::spawn(async move { served.attach("bench", info(), connection, None).await });
        Arc::new(Self { host, line, deliver, next: AtomicU64::new(0), serving, _data: data })
    }

    /// One message of person `who` in a conversation of its own, up to its end.
    pub(crate) async fn ask(&self, who: usize) {
        let n = self.next.fetch_add(1, Ordering::Relaxed);
        let id = format!("m{n}");
        let (tell, told) = oneshot::channel();
        self.line.open.lock().expect("a lock").insert(id.clone(), tell);
        let event = Inbound::Message(message(&id, who));
        self.deliver.send(Delivery { event_key: id, token: n, event }).expect("an open line");
        let outcome = told.await.expect("an end");
        assert_eq!(outcome, "completed", "the turn did not complete");
    }

    pub(crate) async fn stop(self: Arc<Self>) {
        let Some(rig) = Arc::into_inner(self) else { panic!("somebody still asks") };
        drop(rig.deliver);
        rig.serving.await.expect("the line ends");
        rig.host.shutdown().await;
    }
}

fn message(id: &str, who: usize) -> Message {
    Message {
        id: id.into(),
        conversation: ConversationRef {
            platform: "console".into(),
            endpoint: "main".into(),
            scope: Scope::Private,
            scene: id.into(),
            parent: None,
            thread: None,
        },
        principal: Principal::person("console", format!("p{who}"), Some(Role::Master)),
        segments: vec![Segment::plain("ping")],
        sent_at: SystemClock::shared().now(),
        addressed: Addressed::Private,
        command: None,
        reply_to: None,
        album_id: None,
        edited: false,
    }
}
