//! What a channel adapter is: four one-way parts and a declaration of limits.

use crate::{ConversationRef, MediaRef};
use async_trait::async_trait;
use std::marker::Send as SendBound;
use std::sync::Arc;

mod error;
mod inbound;
mod info;
mod outgoing;

pub use error::{AdapterError, PauseScope, PieceField, SendError, Unsupported};
pub use inbound::{Delivery, Inbound};
pub use info::{Ability, AdapterInfo};
pub use outgoing::{Draft, Outgoing, OutgoingKind, Sent, Settled};

/// Inbound half.
#[async_trait]
pub trait Receive: SendBound + Sync {
    /// The next event, or `None` after `stop`.
    async fn next(&self) -> Option<Delivery>;
    /// The delivery is stored: acknowledge it to the platform.
    async fn accept(&self, token: u64);
    /// Ends the stream after the last platform request has ended.
    async fn stop(&self);
}

/// Sending half: one piece, one platform request; no retry, no wait, no split.
#[async_trait]
pub trait Send: SendBound + Sync {
    /// Sends one piece.
    async fn send(&self, piece: Outgoing) -> Result<Sent, SendError>;
}

/// Changing what was sent.
#[async_trait]
pub trait Edit: SendBound + Sync {
    /// Shows a growing answer by the adapter's own means; only with [`Ability::Stream`]. Elsewhere the host sends
    /// and edits messages.
    async fn draft(&self, _draft: Draft) -> Result<(), SendError> {
        Err(Unsupported { op: "draft" }.into())
    }
    /// Removes a message that was sent.
    async fn delete(&self, _conversation: &ConversationRef, _message_id: &str) -> Result<(), SendError> {
        Err(Unsupported { op: "delete" }.into())
    }
    /// Puts a sign on a message; `None` takes it off.
    async fn react(&self, _to: &ConversationRef, _message_id: &str, _emoji: Option<&str>) -> Result<(), SendError> {
        Err(Unsupported { op: "react" }.into())
    }
    /// Shows that the bot is busy; `label` names what runs.
    async fn typing(&self, _conversation: &ConversationRef, _label: Option<&str>) -> Result<(), SendError> {
        Err(Unsupported { op: "typing" }.into())
    }
    /// Replaces a message that was sent; the buttons are those of the new segments.
    async fn edit(&self, _message_id: &str, _piece: Outgoing) -> Result<(), SendError> {
        Err(Unsupported { op: "edit" }.into())
    }
    /// Answers a press with a text.
    async fn answer_button(&self, _token: u64, _text: &str) -> Result<(), SendError> {
        Err(Unsupported { op: "answer_button" }.into())
    }
    /// A message was dealt with; typing ends. Only channels that show the end of a turn do something.
    async fn settled(&self, _settled: Settled) -> Result<(), SendError> {
        Ok(())
    }
}

/// Asking the platform.
#[async_trait]
pub trait Lookup: SendBound + Sync {
    /// Platform permissions a person holds in a conversation.
    async fn member(&self, _conversation: &ConversationRef, _user_id: &str) -> Result<Vec<String>, SendError> {
        Err(Unsupported { op: "member" }.into())
    }
    /// Bytes of a media file of at most `max` bytes; [`SendError::TooLong`] when there are more.
    async fn download(&self, _media: &MediaRef, _max: u64) -> Result<Vec<u8>, SendError> {
        Err(Unsupported { op: "download" }.into())
    }
    /// Messages of a conversation behind the one of this id, oldest first, at most 100.
    async fn since(&self, _conversation: &ConversationRef, _message_id: &str) -> Result<Vec<Delivery>, SendError> {
        Err(Unsupported { op: "since" }.into())
    }
    /// Replaces the command menu: names and descriptions, for people of a language (`None` = all others).
    async fn set_commands(&self, _language: Option<&str>, _commands: &[(String, String)]) -> Result<(), SendError> {
        Err(Unsupported { op: "set_commands" }.into())
    }
    /// Whether the connection works; cheap. A channel of this machine always does.
    async fn probe(&self) -> Result<(), SendError> {
        Ok(())
    }
}

/// An open connection: four one-way parts and nothing else.
#[derive(Clone)]
pub struct Connection {
    /// Inbound.
    pub receive: Arc<dyn Receive>,
    /// Outbound.
    pub send: Arc<dyn Send>,
    /// Edits.
    pub edit: Arc<dyn Edit>,
    /// Lookups.
    pub lookup: Arc<dyn Lookup>,
}

/// A channel adapter.
#[async_trait]
pub trait Adapter: SendBound + Sync {
    /// What it declares.
    fn info(&self) -> AdapterInfo;
    /// Opens a connection with its own configuration table.
    async fn connect(&self, config: serde_json::Value) -> Result<Connection, AdapterError>;
}
