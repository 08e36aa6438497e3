//! Lists of commands.

use super::{Call, Done};
use crate::refusal::Refusal;
use crate::state::CommandSet;
use crate::world::World;
use serde_json::{Value, json};

const MAX: usize = 100;
const MAX_NAME: usize = 32;
const MAX_DESCRIPTION: usize = 256;

pub(super) fn set(world: &mut World, call: &Call<'_>) -> Done {
    let list = call.asked.get("commands").as_array().cloned().unwrap_or_default();
    if list.len() > MAX {
        return Err(Refusal::wrong("BOT_COMMANDS_TOO_MUCH"));
    }
    for command in &list {
        let name = command["command"].as_str().unwrap_or_default();
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(plain) {
            return Err(Refusal::wrong("BOT_COMMAND_INVALID"));
        }
        let description = command["description"].as_str().unwrap_or_default();
        if description.trim().is_empty() || description.chars().count() > MAX_DESCRIPTION {
            return Err(Refusal::wrong("BOT_COMMAND_DESCRIPTION_INVALID"));
        }
        if list.iter().filter(|other| other["command"] == command["command"]).count() > 1 {
            return Err(Refusal::wrong(format!("command {name} is listed twice")));
        }
    }
    keep(world, call, list.into())
}

pub(super) fn delete(world: &mut World, call: &Call<'_>) -> Done {
    keep(world, call, json!([]))
}

pub(super) fn get(world: &mut World, call: &Call<'_>) -> Done {
    let (scope, language) = place(world, call)?;
    let own = |set: &&CommandSet| set.bot == call.bot && set.scope == scope && set.language == language;
    Ok(world.state.commands.iter().rev().find(own).map_or_else(|| json!([]), |set| set.commands.clone()))
}

fn keep(world: &mut World, call: &Call<'_>, commands: Value) -> Done {
    let (scope, language) = place(world, call)?;
    let at_ms = world.now_ms();
    world.state.commands.push(CommandSet { at_ms, bot: call.bot, scope, language, commands });
    Ok(true.into())
}

fn place(world: &World, call: &Call<'_>) -> Result<(Value, String), Refusal> {
    let language = call.asked.text("language_code").unwrap_or_default();
    let two = language.len() == 2 && language.chars().all(|c| c.is_ascii_lowercase());
    if !language.is_empty() && !two {
        return Err(Refusal::wrong("LANGUAGE_CODE_INVALID"));
    }
    let scope = call.asked.get("scope");
    if scope.is_null() {
        return Ok((json!({"type": "default"}), language.into()));
    }
    if let Some(chat) = scope.get("chat_id") {
        world.chat_named(chat)?;
    }
    Ok((scope.clone(), language.into()))
}
