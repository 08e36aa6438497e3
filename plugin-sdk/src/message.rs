//! The message model shared by every channel.

use crate::{ConversationRef, Principal};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// How a message addressed the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Addressed {
    /// The bot was mentioned.
    Mention,
    /// A reply to a message of the bot.
    Reply,
    /// A command.
    Command,
    /// A private chat.
    Private,
    /// A configured keyword.
    Keyword,
    /// A configured prefix.
    Prefix,
    /// Not addressed.
    None,
}

/// A chat command as the platform or the host parsed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CommandCall {
    /// Command word without the slash.
    pub name: String,
    /// Rest of the line, trimmed.
    pub args: String,
}

/// What a message replies to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReplyTo {
    /// Id of the other message.
    pub message_id: String,
    /// Whether this bot wrote it.
    pub by_bot: bool,
}

/// Where media bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MediaSource {
    /// A copy in the host's media store.
    Store(String),
    /// A URL.
    Url(String),
    /// A platform's own file id.
    PlatformFile(String),
}

/// A media file by reference.
// SHAPE: 07 §1
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MediaRef {
    /// Where the bytes are.
    #[serde(flatten)]
    pub source: MediaSource,
    /// Declared or detected type.
    pub mime: String,
    /// File name, untrusted.
    pub name: Option<String>,
    /// Bytes.
    pub size: Option<u64>,
    /// Digest of the bytes, lower-case hex.
    pub sha256: Option<String>,
}

/// Look of a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ButtonStyle {
    /// Default look.
    #[default]
    Plain,
    /// The suggested one.
    Primary,
    /// A dangerous one.
    Danger,
}

/// A button under a message.
// SHAPE: 07 §1
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Button {
    /// Host action id; empty for a link button.
    pub id: String,
    /// 1–64 characters.
    pub label: String,
    /// Look.
    #[serde(default)]
    pub style: ButtonStyle,
    /// Target of a link button.
    pub url: Option<String>,
}

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextFormat {
    /// As it stands.
    Plain,
    /// CommonMark with tables, strikethrough and task lists.
    Markdown,
}

/// Whom a mention names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MentionTarget {
    /// A person.
    User,
    /// This bot.
    Bot,
    /// A platform role.
    Role,
    /// A channel.
    Channel,
    /// Everybody.
    Everyone,
}

/// One entry of a forwarded bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ForwardEntry {
    /// Who wrote it, untrusted.
    pub name: String,
    /// Its text, untrusted.
    pub text: String,
}

/// One part of a message.
// SHAPE: 07 §1
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Segment {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Inbound is plain, a model's answer is Markdown.
        format: TextFormat,
    },
    /// A mention.
    Mention {
        /// Kind of target.
        target: MentionTarget,
        /// Platform id.
        id: String,
        /// Shown name.
        name: String,
    },
    /// An image.
    Image {
        /// The file.
        media: MediaRef,
        /// Text beside it.
        caption: Option<String>,
    },
    /// A sound or voice note.
    Audio {
        /// The file.
        media: MediaRef,
        /// Text beside it.
        caption: Option<String>,
    },
    /// A video.
    Video {
        /// The file.
        media: MediaRef,
        /// Text beside it.
        caption: Option<String>,
    },
    /// Any other file.
    File {
        /// The file.
        media: MediaRef,
        /// Text beside it.
        caption: Option<String>,
    },
    /// A quoted message.
    Reply {
        /// Its id.
        message_id: String,
        /// Who wrote it.
        name: Option<String>,
        /// First 500 characters.
        excerpt: Option<String>,
    },
    /// Forwarded texts.
    Forward {
        /// From whom.
        from: Option<String>,
        /// At most 50.
        entries: Vec<ForwardEntry>,
    },
    /// Buttons; outbound only.
    Keyboard {
        /// Rows of buttons.
        rows: Vec<Vec<Button>>,
    },
}

impl Segment {
    /// A plain text segment.
    pub fn plain(text: impl Into<String>) -> Self {
        Segment::Text { text: text.into(), format: TextFormat::Plain }
    }

    /// A Markdown text segment.
    pub fn markdown(text: impl Into<String>) -> Self {
        Segment::Text { text: text.into(), format: TextFormat::Markdown }
    }
}

/// One inbound message.
// SHAPE: 07 §1
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Message {
    /// Platform's id.
    pub id: String,
    /// Where.
    pub conversation: ConversationRef,
    /// Who.
    pub principal: Principal,
    /// What.
    pub segments: Vec<Segment>,
    /// When, UTC.
    pub sent_at: DateTime<Utc>,
    /// How it addressed the bot.
    pub addressed: Addressed,
    /// Set when it is a command.
    pub command: Option<CommandCall>,
    /// Set when it is a reply.
    pub reply_to: Option<ReplyTo>,
    /// Album it belongs to.
    pub album_id: Option<String>,
    /// Whether it is an edit.
    #[serde(default)]
    pub edited: bool,
}

impl Message {
    /// What the person wrote: texts and mentions in order, as `@name`. The mention of this bot is left out where it
    /// opens or closes the message, with the blanks, comma or colon that part it from the rest.
    ///
    /// ```
    /// # use plugin_sdk::{Addressed, ConversationRef, MentionTarget, Message, Principal, Scope, Segment};
    /// # let conversation = ConversationRef { platform: "telegram".into(), endpoint: "main".into(), scope: Scope::Group,
    /// #     scene: "-1".into(), parent: None, thread: None };
    /// # let mut message = Message { id: "1".into(), conversation, principal: Principal::person("telegram", "7", None),
    /// #     segments: vec![], sent_at: chrono::DateTime::UNIX_EPOCH, addressed: Addressed::Mention, command: None,
    /// #     reply_to: None, album_id: None, edited: false };
    /// message.segments = vec![
    ///     Segment::Mention { target: MentionTarget::Bot, id: "42".into(), name: "desk".into() },
    ///     Segment::plain(", tell "),
    ///     Segment::Mention { target: MentionTarget::User, id: "8".into(), name: "ann".into() },
    ///     Segment::plain(" hi"),
    /// ];
    /// assert_eq!(message.text(), "tell @ann hi");
    /// ```
    pub fn text(&self) -> String {
        let parts: Vec<&Segment> = self
            .segments
            .iter()
            .filter(|s| match s {
                Segment::Text { text, .. } => !text.is_empty(),
                other => matches!(other, Segment::Mention { .. }),
            })
            .collect();
        let is_bot = |s: &&Segment| matches!(s, Segment::Mention { target: MentionTarget::Bot, .. });
        let (opens, closes) = (parts.first().is_some_and(is_bot), parts.last().is_some_and(is_bot));
        let last = parts.len().saturating_sub(1);
        let mut out = String::new();
        for (i, part) in parts.iter().enumerate() {
            match part {
                Segment::Text { text, .. } => out.push_str(text),
                Segment::Mention { .. } if (i == 0 && opens) || (i == last && closes) => {}
                Segment::Mention { name, .. } => {
                    out.push('@');
                    out.push_str(name);
                }
                _ => {}
            }
        }
        let parting = |c: char| c.is_whitespace() || matches!(c, ',' | ':');
        let mut text = out.as_str();
        if opens {
            text = text.trim_start_matches(parting);
        }
        if closes {
            text = text.trim_end();
        }
        text.to_string()
    }
}
