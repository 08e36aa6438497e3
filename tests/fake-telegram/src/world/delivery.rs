//! Who gets which update.

use super::{Bot, ChatKind, Fault, World, fault};
use crate::text::units;
use serde_json::Value;

impl World {
    /// The fault of a call.
    pub(crate) fn fault(&mut self, method: &str, fields: &Value) -> Option<Fault> {
        fault::due(&mut self.faults, method, fields)
    }

    /// Hands a message of a conversation to every bot that may see it; returns the ids of the updates.
    pub(crate) fn deliver(&mut self, chat: i64, kind: &str, message: &Value, only: Option<i64>) -> Vec<i64> {
        let now = self.now_ms();
        let Some(place) = self.chats.get(&chat) else { return Vec::new() };
        let (group, last) = (place.kind.is_group(), place.last_bot);
        let mut out = Vec::new();
        for bot in &mut self.bots {
            let there = match place.kind {
                ChatKind::Private => only == Some(bot.id),
                _ => only.is_none_or(|id| id == bot.id) && !matches!(place.status(bot.id), "left" | "kicked"),
            };
            let admin = matches!(place.status(bot.id), "creator" | "administrator");
            if there && (!group || bot.reads_all || admin || meant_for(bot, message, last)) {
                out.extend(bot.queue.push(kind, message.clone(), now));
            }
        }
        out
    }
}

/// What privacy mode lets through: service messages, commands, mentions and replies.
fn meant_for(bot: &Bot, message: &Value, last: Option<i64>) -> bool {
    let content =
        ["text", "caption", "photo", "document", "voice", "audio", "video", "sticker", "animation", "video_note"];
    if !content.iter().any(|name| message.get(name).is_some()) {
        return true;
    }
    if message.pointer("/reply_to_message/from/id").and_then(Value::as_i64) == Some(bot.id)
        || message.pointer("/via_bot/id").and_then(Value::as_i64) == Some(bot.id)
    {
        return true;
    }
    let named = |text: &str| text.strip_prefix('@').is_some_and(|name| name.eq_ignore_ascii_case(bot.username()));
    [("text", "entities"), ("caption", "caption_entities")].iter().any(|(text, entities)| {
        let text = message.get(text).and_then(Value::as_str).unwrap_or_default();
        let list = message.get(entities).and_then(Value::as_array);
        list.into_iter().flatten().any(|entity| {
            let own = slice(text, entity);
            match entity.get("type").and_then(Value::as_str) {
                Some("mention") => named(&own),
                Some("text_mention") => entity.pointer("/user/id").and_then(Value::as_i64) == Some(bot.id),
                Some("bot_command") => match own.find('@') {
                    Some(at) => named(own.get(at..).unwrap_or_default()),
                    None => last.is_none_or(|last| last == bot.id),
                },
                _ => false,
            }
        })
    })
}

/// The text of an entity.
fn slice(text: &str, entity: &Value) -> String {
    let number = |name: &str| entity.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let (from, length) = (number("offset").unwrap_or(0), number("length").unwrap_or(0));
    if from.saturating_add(length) > units(text) {
        return String::new();
    }
    let units: Vec<u16> = text.encode_utf16().skip(from).take(length).collect();
    String::from_utf16_lossy(&units)
}
