//! Channels, threads and private conversations.

use crate::id::Id;
use crate::model::Message;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a channel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKind {
    /// A text channel of a guild.
    Text,
    /// A private conversation.
    Dm,
    /// A voice channel with its text.
    Voice,
    /// A heading above channels.
    Category,
    /// A channel others may follow.
    Announcement,
    /// A thread of an announcement channel.
    AnnouncementThread,
    /// A thread or a forum post.
    Thread,
    /// A thread for invited people.
    PrivateThread,
    /// A channel of posts.
    Forum,
}

impl ChannelKind {
    /// Discord's number.
    pub fn number(self) -> u8 {
        match self {
            Self::Text => 0,
            Self::Dm => 1,
            Self::Voice => 2,
            Self::Category => 4,
            Self::Announcement => 5,
            Self::AnnouncementThread => 10,
            Self::Thread => 11,
            Self::PrivateThread => 12,
            Self::Forum => 15,
        }
    }

    /// Whether it is a thread.
    pub fn is_thread(self) -> bool {
        matches!(self, Self::AnnouncementThread | Self::Thread | Self::PrivateThread)
    }

    /// Whether it holds messages itself.
    pub fn holds_messages(self) -> bool {
        !matches!(self, Self::Category | Self::Forum)
    }
}

/// What a role or a member may and may not do in one channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overwrite {
    /// Role or member.
    pub id: Id,
    /// Whether it is about a member.
    #[serde(default)]
    pub member: bool,
    /// Bits that are added.
    #[serde(default)]
    pub allow: u64,
    /// Bits that are taken.
    #[serde(default)]
    pub deny: u64,
}

/// Somebody began to type.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Typing {
    /// Who.
    pub user: Id,
    /// When, Unix milliseconds.
    pub at_ms: u64,
}

/// A place of messages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Channel {
    /// Id.
    pub id: Id,
    /// Kind.
    pub kind: ChannelKind,
    /// Name; empty in a private conversation.
    pub name: String,
    /// Guild.
    pub guild: Option<Id>,
    /// Category, or the channel of a thread.
    pub parent: Option<Id>,
    /// The other one of a private conversation.
    pub recipient: Option<Id>,
    /// Who started a thread.
    pub owner: Option<Id>,
    /// Whether a thread sleeps.
    pub archived: bool,
    /// Whether only moderators wake it.
    pub locked: bool,
    /// Permissions of this channel.
    pub overwrites: Vec<Overwrite>,
    /// Messages, deleted ones too; shared, so that a copy of the state costs little.
    pub messages: BTreeMap<Id, Arc<Message>>,
    /// Who typed when.
    pub typing: Vec<Typing>,
}
