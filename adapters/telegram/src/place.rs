//! Addresses: a chat and its topic on one side, a conversation on the other.

use plugin_sdk::{ConversationRef, Scope, SendError};
use teloxide_core::types::{Chat, ChatId, Message, MessageId, ThreadId};

/// Name of the platform.
pub(crate) const PLATFORM: &str = "telegram";

/// The topic every forum has. It is addressed by leaving the topic out.
const GENERAL: i32 = 1;

/// The conversation of a chat, or of one of its topics.
pub(crate) fn conversation(endpoint: &str, chat: &Chat, topic: Option<ThreadId>) -> ConversationRef {
    let scope = match () {
        () if chat.is_private() => Scope::Private,
        () if chat.is_channel() => Scope::Channel,
        () => Scope::Group,
    };
    ConversationRef {
        platform: PLATFORM.into(),
        endpoint: endpoint.into(),
        scope,
        scene: chat.id.to_string(),
        parent: None,
        thread: topic.filter(|t| t.0.0 != GENERAL).map(|t| t.to_string()),
    }
}

/// The topic a message was written in. A reply in a group without topics has a thread id too, which means nothing.
pub(crate) fn topic(message: &Message) -> Option<ThreadId> {
    message.thread_id.filter(|_| message.is_topic_message)
}

/// The chat of a conversation.
pub(crate) fn chat(conversation: &ConversationRef) -> Result<ChatId, SendError> {
    conversation.scene.parse().map(ChatId).map_err(|_| SendError::Permanent("the scene is no chat id".into()))
}

/// The topic of a conversation.
pub(crate) fn thread(conversation: &ConversationRef) -> Result<Option<ThreadId>, SendError> {
    let Some(thread) = &conversation.thread else { return Ok(None) };
    Ok(Some(ThreadId(message_id(thread)?)).filter(|t| t.0.0 != GENERAL))
}

/// A message's id.
pub(crate) fn message_id(text: &str) -> Result<MessageId, SendError> {
    text.parse().map(MessageId).map_err(|_| SendError::Permanent("this is no id of a message".into()))
}
