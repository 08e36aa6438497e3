//! Channels: looking at them, reading what was written, typing.

use super::{Answer, Call, Reply, ok, place};
use crate::gateway::intents;
use crate::id::Id;
use crate::model::{Message, Typing};
use crate::permissions::bits;
use crate::print;
use crate::refusal::Refusal;
use crate::seed;
use crate::world::World;
use serde_json::{Value, json};
use std::sync::Arc;

const PAGE: usize = 50;
const PAGE_MAX: usize = 100;

pub(crate) fn get(world: &World, channel: Id) -> Answer {
    let channel = world.seen(channel)?;
    ok(print::channel(world, channel))
}

/// A message for a request: without its content where the application lacks the intent.
pub(crate) fn shown(world: &World, message: &Message) -> Value {
    let mut out = print::message(world, message);
    if world.hides_content(message) {
        print::without_content(&mut out);
    }
    out
}

pub(crate) fn message(world: &World, channel: Id, message: Id) -> Answer {
    place::history(world, world.seen(channel)?)?;
    let message = world.message(channel, message)?;
    ok(shown(world, message))
}

/// Newest first, whatever end was asked for.
pub(crate) fn messages(world: &World, call: &Call, channel: Id) -> Answer {
    let place = world.seen(channel)?;
    if !place.kind.holds_messages() {
        return Err(Refusal::new(400, 50024, "Cannot execute action on this channel type"));
    }
    let limit = match call.query("limit").map(str::parse::<usize>) {
        None => PAGE,
        Some(Ok(n)) if (1..=PAGE_MAX).contains(&n) => n,
        Some(_) => {
            let message = format!("Value should be between 1 and {PAGE_MAX}.");
            return Err(Refusal::field("limit", "NUMBER_TYPE_MAX", &message));
        }
    };
    if ["after", "before", "around"].iter().filter(|key| call.query(key).is_some()).count() > 1 {
        return Err(Refusal::field("_misc", "BASE_TYPE_CHOICES", "Only one of before, after and around may be given."));
    }
    if world.may(seed::BOT, place) & bits::READ_MESSAGE_HISTORY == 0 {
        return ok(json!([]));
    }
    let all: Vec<&Message> = place.messages.values().map(Arc::as_ref).filter(|m| m.is_public()).collect();
    let mut page: Vec<&Message> = if let Some(after) = call.query_id("after") {
        all.into_iter().filter(|m| m.id > after).take(limit).collect()
    } else if let Some(around) = call.query_id("around") {
        let middle = all.partition_point(|m| m.id < around);
        all.into_iter().skip(middle.saturating_sub(limit / 2)).take(limit).collect()
    } else {
        let before = call.query_id("before");
        let older: Vec<&Message> = all.into_iter().filter(|m| before.is_none_or(|id| m.id < id)).collect();
        older[older.len().saturating_sub(limit)..].to_vec()
    };
    page.reverse();
    ok(page.into_iter().map(|m| shown(world, m)).collect())
}

pub(crate) fn typing(world: &mut World, channel: Id) -> Answer {
    place::writable(world, channel)?;
    world.types(seed::BOT, channel);
    Ok(Reply::Empty)
}

impl World {
    /// Somebody begins to type.
    pub(crate) fn types(&mut self, user: Id, channel: Id) {
        let at_ms = self.now_ms();
        if let Some(place) = self.channels.get_mut(&channel) {
            place.typing.push(Typing { user, at_ms });
        }
        let data = json!({"user_id": user, "timestamp": at_ms / 1_000});
        let intents = (intents::GUILD_MESSAGE_TYPING, intents::DIRECT_MESSAGE_TYPING);
        self.emit_in(channel, intents, "TYPING_START", data);
    }
}
