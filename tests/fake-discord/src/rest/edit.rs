//! Changing and deleting.

use super::messages::{pinged, store};
use super::{Answer, Call, Reply, ok, place};
use crate::form::{Fields, FormErrors};
use crate::gateway::intents;
use crate::id::Id;
use crate::model::{Message, Version, flags};
use crate::permissions::bits;
use crate::print;
use crate::refusal::Refusal;
use crate::rules::{Draft, Limits, draft};
use crate::seed;
use crate::world::World;
use serde_json::{Value, json};

/// How old a message may be for a bulk delete, milliseconds.
const BULK_MS: u64 = 14 * 24 * 3_600_000;

pub(crate) fn edit(world: &mut World, call: &Call, channel: Id, message: Id) -> Answer {
    let place = world.seen(channel)?;
    let of = world.message(channel, message)?;
    let limits = Limits { unit: world.options.unit, file_max: world.upload_max(channel), ephemeral: false };
    let draft = draft(&call.body, limits)?;
    if of.author.id != seed::BOT {
        // of others only the previews may be changed, by a moderator
        let only_flags = call.body.json.as_object().is_some_and(|o| o.keys().all(|key| key == "flags"));
        let moderates = world.may(seed::BOT, place) & bits::MANAGE_MESSAGES != 0;
        if !only_flags || !moderates {
            return Err(Refusal::new(403, 50005, "Cannot edit a message authored by another user"));
        }
    }
    place::awake(place)?;
    apply(world, (channel, message), draft)?;
    let of = world.message(channel, message)?;
    ok(print::message(world, of))
}

/// Changes what a draft names of a message, and tells every session.
pub(crate) fn apply(world: &mut World, (channel, message): (Id, Id), draft: Draft) -> Result<(), Refusal> {
    let now = world.now_ms();
    let unknown = || Refusal::unknown(10008);
    let of = world.channels.get(&channel).and_then(|c| c.messages.get(&message)).ok_or_else(unknown)?;
    let mut next = Message::clone(of);
    let body = draft.body;
    if let Some(kept) = &body.kept {
        next.attachments.retain(|a| kept.contains(&a.id));
    }
    next.attachments.extend(store(world, channel, draft.files));
    if let Some(content) = body.content {
        next.mentions = pinged(world, (&next.author, channel), &content, &body.allowed, next.reference.as_ref());
        if content != next.content {
            next.versions.push(Version { until_ms: now, content: std::mem::replace(&mut next.content, content) });
        }
    }
    next.embeds = body.embeds.unwrap_or(next.embeds);
    next.components = body.components.unwrap_or(next.components);
    if let Some(set) = body.flags {
        next.flags = (next.flags & !flags::SUPPRESS_EMBEDS) | (set & flags::SUPPRESS_EMBEDS);
    }
    let blank = next.content.is_empty() && next.embeds.is_empty() && next.components.is_empty();
    if blank && next.attachments.is_empty() {
        return Err(Refusal::empty_message());
    }
    // the first text of a deferred answer is no edit
    if next.flags & flags::LOADING == 0 {
        next.edited_ms = Some(now);
    }
    next.flags &= !flags::LOADING;
    if let Some(of) = world.message_mut(channel, message) {
        *of = next;
    }
    world.emit_message("MESSAGE_UPDATE", channel, message);
    Ok(())
}

pub(crate) fn delete(world: &mut World, channel: Id, message: Id) -> Answer {
    place::awake(world.seen(channel)?)?;
    let own = world.message(channel, message)?.author.id == seed::BOT;
    if !own {
        world.allowed(channel, bits::MANAGE_MESSAGES)?;
    }
    world.erase(channel, message);
    Ok(Reply::Empty)
}

pub(crate) fn delete_many(world: &mut World, call: &Call, channel: Id) -> Answer {
    world.allowed(channel, bits::MANAGE_MESSAGES)?;
    let mut errors = FormErrors::default();
    let list = Fields::new(&call.body.json, "").ids("messages", 100, &mut errors);
    if list.len() < 2 {
        errors.add("messages", "BASE_TYPE_BAD_LENGTH", "Must be between 2 and 100 in length.");
    }
    errors.result()?;
    let oldest = world.now_ms().saturating_sub(BULK_MS);
    if list.iter().any(|id| id.made_ms() < oldest) {
        let text = "You can only bulk delete messages that are under 14 days old.";
        return Err(Refusal::new(400, 50034, text));
    }
    for message in list {
        if world.message(channel, message).is_ok() {
            world.erase(channel, message);
        }
    }
    Ok(Reply::Empty)
}

impl World {
    /// Deletes a message and tells every session.
    pub(crate) fn erase(&mut self, channel: Id, message: Id) {
        let now = self.now_ms();
        let Some(of) = self.message_mut(channel, message) else { return };
        of.deleted_ms = Some(now);
        if of.only_for.is_none() {
            let data: Value = json!({"id": message});
            self.emit_in(channel, (intents::GUILD_MESSAGES, intents::DIRECT_MESSAGES), "MESSAGE_DELETE", data);
        }
    }
}
