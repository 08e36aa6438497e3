//! Sending: texts, chat actions, and messages that were there before.

use super::markup;
use super::{Call, Done};
use crate::refusal::Refusal;
use crate::state::ChatAction;
use crate::text::TEXT;
use crate::world::{ChatKind, Target, World};
use serde_json::{Map, Value, json};

const ACTIONS: [&str; 11] = [
    "typing",
    "upload_photo",
    "record_video",
    "upload_video",
    "record_voice",
    "upload_voice",
    "upload_document",
    "choose_sticker",
    "find_location",
    "record_video_note",
    "upload_video_note",
];

pub(super) fn message(world: &mut World, call: &Call<'_>) -> Done {
    let text = TEXT.read_some(&call.asked.fields)?.with_found();
    let mut content = Map::new();
    text.put(&mut content, TEXT);
    let target = allowed(world, call)?;
    Ok(post(world, call, target, content)?.remove(0))
}

/// Whether this may be sent there now, rates not counted.
pub(super) fn allowed(world: &World, call: &Call<'_>) -> Result<Target, Refusal> {
    markup::inline(call.asked)?;
    world.target(call.bot, call.asked)
}

/// Sends one message and returns it (as a list of one).
pub(super) fn post(
    world: &mut World,
    call: &Call<'_>,
    target: Target,
    content: Map<String, Value>,
) -> Result<Vec<Value>, Refusal> {
    post_all(world, call, target, vec![content])
}

/// Sends messages that belong together; they count as one.
pub(super) fn post_all(
    world: &mut World,
    call: &Call<'_>,
    target: Target,
    contents: Vec<Map<String, Value>>,
) -> Result<Vec<Value>, Refusal> {
    let reply = reply(world, call, target)?;
    let keyboard = markup::inline(call.asked)?;
    count(world, target)?;
    let mut out = Vec::new();
    for mut content in contents {
        let head = head(world, call.bot, target, reply.clone());
        if let Some(keyboard) = &keyboard {
            content.insert("reply_markup".into(), keyboard.clone());
        }
        if call.asked.flag("protect_content") {
            content.insert("has_protected_content".into(), true.into());
        }
        out.push(world.add(target.chat, Some(call.bot), head, content).message);
    }
    if let Some(chat) = world.chats.get_mut(&target.chat) {
        chat.last_bot = Some(call.bot);
    }
    Ok(out)
}

/// Counts a send or an edit against the rates.
pub(super) fn count(world: &mut World, target: Target) -> Result<(), Refusal> {
    let now = world.now_ms();
    if !world.options.rates {
        return Ok(());
    }
    let excess = world.rates.count(target.chat, target.kind.is_group(), now);
    excess.map_or(Ok(()), |seconds| Err(Refusal::slow_down(seconds).avoidable()))
}

fn head(world: &mut World, bot: i64, target: Target, reply: Option<Value>) -> Map<String, Value> {
    let mut head = Map::new();
    if let Some(thread) = target.thread {
        head.insert("message_thread_id".into(), thread.into());
        head.insert("is_topic_message".into(), true.into());
    }
    if target.kind == ChatKind::Channel {
        let chat = world.chats.get(&target.chat).map(|chat| chat.json());
        head.insert("sender_chat".into(), chat.unwrap_or_default());
    } else if let Some(bot) = world.bot(bot) {
        head.insert("from".into(), bot.person.json());
    }
    if let Some(reply) = reply {
        head.insert("reply_to_message".into(), reply);
    }
    head
}

/// The message that is replied to.
fn reply(world: &World, call: &Call<'_>, target: Target) -> Result<Option<Value>, Refusal> {
    let parameters = call.asked.get("reply_parameters");
    let Some(id) = parameters["message_id"].as_i64() else { return Ok(None) };
    let chat = match &parameters["chat_id"] {
        Value::Null => target.chat,
        name => world.chat_named(name)?,
    };
    let Some(message) = world.quoted(chat, id) else {
        return match parameters["allow_sending_without_reply"].as_bool() {
            Some(true) => Ok(None),
            _ => Err(Refusal::bad("message to be replied not found")),
        };
    };
    if let Some(quote) = parameters["quote"].as_str() {
        let text = message.get("text").or_else(|| message.get("caption")).and_then(Value::as_str).unwrap_or_default();
        if !text.contains(quote) {
            return Err(Refusal::bad("QUOTE_TEXT_INVALID"));
        }
    }
    Ok(Some(message))
}

pub(super) fn action(world: &mut World, call: &Call<'_>) -> Done {
    let action = call.asked.text("action").unwrap_or_default();
    if !ACTIONS.contains(&action) {
        return Err(Refusal::wrong("wrong parameter action in request"));
    }
    let target = world.target(call.bot, call.asked)?;
    let at_ms = world.now_ms();
    world.state.actions.push(ChatAction { at_ms, chat: target.chat, thread: target.thread, action: action.into() });
    Ok(true.into())
}

pub(super) fn forward(world: &mut World, call: &Call<'_>) -> Done {
    let (mut content, message) = original(world, call, "message to forward not found")?;
    let target = allowed(world, call)?;
    let origin = match message.get("from") {
        Some(user) => json!({"type": "user", "date": message["date"], "sender_user": user}),
        None => {
            json!({"type": "channel", "date": message["date"], "chat": message["chat"], "message_id": message["message_id"]})
        }
    };
    content.insert("forward_origin".into(), origin);
    Ok(post(world, call, target, content)?.remove(0))
}

pub(super) fn copy(world: &mut World, call: &Call<'_>) -> Done {
    let (content, _) = original(world, call, "message to copy not found")?;
    let target = allowed(world, call)?;
    let sent = post(world, call, target, content)?.remove(0);
    Ok(json!({"message_id": sent["message_id"]}))
}

/// What an older message holds, without its place.
fn original(world: &World, call: &Call<'_>, lost: &str) -> Result<(Map<String, Value>, Value), Refusal> {
    let chat = world.chat_named(call.asked.get("from_chat_id"))?;
    let message = world.quoted(chat, call.asked.number("message_id").unwrap_or(0));
    let message = message.ok_or_else(|| Refusal::bad(lost))?;
    let own = ["text", "entities", "caption", "caption_entities"];
    let content = message.as_object().into_iter().flatten();
    let content = content.filter(|(name, _)| own.contains(&name.as_str()) || super::media::is_media(name));
    let content: Map<String, Value> = content.map(|(name, value)| (name.clone(), value.clone())).collect();
    if content.is_empty() {
        return Err(Refusal::bad("message can't be forwarded"));
    }
    Ok((content, message))
}
