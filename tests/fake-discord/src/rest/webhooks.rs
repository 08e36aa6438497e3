//! What follows the first answer to an interaction: more messages, and changes of the ones sent.

use super::interactions::{drafting, owned, said};
use super::{Answer, Call, Reply, edit, id, ok};
use crate::id::Id;
use crate::model::{Interaction, flags};
use crate::print;
use crate::refusal::Refusal;
use crate::rules::draft;
use crate::seed;
use crate::world::World;
use serde_json::Value;

pub(crate) fn answer(world: &mut World, call: &Call, (app, token): (Id, &str), rest: &[&str]) -> Answer {
    if app != seed::APPLICATION {
        return Err(Refusal::unknown(10015));
    }
    let now = world.now_ms();
    let found = world.interactions.values().find(|i| i.token == token);
    let of = found.ok_or_else(|| Refusal::new(401, 50027, "Invalid Webhook Token"))?.clone();
    if now > of.at_ms + Interaction::TOKEN_MS {
        return Err(Refusal::new(401, 50027, "Invalid Webhook Token"));
    }
    if of.answered.is_none() {
        return Err(Refusal::unknown(10015));
    }
    match (call.method.as_str(), rest) {
        ("POST", []) => follow_up(world, call, &of),
        (_, ["messages", message]) => {
            let message = match *message {
                "@original" => of.original.ok_or_else(|| Refusal::unknown(10008))?,
                other => id(other)?,
            };
            owned(world, &of, message)?;
            one(world, call, &of, message)
        }
        _ => Err(Refusal::unknown(0)),
    }
}

fn one(world: &mut World, call: &Call, of: &Interaction, message: Id) -> Answer {
    match call.method.as_str() {
        "GET" => ok(print::message(world, owned(world, of, message)?)),
        "PATCH" => {
            change(world, call, of, message)?;
            ok(print::message(world, owned(world, of, message)?))
        }
        "DELETE" => {
            loaded(world, of);
            world.erase(of.channel, message);
            Ok(Reply::Empty)
        }
        _ => Err(Refusal::unknown(0)),
    }
}

fn change(world: &mut World, call: &Call, of: &Interaction, message: Id) -> Result<(), Refusal> {
    let draft = draft(&call.body, drafting(world, of.channel))?;
    edit::apply(world, (of.channel, message), draft)?;
    if of.original == Some(message) {
        loaded(world, of);
    }
    Ok(())
}

fn loaded(world: &mut World, of: &Interaction) {
    if let Some(interaction) = world.interactions.get_mut(&of.id) {
        interaction.loading = false;
    }
}

/// The first message after a deferred answer becomes that answer.
fn follow_up(world: &mut World, call: &Call, of: &Interaction) -> Answer {
    let draft = draft(&call.body, drafting(world, of.channel))?;
    if draft.is_blank() {
        return Err(Refusal::empty_message());
    }
    let message = match of.original.filter(|_| of.loading) {
        Some(original) => {
            edit::apply(world, (of.channel, original), draft)?;
            loaded(world, of);
            original
        }
        None => {
            let set = call.body.json.get("flags").and_then(Value::as_u64).unwrap_or_default();
            said(world, of, draft, (set & flags::EPHEMERAL != 0, false))
        }
    };
    ok(print::message(world, owned(world, of, message)?))
}
