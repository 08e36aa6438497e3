//! An attached terminal as a connection: what the host sends becomes lines, what comes in becomes deliveries.

use super::wire::FromHost;
use async_trait::async_trait;
use plugin_sdk::{
    Connection, ConversationRef, Delivery, Draft, Edit, Inbound, Lookup, MediaRef, Outgoing, Receive, Send, SendError,
    Sent, Settled, Unsupported,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{Mutex, mpsc};

/// Both ends of the host's side of an attached chat.
pub(super) struct Attached {
    lines: mpsc::UnboundedSender<FromHost>,
    deliveries: Mutex<mpsc::UnboundedReceiver<Delivery>>,
    sent: AtomicU64,
}

impl Attached {
    /// A connection; lines leave through `lines`, deliveries arrive through `deliveries`.
    pub(super) fn connection(
        lines: mpsc::UnboundedSender<FromHost>,
        deliveries: mpsc::UnboundedReceiver<Delivery>,
    ) -> Connection {
        let both = Arc::new(Self { lines, deliveries: Mutex::new(deliveries), sent: AtomicU64::new(0) });
        Connection { receive: both.clone(), send: both.clone(), edit: both.clone(), lookup: both }
    }

    fn line(&self, line: FromHost) -> Result<(), SendError> {
        self.lines.send(line).map_err(|_| SendError::Permanent("the terminal has gone".into()))
    }
}

#[async_trait]
impl Receive for Attached {
    async fn next(&self) -> Option<Delivery> {
        let gone = Delivery { event_key: "closed".into(), token: 0, event: Inbound::Closed };
        Some(self.deliveries.lock().await.recv().await.unwrap_or(gone))
    }

    async fn accept(&self, _token: u64) {}

    async fn stop(&self) {
        // The terminal may be gone already; then nobody has to be told.
        drop(self.line(FromHost::Bye));
    }
}

#[async_trait]
impl Send for Attached {
    async fn send(&self, piece: Outgoing) -> Result<Sent, SendError> {
        self.line(FromHost::Send(Box::new(piece)))?;
        Ok(Sent { message_id: self.sent.fetch_add(1, Ordering::Relaxed).to_string() })
    }
}

#[async_trait]
impl Edit for Attached {
    async fn draft(&self, draft: Draft) -> Result<(), SendError> {
        self.line(FromHost::Draft(draft))
    }

    async fn typing(&self, conversation: &ConversationRef, label: Option<&str>) -> Result<(), SendError> {
        self.line(FromHost::Typing { conversation: conversation.clone(), label: label.map(str::to_string) })
    }

    async fn answer_button(&self, _token: u64, _text: &str) -> Result<(), SendError> {
        Err(Unsupported { op: "answer_button" }.into())
    }

    async fn settled(&self, settled: Settled) -> Result<(), SendError> {
        self.line(FromHost::Settled(settled))
    }
}

#[async_trait]
impl Lookup for Attached {
    /// Whoever holds the control token owns the console.
    async fn member(&self, _conversation: &ConversationRef, _user_id: &str) -> Result<Vec<String>, SendError> {
        Ok(vec!["owner".into(), "admin".into()])
    }

    async fn download(&self, _media: &MediaRef, _max: u64) -> Result<Vec<u8>, SendError> {
        Err(Unsupported { op: "download" }.into())
    }

    async fn set_commands(&self, _language: Option<&str>, _commands: &[(String, String)]) -> Result<(), SendError> {
        Ok(())
    }

    async fn probe(&self) -> Result<(), SendError> {
        Ok(())
    }
}
