//! What people write.

use crate::world::Person;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A message of a person. With the defaults: a private text from one person to the first bot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Say {
    /// The bot a private message goes to, and the only one that gets this message; left out: the first one, in
    /// groups all.
    pub to: Option<i64>,
    /// Conversation; 0 is the private one of `from`. One nobody knows is made.
    pub chat: i64,
    /// Topic.
    pub thread: Option<i64>,
    /// Who.
    pub from: Person,
    /// In whose name.
    pub sender: Sender,
    /// Text; the caption when there is a file.
    pub text: String,
    /// Entities; commands, mentions, hashtags and addresses are found when left out.
    pub entities: Option<Vec<Value>>,
    /// Message that is replied to.
    pub reply_to: Option<i64>,
    /// A file.
    pub media: Option<Media>,
    /// Where it is forwarded from.
    pub forward: Option<Forward>,
    /// Changes this message instead of writing a new one.
    pub edit: Option<i64>,
    /// Further fields of the message, as they are.
    pub extra: Map<String, Value>,
}

/// In whose name a message is written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Sender {
    /// Their own.
    #[default]
    Own,
    /// The group's, by an administrator who stays unnamed.
    AnonymousAdmin,
    /// A channel's, by somebody who owns one.
    Channel {
        /// Its id.
        id: i64,
        /// Its title.
        title: String,
    },
    /// A post of the channel this group belongs to, brought here by the platform.
    LinkedChannel {
        /// Its id.
        id: i64,
        /// Its title.
        title: String,
    },
}

/// A file of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Media {
    /// `photo`, `document`, `voice`, `audio`, `video`, `animation`, `video_note` or `sticker`.
    pub kind: String,
    /// A file that is there, from `/__files`; left out: one is made.
    pub file_id: Option<String>,
    /// Size of a file that is made.
    pub size: usize,
    /// File name.
    pub name: Option<String>,
    /// Type.
    pub mime: Option<String>,
    /// The album it belongs to.
    pub album: Option<String>,
}

/// The origin of a forwarded message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Forward {
    /// A person.
    User(Person),
    /// A person who hides the account.
    Hidden(String),
    /// A post of a channel.
    Channel {
        /// Its id.
        id: i64,
        /// Its title.
        title: String,
    },
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Conversation.
    pub chat: i64,
    /// Number of the message.
    pub message_id: i64,
    /// Updates it made, one for each bot that may see it.
    pub updates: Vec<i64>,
}

impl Say {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// In a conversation.
    #[must_use]
    pub fn chat(self, chat: i64) -> Self {
        Self { chat, ..self }
    }

    /// In a topic.
    #[must_use]
    pub fn thread(self, thread: i64) -> Self {
        Self { thread: Some(thread), ..self }
    }

    /// By somebody.
    #[must_use]
    pub fn from(self, from: Person) -> Self {
        Self { from, ..self }
    }

    /// In somebody else's name.
    #[must_use]
    pub fn sender(self, sender: Sender) -> Self {
        Self { sender, ..self }
    }

    /// As a reply.
    #[must_use]
    pub fn reply_to(self, message: i64) -> Self {
        Self { reply_to: Some(message), ..self }
    }

    /// With a file.
    #[must_use]
    pub fn media(self, media: Media) -> Self {
        Self { media: Some(media), ..self }
    }

    /// As a change of a message.
    #[must_use]
    pub fn edit(self, message: i64) -> Self {
        Self { edit: Some(message), ..self }
    }
}

impl Media {
    /// A file of a kind that is made.
    pub fn new(kind: impl Into<String>, size: usize) -> Self {
        Self { kind: kind.into(), size, ..Self::default() }
    }

    /// In an album.
    #[must_use]
    pub fn album(self, album: impl Into<String>) -> Self {
        Self { album: Some(album.into()), ..self }
    }
}
