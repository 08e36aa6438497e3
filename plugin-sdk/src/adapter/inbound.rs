//! What a platform delivers.

use super::AdapterError;
use crate::{CommandCall, ConversationRef, Message, Principal};

/// An inbound event.
#[derive(Debug, Clone, PartialEq)]
pub enum Inbound {
    /// A message.
    Message(Message),
    /// An edited message.
    Edited(Message),
    /// A press.
    Button {
        /// Host action id.
        action: String,
        /// Message of the button.
        message_id: String,
        /// Who pressed.
        by: Principal,
        /// Where.
        conversation: ConversationRef,
    },
    /// A slash command of the platform.
    Command {
        /// The message that stands for it.
        message: Message,
        /// The command.
        command: CommandCall,
    },
    /// A conversation has another address from now on.
    Migrated {
        /// Its former address.
        from: ConversationRef,
        /// Its new one.
        to: ConversationRef,
    },
    /// The bot was let into a conversation or left it.
    Membership {
        /// Where.
        conversation: ConversationRef,
        /// Who did it.
        by: Principal,
        /// Whether the bot is there now.
        joined: bool,
    },
    /// An event that means nothing to the host, or that cannot be read.
    Ignored {
        /// Why.
        why: String,
    },
    /// The connection broke. The host makes another one, after a pause, unless the error is final.
    Lost(AdapterError),
    /// The channel ended by itself (end of input, the person left).
    Closed,
}

/// One delivered event.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// Dedupe key, unique on the endpoint.
    pub event_key: String,
    /// Given back to `accept`.
    pub token: u64,
    /// The event.
    pub event: Inbound,
}
