//! Registering slash commands.

use super::{Answer, Call, Reply, id, ok};
use crate::id::Id;
use crate::model::{Command, CommandScope};
use crate::print;
use crate::refusal::Refusal;
use crate::rules;
use crate::seed;
use crate::world::{Overwritten, World};
use serde_json::Value;

/// Commands that may be made anew in a day, per place.
const DAILY: usize = 200;
const DAY_MS: u64 = 24 * 3_600_000;
const MAX: usize = 100;

pub(crate) fn answer(world: &mut World, call: &Call, app: Id, rest: &[&str]) -> Answer {
    if app != seed::APPLICATION {
        return Err(Refusal::new(403, 20012, "You are not authorized to perform this action on this application"));
    }
    let (scope, rest) = match rest {
        ["commands", rest @ ..] => (CommandScope::Global, rest),
        ["guilds", guild, "commands", rest @ ..] => (CommandScope::Guild(world.joined(id(guild)?)?.id), rest),
        _ => return Err(Refusal::unknown(0)),
    };
    match (call.method.as_str(), rest) {
        ("GET", []) => ok(of(world, scope).map(print::command).collect()),
        ("PUT", []) => overwrite(world, scope, &call.body.json),
        ("POST", []) => create(world, scope, &call.body.json),
        ("GET", [command]) => ok(print::command(find(world, scope, id(command)?)?)),
        ("PATCH", [command]) => change(world, scope, id(command)?, &call.body.json),
        ("DELETE", [command]) => {
            let command = find(world, scope, id(command)?)?.id;
            world.commands.registered.retain(|c| c.id != command);
            Ok(Reply::Empty)
        }
        _ => Err(Refusal::unknown(0)),
    }
}

fn of(world: &World, scope: CommandScope) -> impl Iterator<Item = &Command> {
    world.commands.registered.iter().filter(move |c| c.scope == scope)
}

fn find(world: &World, scope: CommandScope, id: Id) -> Result<&Command, Refusal> {
    of(world, scope).find(|c| c.id == id).ok_or_else(|| Refusal::unknown(10063))
}

/// Replaces all commands of a place.
fn overwrite(world: &mut World, scope: CommandScope, body: &Value) -> Answer {
    let list = rules::commands(body)?;
    let mut next = Vec::new();
    for value in list {
        next.push(built(world, scope, value)?);
    }
    let names = next.iter().map(|c| c.name.clone()).collect();
    let at_ms = world.now_ms();
    world.commands.registered.retain(|c| c.scope != scope);
    world.commands.registered.extend(next);
    world.commands.overwrites.push(Overwritten { at_ms, scope, names });
    ok(of(world, scope).map(print::command).collect())
}

fn create(world: &mut World, scope: CommandScope, body: &Value) -> Answer {
    rules::command(body)?;
    let command = built(world, scope, body)?;
    let known = of(world, scope).any(|c| c.id == command.id);
    if !known && of(world, scope).filter(|c| c.kind == command.kind).count() >= MAX {
        return Err(Refusal::new(400, 30032, "Maximum number of application commands reached (100)"));
    }
    let out = print::command(&command);
    world.commands.registered.retain(|c| c.id != command.id);
    world.commands.registered.push(command);
    Ok(Reply::Json(if known { 200 } else { 201 }, out))
}

fn change(world: &mut World, scope: CommandScope, id: Id, body: &Value) -> Answer {
    let former = find(world, scope, id)?;
    let mut whole = print::command(former);
    if let (Value::Object(whole), Value::Object(body)) = (&mut whole, body) {
        whole.extend(body.clone());
    }
    rules::command(&whole)?;
    let version = world.new_id();
    let mut next = fields(&whole, scope, id);
    next.version = version;
    let out = print::command(&next);
    world.commands.registered.retain(|c| c.id != id);
    world.commands.registered.push(next);
    ok(out)
}

fn fields(value: &Value, scope: CommandScope, id: Id) -> Command {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let kind = value.get("type").and_then(Value::as_u64).and_then(|n| u8::try_from(n).ok()).unwrap_or(1);
    let options = value.get("options").and_then(Value::as_array).cloned().unwrap_or_default();
    Command { id, scope, name: text("name"), kind, description: text("description"), options, version: id }
}

/// A command from its body; one of the same name keeps its id, one that is the same its version too.
fn built(world: &mut World, scope: CommandScope, body: &Value) -> Result<Command, Refusal> {
    let id = world.new_id();
    let mut command = fields(body, scope, id);
    let twin = of(world, scope).find(|c| c.name == command.name && c.kind == command.kind).cloned();
    if let Some(twin) = twin {
        command.id = twin.id;
        let same = twin.description == command.description && twin.options == command.options;
        command.version = if same { twin.version } else { id };
        return Ok(command);
    }
    let now = world.now_ms();
    let made = &mut world.commands.made_ms;
    made.retain(|(_, at)| at + DAY_MS > now);
    if made.iter().filter(|(place, _)| *place == scope).count() >= DAILY {
        return Err(Refusal::new(400, 30034, "Max number of daily application command creates has been reached (200)"));
    }
    made.push((scope, now));
    Ok(command)
}
