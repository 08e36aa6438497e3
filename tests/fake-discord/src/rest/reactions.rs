//! Reactions.

use super::{Answer, Call, Reply, ok, place};
use crate::gateway::intents;
use crate::id::Id;
use crate::model::Reaction;
use crate::permissions::bits;
use crate::print;
use crate::refusal::Refusal;
use crate::seed;
use crate::world::World;
use serde_json::json;

/// Different emojis under one message.
const KINDS: usize = 20;

pub(crate) fn answer(world: &mut World, call: &Call, (channel, message): (Id, Id), rest: &[&str]) -> Answer {
    place::history(world, world.seen(channel)?)?;
    let found = world.message(channel, message)?;
    let (Some(emoji), who) = (rest.first(), rest.get(1)) else {
        return Err(Refusal::unknown(0));
    };
    if !is_emoji(emoji) {
        return Err(Refusal::new(400, 10014, "Unknown Emoji"));
    }
    if call.method != "GET" {
        place::awake(world.seen(channel)?)?;
    }
    match (call.method.as_str(), who) {
        ("GET", None) => {
            let users = found.reactions.iter().filter(|r| r.emoji == *emoji).flat_map(|r| &r.users);
            ok(users.filter_map(|id| world.users.get(id)).map(print::user).collect())
        }
        ("PUT", Some(&"@me")) => {
            let known = found.reactions.iter().any(|r| r.emoji == *emoji);
            if !known {
                world.allowed(channel, bits::ADD_REACTIONS)?;
                if found.reactions.len() >= KINDS {
                    return Err(Refusal::new(400, 30010, "Maximum number of reactions reached (20)"));
                }
            }
            world.reacts(seed::BOT, (channel, message), emoji, true);
            Ok(Reply::Empty)
        }
        ("DELETE", Some(&"@me")) => {
            world.reacts(seed::BOT, (channel, message), emoji, false);
            Ok(Reply::Empty)
        }
        ("DELETE", Some(user)) => {
            let user = super::id(user)?;
            world.allowed(channel, bits::MANAGE_MESSAGES)?;
            world.reacts(user, (channel, message), emoji, false);
            Ok(Reply::Empty)
        }
        _ => Err(Refusal::unknown(0)),
    }
}

/// A character that is no letter, or `name:id`.
fn is_emoji(text: &str) -> bool {
    match text.rsplit_once(':') {
        Some((name, id)) => !name.is_empty() && id.parse::<u64>().is_ok(),
        None => !text.is_ascii() && !text.chars().all(char::is_alphabetic),
    }
}

impl World {
    /// Somebody adds or takes a reaction.
    pub(crate) fn reacts(&mut self, user: Id, (channel, message): (Id, Id), emoji: &str, add: bool) {
        let Some(of) = self.message_mut(channel, message) else { return };
        let author = of.author.id;
        let at = of.reactions.iter().position(|r| r.emoji == emoji);
        let changed = match (at.and_then(|i| of.reactions.get_mut(i)), add) {
            (Some(reaction), true) if !reaction.users.contains(&user) => {
                reaction.users.push(user);
                true
            }
            (None, true) => {
                of.reactions.push(Reaction { emoji: emoji.into(), users: vec![user] });
                true
            }
            (Some(reaction), false) if reaction.users.contains(&user) => {
                reaction.users.retain(|u| *u != user);
                true
            }
            _ => false,
        };
        of.reactions.retain(|r| !r.users.is_empty());
        if changed {
            let name = if add { "MESSAGE_REACTION_ADD" } else { "MESSAGE_REACTION_REMOVE" };
            let data = json!({"user_id": user, "message_id": message, "emoji": print::emoji(emoji), "burst": false,
                "burst_colors": [], "type": 0, "message_author_id": author});
            let intents = (intents::GUILD_MESSAGE_REACTIONS, intents::DIRECT_MESSAGE_REACTIONS);
            self.emit_in(channel, intents, name, data);
        }
    }
}
