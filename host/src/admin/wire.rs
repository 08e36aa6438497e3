//! The lines of an attached chat: JSON, one per line, both ways, after the upgrade of `GET /v1/chat`.

use plugin_sdk::{AdapterInfo, ConversationRef, Delivery, Draft, Inbound, Message, Outgoing, Settled};
use serde::{Deserialize, Serialize};

/// Longest line either side reads.
pub const LINE_MAX: usize = 8 << 20;

/// What the terminal sends.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromClient {
    /// First line: who attaches.
    Hello(Box<Hello>),
    /// A message.
    Message(Box<Delivered>),
    /// No more messages.
    Closed,
}

/// Who attaches.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hello {
    /// Limits and abilities of the terminal.
    pub info: AdapterInfo,
    /// Unique key of this connection.
    pub key: String,
    /// The conversation it shows.
    #[serde(default)]
    pub place: Option<ConversationRef>,
}

/// A message with its delivery.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Delivered {
    /// Dedupe key.
    pub event_key: String,
    /// Token.
    pub token: u64,
    /// The message.
    pub message: Message,
}

impl Delivered {
    /// As the contract has it.
    pub fn into_delivery(self) -> Delivery {
        Delivery { event_key: self.event_key, token: self.token, event: Inbound::Message(self.message) }
    }
}

/// What the host sends.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromHost {
    /// A piece to show.
    Send(Box<Outgoing>),
    /// A growing answer.
    Draft(Draft),
    /// Busy; what runs.
    Typing {
        /// Where.
        conversation: ConversationRef,
        /// What runs.
        label: Option<String>,
    },
    /// A message was dealt with.
    Settled(Settled),
    /// The host is ending.
    Bye,
}
