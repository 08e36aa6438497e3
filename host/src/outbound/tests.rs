use super::*;
use crate::endpoint::Endpoint;
use crate::task::ManualClock;
use async_trait::async_trait;
use chrono::Utc;
use plugin_sdk::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A channel that answers sends by a script and remembers what was shown.
#[derive(Default)]
struct Scripted {
    answers: Mutex<Vec<SendError>>,
    shown: Mutex<Vec<String>>,
}

#[async_trait]
impl plugin_sdk::Send for Scripted {
    async fn send(&self, piece: Outgoing) -> Result<Sent, SendError> {
        if let Some(error) = self.answers.lock().unwrap().pop() {
            return Err(error);
        }
        for s in &piece.segments {
            if let Segment::Text { text, .. } = s {
                self.shown.lock().unwrap().push(text.clone());
            }
        }
        Ok(Sent { message_id: "1".into() })
    }
}

#[async_trait]
impl Receive for Scripted {
    async fn next(&self) -> Option<Delivery> {
        None
    }
    async fn accept(&self, _: u64) {}
    async fn stop(&self) {}
}

impl Edit for Scripted {}

impl Lookup for Scripted {}

fn endpoint(channel: &Arc<Scripted>, idempotent: bool) -> Arc<Endpoint> {
    let connection =
        Connection { receive: channel.clone(), send: channel.clone(), edit: channel.clone(), lookup: channel.clone() };
    let limits = AdapterLimits { idempotent_send: idempotent, ..AdapterLimits::text(100, TextUnit::Chars) };
    let info = AdapterInfo { kind: "test".into(), limits, abilities: vec![], dialect: Dialect::Markdown };
    Arc::new(Endpoint { id: "test/main".into(), info, connection, place: None, since: Utc::now() })
}

fn piece(text: &str) -> Piece {
    let conversation = ConversationRef {
        platform: "test".into(),
        endpoint: "main".into(),
        scope: Scope::Private,
        scene: "1".into(),
        parent: None,
        thread: None,
    };
    Piece { kind: OutgoingKind::Answer, conversation, segments: vec![Segment::markdown(text)], reply_to: None }
}

/// Runs a send while a manual clock skips every wait.
async fn send(channel: &Arc<Scripted>, idempotent: bool, text: &str) -> Result<(), SendError> {
    let clock = ManualClock::new(Utc::now());
    let outbound = Outbound::new(clock.shared());
    let target = endpoint(channel, idempotent);
    let work = outbound.send(&target, piece(text));
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = tokio::task::yield_now() => {
                if let Some(due) = clock.next_due() {
                    clock.advance(due);
                }
            }
        }
    }
}

#[tokio::test]
async fn a_send_that_did_not_leave_is_tried_again() {
    let channel = Arc::new(Scripted::default());
    channel
        .answers
        .lock()
        .unwrap()
        .extend([SendError::Transient("a".into()), SendError::RetryAfter { seconds: 2.0, scope: PauseScope::Chat }]);
    send(&channel, false, "hi").await.unwrap();
    assert_eq!(*channel.shown.lock().unwrap(), ["hi"]);
}

#[tokio::test]
async fn refused_markup_is_sent_once_more_as_plain_text() {
    let channel = Arc::new(Scripted::default());
    channel.answers.lock().unwrap().push(SendError::Parse("bad".into()));
    send(&channel, false, "# Title\n**bold** `code` 2 * 3").await.unwrap();
    assert_eq!(*channel.shown.lock().unwrap(), ["Title\n\nbold code 2 * 3"]);
}

#[tokio::test]
async fn an_ambiguous_send_is_repeated_only_with_a_key() {
    let channel = Arc::new(Scripted::default());
    channel.answers.lock().unwrap().push(SendError::Ambiguous("late".into()));
    assert!(send(&channel, false, "x").await.is_err());
    channel.answers.lock().unwrap().push(SendError::Ambiguous("late".into()));
    send(&channel, true, "x").await.unwrap();
}

#[tokio::test]
async fn a_permanent_error_ends_at_once() {
    let channel = Arc::new(Scripted::default());
    channel.answers.lock().unwrap().push(SendError::Permanent("no".into()));
    assert_eq!(send(&channel, true, "x").await, Err(SendError::Permanent("no".into())));
}

fn said_in(scene: &str, text: &str) -> Piece {
    let mut piece = piece(text);
    piece.conversation.scene = scene.into();
    piece
}

#[tokio::test]
async fn what_waits_for_the_platform_is_overtaken_in_other_conversations_only() {
    let (clock, channel) = (ManualClock::default(), Arc::new(Scripted::default()));
    let (out, to) = (Outbound::new(clock.shared()), endpoint(&channel, true));
    *channel.answers.lock().unwrap() = vec![SendError::RetryAfter { seconds: 5.0, scope: PauseScope::Chat }];
    let (first, second, third) =
        (out.send(&to, said_in("a", "1")), out.send(&to, said_in("a", "2")), out.send(&to, said_in("a", "3")));
    tokio::pin!(first, second);
    let mut third = Box::pin(third);
    assert!(futures::poll!(&mut first).is_pending() && futures::poll!(&mut second).is_pending());
    assert!(futures::poll!(&mut third).is_pending());
    drop(third);
    out.send(&to, said_in("b", "elsewhere")).await.unwrap();
    assert!(futures::poll!(&mut second).is_pending(), "its turn has not come");
    clock.advance(Duration::from_secs(5));
    let (one, two) = tokio::join!(first, second);
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(*channel.shown.lock().unwrap(), ["elsewhere", "1", "2"]);
    assert_eq!(out.order.len(), 0, "nothing is kept of a conversation in which nothing is sent");
}

#[tokio::test]
async fn no_secret_leaves_in_a_message() {
    let channel = Arc::new(Scripted::default());
    let redactor = crate::config::Redactor::new();
    redactor.register("s3cr3t-w0rt");
    let outbound = Outbound::new(ManualClock::new(Utc::now()).shared()).redacting(redactor);
    outbound.send(&endpoint(&channel, false), piece("It is s3cr3t-w0rt.")).await.unwrap();
    assert_eq!(*channel.shown.lock().unwrap(), ["It is [redacted]."]);
}
