//! Guilds, their members, roles and channels.

use super::{Answer, Call, id, ok};
use crate::id::Id;
use crate::print;
use crate::refusal::Refusal;
use crate::seed;
use crate::world::World;
use serde_json::{Value, json};

pub(crate) fn answer(world: &World, call: &Call, guild: Id, rest: &[&str]) -> Answer {
    let guild = world.joined(guild)?;
    match (call.method.as_str(), rest) {
        ("GET", []) => ok(print::guild(guild)),
        ("GET", ["roles"]) => ok(guild.roles.values().map(|r| print::role(guild, r)).collect()),
        ("GET", ["roles", role]) => {
            let role = id(role)?;
            let role = guild.roles.get(&role).ok_or_else(|| Refusal::new(404, 10011, "Unknown Role"))?;
            ok(print::role(guild, role))
        }
        ("GET", ["channels"]) => {
            let own = world.channels.values().filter(|c| c.guild == Some(guild.id) && !c.kind.is_thread());
            ok(own.map(|c| print::channel(world, c)).collect())
        }
        ("GET", ["threads", "active"]) => {
            let threads = world.channels.values().filter(|c| c.guild == Some(guild.id) && c.kind.is_thread());
            let seen = threads.filter(|c| !c.archived && world.may(seed::BOT, c) != 0);
            let list: Vec<Value> = seen.map(|c| print::channel(world, c)).collect();
            ok(json!({"threads": list, "members": []}))
        }
        ("GET", ["members"]) => {
            if !world.options.members {
                return Err(Refusal::access());
            }
            let limit = call.query("limit").and_then(|n| n.parse().ok()).unwrap_or(1);
            let after = call.query_id("after").unwrap_or_default();
            let list = guild.members.values().filter(|m| m.user > after).take(limit);
            ok(list.map(|m| print::member(world, m)).collect())
        }
        ("GET", ["members", user]) => {
            let user = id(user)?;
            if !world.users.contains_key(&user) {
                return Err(Refusal::unknown(10013));
            }
            let member = guild.members.get(&user).ok_or_else(|| Refusal::unknown(10007))?;
            ok(print::member(world, member))
        }
        _ => Err(Refusal::unknown(0)),
    }
}
