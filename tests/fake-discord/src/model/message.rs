//! Messages.

use crate::id::Id;
use crate::model::User;
use serde::Serialize;
use serde_json::Value;

/// Flags of a message.
pub mod flags {
    /// No previews of links.
    pub const SUPPRESS_EMBEDS: u64 = 1 << 2;
    /// Only one person sees it.
    pub const EPHEMERAL: u64 = 1 << 6;
    /// The answer is still being written.
    pub const LOADING: u64 = 1 << 7;
    /// No push message.
    pub const SUPPRESS_NOTIFICATIONS: u64 = 1 << 12;
}

/// A file of a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attachment {
    /// Id.
    pub id: Id,
    /// Name.
    pub name: String,
    /// Type.
    pub mime: String,
    /// Bytes.
    pub size: usize,
    /// Text for those who do not see it.
    pub description: Option<String>,
    /// Where to get it.
    pub url: String,
}

/// Whom a message mentions so that they are told.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Mentions {
    /// People.
    pub users: Vec<Id>,
    /// Roles.
    pub roles: Vec<Id>,
    /// Everyone.
    pub everyone: bool,
}

/// The message this one answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reference {
    /// Message.
    pub message: Id,
    /// Its channel.
    pub channel: Id,
}

/// One emoji under a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reaction {
    /// Emoji as in the path: the character, or `name:id`.
    pub emoji: String,
    /// Who.
    pub users: Vec<Id>,
}

/// A text a message once had.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Version {
    /// Until when, Unix milliseconds.
    pub until_ms: u64,
    /// Text.
    pub content: String,
}

/// How a message came, when not from its author's hand.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// A webhook.
    Webhook(Id),
    /// The answer to an interaction.
    Interaction(Id),
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Message {
    /// Id.
    pub id: Id,
    /// Where.
    pub channel: Id,
    /// Who.
    pub author: User,
    /// Text.
    pub content: String,
    /// Discord's number of its type: 0 plain, 19 reply, 20 answer to a command.
    pub kind: u8,
    /// When, Unix milliseconds.
    pub at_ms: u64,
    /// When it was last edited.
    pub edited_ms: Option<u64>,
    /// When it was deleted.
    pub deleted_ms: Option<u64>,
    /// Earlier texts, oldest first.
    pub versions: Vec<Version>,
    /// Flags.
    pub flags: u64,
    /// Embeds as sent.
    pub embeds: Vec<Value>,
    /// Rows of buttons as sent.
    pub components: Vec<Value>,
    /// Files.
    pub attachments: Vec<Attachment>,
    /// Who was told.
    pub mentions: Mentions,
    /// What it answers.
    pub reference: Option<Reference>,
    /// Nonce of the sender.
    pub nonce: Option<Value>,
    /// Reactions.
    pub reactions: Vec<Reaction>,
    /// Its way.
    pub via: Option<Via>,
    /// The only one who sees it.
    pub only_for: Option<Id>,
    /// A fault: bots are sent it without its content, whatever their intents.
    pub without_content: bool,
}

impl Message {
    /// A text without anything else.
    pub(crate) fn plain(id: Id, channel: Id, author: User, content: &str, at_ms: u64) -> Self {
        Self {
            id,
            channel,
            author,
            content: content.into(),
            kind: 0,
            at_ms,
            edited_ms: None,
            deleted_ms: None,
            versions: Vec::new(),
            flags: 0,
            embeds: Vec::new(),
            components: Vec::new(),
            attachments: Vec::new(),
            mentions: Mentions::default(),
            reference: None,
            nonce: None,
            reactions: Vec::new(),
            via: None,
            only_for: None,
            without_content: false,
        }
    }

    /// Whether the channel still shows it to all.
    pub fn is_public(&self) -> bool {
        self.deleted_ms.is_none() && self.only_for.is_none()
    }

    /// A component by its `custom_id`.
    pub fn component(&self, custom_id: &str) -> Option<&Value> {
        let rows = self.components.iter().filter_map(|row| row.get("components")?.as_array());
        rows.flatten().find(|c| c.get("custom_id").and_then(Value::as_str) == Some(custom_id))
    }
}
