//! The bot itself, other people, private conversations.

use super::{Answer, Call, ok};
use crate::form::{Fields, FormErrors};
use crate::id::Id;
use crate::model::{Channel, ChannelKind};
use crate::print;
use crate::refusal::Refusal;
use crate::seed;
use crate::world::World;
use serde_json::{Value, json};

pub(crate) fn gateway(world: &World, bot: bool) -> Answer {
    let mut out = json!({"url": world.gateway_url()});
    if bot {
        out["shards"] = json!(1);
        out["session_start_limit"] =
            json!({"total": 1000, "remaining": 1000, "reset_after": 14_400_000, "max_concurrency": 1});
    }
    ok(out)
}

pub(crate) fn application(world: &World) -> Answer {
    let owner = world.users.get(&seed::ANN).map(print::user);
    ok(json!({
        "id": seed::APPLICATION, "name": "mybot", "icon": null, "description": "", "summary": "", "bot_public": true,
        "bot_require_code_grant": false, "verify_key": "0".repeat(64), "owner": owner, "team": null, "flags": 0,
        "bot": print::user(&world.bot())
    }))
}

pub(crate) fn me(world: &World) -> Answer {
    ok(print::me(world))
}

pub(crate) fn guilds(world: &World) -> Answer {
    let list = world.home().map(|g| {
        let member = g.members.get(&seed::BOT);
        let may = member.map_or(0, |m| crate::permissions::base(g, m));
        json!({"id": g.id, "name": g.name, "icon": null, "owner": g.owner == seed::BOT,
            "permissions": may.to_string(), "features": []})
    });
    ok(list.collect())
}

pub(crate) fn other(world: &World, id: Id) -> Answer {
    let user = world.users.get(&id).ok_or_else(|| Refusal::unknown(10013))?;
    ok(print::user(user))
}

pub(crate) fn open_dm(world: &mut World, call: &Call) -> Answer {
    let mut errors = FormErrors::default();
    let recipient = Fields::new(&call.body.json, "").id("recipient_id", &mut errors);
    errors.result()?;
    let recipient = recipient.filter(|id| world.users.contains_key(id) && *id != seed::BOT);
    let Some(recipient) = recipient else {
        return Err(Refusal::new(400, 50033, "Invalid Recipient(s)"));
    };
    let id = world.open_dm(recipient);
    ok(world.channels.get(&id).map_or(Value::Null, |c| print::channel(world, c)))
}

impl World {
    /// The private conversation with a person, made if there is none.
    pub(crate) fn open_dm(&mut self, recipient: Id) -> Id {
        if let Some(id) = self.dm_with(recipient) {
            return id;
        }
        let id = self.new_id();
        let dm = seed::channel(id, ChannelKind::Dm, "");
        self.channels.insert(id, Channel { guild: None, recipient: Some(recipient), ..dm });
        id
    }
}
