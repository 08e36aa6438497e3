//! How a person's message becomes the platform's, and an update.

use super::{Forward, Media, Said, Say, Sender, Unplayable};
use crate::text::{CAPTION, Formatted, TEXT};
use crate::world::{ChatKind, Content, File, Member, Person, World};
use serde_json::{Map, Value, json};

impl World {
    /// Plays a message.
    pub(crate) fn say(&mut self, say: &Say) -> Result<Said, Unplayable> {
        let chat = if say.chat == 0 { say.from.id } else { say.chat };
        self.chat_or_new(chat, &say.from)?;
        self.know(&say.from);
        let Some(place) = self.chats.get_mut(&chat) else { return Err(Unplayable::new("no such conversation")) };
        let kind = place.kind;
        if let Some(to) = place.migrated_to {
            return Err(Unplayable::new(format!("conversation {chat} has moved to {to}")));
        }
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
