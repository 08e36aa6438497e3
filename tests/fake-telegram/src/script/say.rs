//! What people write.

use super::Unplayable;
use crate::text::{CAPTION, Formatted, TEXT};
use crate::world::{ChatKind, Content, File, Member, Person, World};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

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

impl World {
    /// Plays a message.
    pub(crate) fn say(&mut self, say: &Say) -> Result<Said, Unplayable> {
        let chat = if say.chat == 0 { say.from.id } else { say.chat };
        self.chat_or_new(chat, &say.from)?;
        self.know(&say.from);
        let Some(place) = self.chats.get_mut(&chat) else { return Err(Unplayable::new("no such conversation")) };
        let kind = place.kind;
        if kind != ChatKind::Channel && say.sender == Sender::Own {
            place.members.entry(say.from.id).or_insert_with(|| Member::new("member"));
        }
        if say.thread.is_some_and(|thread| thread != 1 && !place.topics.contains_key(&thread)) {
            return Err(Unplayable::new(format!("conversation {chat} has no such topic")));
        }
        let content = self.content(say)?;
        let (id, message) = match say.edit {
            Some(id) => (id, self.edited(chat, id, content)?),
            None => {
                let head = self.head(say, chat, kind)?;
                let shown = self.add(chat, None, head, content);
                (shown.id, shown.message)
            }
        };
        let update = match (kind, say.edit) {
            (ChatKind::Channel, None) => "channel_post",
            (ChatKind::Channel, Some(_)) => "edited_channel_post",
            (_, None) => "message",
            (_, Some(_)) => "edited_message",
        };
        let first = self.bots.first().map(|bot| bot.id);
        let only = if kind == ChatKind::Private { say.to.or(first) } else { say.to };
        let updates = self.deliver(chat, update, &message, only);
        Ok(Said { chat, message_id: id, updates })
    }

    fn edited(&mut self, chat: i64, id: i64, content: Map<String, Value>) -> Result<Value, Unplayable> {
        let now = self.now();
        let shown = self.shown(chat, id).filter(|m| m.bot.is_none());
        let Some(shown) = shown else { return Err(Unplayable::new(format!("no person's message {id} there"))) };
        let mut message = shown.message.as_object().cloned().unwrap_or_default();
        for name in ["text", "entities", "caption", "caption_entities"] {
            message.remove(name);
        }
        message.insert("edit_date".into(), now.into());
        message.extend(content);
        let message = Value::Object(message);
        self.rewrite(chat, id, message.clone());
        Ok(message)
    }

    fn head(&self, say: &Say, chat: i64, kind: ChatKind) -> Result<Map<String, Value>, Unplayable> {
        let mut head = Map::new();
        let own = self.chats.get(&chat).map(|c| c.json()).unwrap_or_default();
        let channel = |id: &i64, title: &String| json!({"id": id, "type": "channel", "title": title});
        let system = |id: i64, name: &str, username: Option<&str>, is_bot: bool| {
            let username = username.map(str::to_owned);
            Person { username, is_bot, ..Person::new(id, name) }.json()
        };
        let (from, sender) = match &say.sender {
            _ if kind == ChatKind::Channel => (None, Some(own)),
            Sender::Own => (Some(say.from.json()), None),
            Sender::AnonymousAdmin => {
                (Some(system(1_087_968_824, "Group", Some("GroupAnonymousBot"), true)), Some(own))
            }
            Sender::Channel { id, title } => {
                let from = system(136_817_688, "Channel", Some("Channel_Bot"), true);
                (Some(from), Some(channel(id, title)))
            }
            Sender::LinkedChannel { id, title } => {
                head.insert("is_automatic_forward".into(), true.into());
                (Some(system(777_000, "Telegram", None, false)), Some(channel(id, title)))
            }
        };
        head.extend(from.map(|from| ("from".to_owned(), from)));
        head.extend(sender.map(|sender| ("sender_chat".to_owned(), sender)));
        // the general topic has no number in messages
        if let Some(thread) = say.thread.filter(|thread| *thread != 1) {
            head.insert("message_thread_id".into(), thread.into());
            head.insert("is_topic_message".into(), true.into());
        }
        // in a topic every message that answers nothing else answers the message that opened it
        if let Some(id) = say.reply_to.or(say.thread.filter(|thread| *thread != 1)) {
            let message = self.quoted(chat, id);
            let message = message.ok_or_else(|| Unplayable::new(format!("no message {id} to reply to")))?;
            head.insert("reply_to_message".into(), message);
        }
        if let Some(forward) = &say.forward {
            head.insert("forward_origin".into(), forward.json(self.now()));
        }
        Ok(head)
    }

    fn content(&mut self, say: &Say) -> Result<Map<String, Value>, Unplayable> {
        let mut content = Map::new();
        let mut place = TEXT;
        if let Some(media) = &say.media {
            place = CAPTION;
            let file = self.media_file(media)?;
            content.insert(media.kind.clone(), file.media(&media.kind));
            if let Some(album) = &media.album {
                content.insert("media_group_id".into(), album.clone().into());
            }
        }
        if !say.text.is_empty() {
            let text = match &say.entities {
                Some(entities) => Formatted { text: say.text.clone(), entities: entities.clone() },
                None => Formatted { text: say.text.clone(), entities: Vec::new() }.with_found(),
            };
            text.put(&mut content, place);
        }
        content.extend(say.extra.clone());
        Ok(content)
    }

    fn media_file(&mut self, media: &Media) -> Result<File, Unplayable> {
        let (start, name, mime): (&'static [u8], &str, &str) = match media.kind.as_str() {
            "photo" => (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00", "photo.jpg", "image/jpeg"),
            "document" => (b"", "notes.txt", "text/plain"),
            "voice" => (b"OggS\x00\x02", "voice.ogg", "audio/ogg"),
            "audio" => (b"ID3\x04\x00", "song.mp3", "audio/mpeg"),
            "video" | "animation" | "video_note" => (b"\x00\x00\x00\x18ftypmp42", "video.mp4", "video/mp4"),
            "sticker" => (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "sticker.webp", "image/webp"),
            other => return Err(Unplayable::new(format!("{other:?} is no kind of file"))),
        };
        if let Some(id) = &media.file_id {
            let file = self.files.get(id).cloned();
            return file.ok_or_else(|| Unplayable::new(format!("there is no file {id:?}")));
        }
        let size = if media.size == 0 { 1_024 } else { media.size };
        let name = media.name.clone().unwrap_or_else(|| name.into());
        let mime = media.mime.clone().unwrap_or_else(|| mime.into());
        Ok(self.files.add(Some(name), Some(mime), Content::Filler { start, size }))
    }
}

impl Forward {
    fn json(&self, date: i64) -> Value {
        match self {
            Forward::User(person) => json!({"type": "user", "date": date, "sender_user": person.json()}),
            Forward::Hidden(name) => json!({"type": "hidden_user", "date": date, "sender_user_name": name}),
            Forward::Channel { id, title } => {
                let chat = json!({"id": id, "type": "channel", "title": title});
                json!({"type": "channel", "date": date, "chat": chat, "message_id": 1})
            }
        }
    }
}
