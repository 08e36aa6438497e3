//! Conversations: who is in them and their topics.

use super::{Call, Done};
use crate::refusal::Refusal;
use crate::world::{Chat, ChatKind, Member, Topic, World};
use serde_json::{Map, Value, json};

fn found<'a>(world: &'a World, call: &Call<'_>) -> Result<&'a Chat, Refusal> {
    let id = world.chat_of(call.asked)?;
    let chat = world.chats.get(&id).ok_or_else(|| Refusal::bad("chat not found"))?;
    let gone = matches!(chat.status(call.bot), "left" | "kicked");
    if gone && chat.kind != ChatKind::Private && chat.username.is_none() {
        return Err(Refusal::forbidden(format!("bot is not a member of the {} chat", chat.kind.name())));
    }
    Ok(chat)
}

/// A `User` by id, person or bot.
fn user(world: &World, id: i64) -> Option<Value> {
    let bot = world.bots.iter().find(|bot| bot.id == id).map(|bot| bot.person.json());
    bot.or_else(|| world.people.get(&id).map(|person| person.json()))
}

pub(super) fn info(world: &mut World, call: &Call<'_>) -> Done {
    let chat = found(world, call)?;
    let mut out = chat.json();
    out["accent_color_id"] = json!(0);
    out["max_reaction_count"] = json!(11);
    let gifts = ["unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"];
    out["accepted_gift_types"] =
        gifts.iter().map(|name| ((*name).to_owned(), Value::from(false))).collect::<Map<_, _>>().into();
    Ok(out)
}

pub(super) fn member(world: &mut World, call: &Call<'_>) -> Done {
    let chat = found(world, call)?;
    let id = call.asked.number("user_id").unwrap_or(0);
    let user = user(world, id).ok_or_else(|| Refusal::bad("PARTICIPANT_ID_INVALID"))?;
    let member = chat.members.get(&id).cloned().unwrap_or_else(|| Member::new("left"));
    Ok(member.json(user))
}

pub(super) fn administrators(world: &mut World, call: &Call<'_>) -> Done {
    let chat = found(world, call)?;
    if chat.kind == ChatKind::Private {
        return Err(Refusal::wrong("there are no administrators in the private chat"));
    }
    let list = chat.members.iter().filter(|(_, m)| matches!(m.status.as_str(), "creator" | "administrator"));
    Ok(list.filter_map(|(id, m)| Some(m.json(user(world, *id)?))).collect())
}

pub(super) fn count(world: &mut World, call: &Call<'_>) -> Done {
    let there = |m: &&Member| !matches!(m.status.as_str(), "left" | "kicked");
    Ok(found(world, call)?.members.values().filter(there).count().into())
}

pub(super) fn leave(world: &mut World, call: &Call<'_>) -> Done {
    let id = found(world, call)?.id;
    if let Some(chat) = world.chats.get_mut(&id) {
        chat.members.insert(call.bot, Member::new("left"));
    }
    Ok(true.into())
}

pub(super) fn create_topic(world: &mut World, call: &Call<'_>) -> Done {
    let id = forum(world, call)?;
    let name = call.asked.text("name").unwrap_or_default().to_owned();
    if !(1..=128).contains(&name.chars().count()) {
        return Err(Refusal::wrong("TOPIC_TITLE_INVALID"));
    }
    let bot = call.bot;
    Ok(world.topic(id, &name, None, Some(bot)))
}

pub(super) fn change_topic(world: &mut World, call: &Call<'_>) -> Done {
    let id = forum(world, call)?;
    let thread = call.asked.number("message_thread_id").unwrap_or(0);
    let topic = world.chats.get_mut(&id).and_then(|chat| chat.topics.get_mut(&thread)).filter(|t| !t.deleted);
    let Some(topic) = topic else { return Err(Refusal::bad("message thread not found")) };
    *topic = match call.asked.method.name.as_str() {
        "closeForumTopic" => Topic { closed: true, deleted: false },
        "deleteForumTopic" => Topic { closed: false, deleted: true },
        _ => Topic::default(),
    };
    Ok(true.into())
}

fn forum(world: &World, call: &Call<'_>) -> Result<i64, Refusal> {
    let chat = found(world, call)?;
    if !chat.forum {
        return Err(Refusal::wrong("the chat is not a forum"));
    }
    if !world.has(chat.id, call.bot, "can_manage_topics") {
        return Err(Refusal::bad("not enough rights to create a topic"));
    }
    Ok(chat.id)
}
