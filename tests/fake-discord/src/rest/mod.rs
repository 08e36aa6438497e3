//! The REST API: which handler a request belongs to.

mod channels;
mod commands;
mod edit;
mod guilds;
mod interactions;
mod messages;
mod place;
mod reactions;
mod threads;
mod users;
mod webhooks;

pub(crate) use messages::{pinged, store};

use crate::id::Id;
use crate::refusal::Refusal;
use crate::upload::Body;
use crate::world::World;
use serde_json::Value;

/// A request below `/api/v10`.
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) parts: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Body,
}

impl Call {
    pub(crate) fn query(&self, key: &str) -> Option<&str> {
        self.query.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    fn query_id(&self, key: &str) -> Option<Id> {
        self.query(key).and_then(|v| v.parse().ok())
    }

    pub(crate) fn parts(&self) -> Vec<&str> {
        self.parts.iter().map(String::as_str).collect()
    }

    /// Whether it needs no token of the bot: an interaction's own token speaks for it.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.parts.first().map(String::as_str), Some("interactions" | "webhooks"))
            || self.parts() == ["gateway"]
    }
}

/// An answer with a body, or 204.
pub(crate) enum Reply {
    Empty,
    Json(u16, Value),
}

pub(crate) type Answer = Result<Reply, Refusal>;

fn ok(value: Value) -> Answer {
    Ok(Reply::Json(200, value))
}

fn id(text: &str) -> Result<Id, Refusal> {
    let wrong = |_| Refusal::field("_misc", "NUMBER_TYPE_COERCE", &format!("Value \"{text}\" is not snowflake."));
    text.parse().map_err(wrong)
}

/// Does what a request asks for.
pub(crate) fn answer(world: &mut World, call: &Call) -> Answer {
    let parts = call.parts();
    match (call.method.as_str(), parts.as_slice()) {
        ("GET", ["gateway"]) => users::gateway(world, false),
        ("GET", ["gateway", "bot"]) => users::gateway(world, true),
        ("GET", ["applications", "@me"] | ["oauth2", "applications", "@me"]) => users::application(world),
        ("GET", ["users", "@me"]) => users::me(world),
        ("GET", ["users", "@me", "guilds"]) => users::guilds(world),
        ("POST", ["users", "@me", "channels"]) => users::open_dm(world, call),
        ("GET", ["users", user]) => users::other(world, id(user)?),
        (_, ["guilds", guild, rest @ ..]) => guilds::answer(world, call, id(guild)?, rest),
        (_, ["channels", channel, rest @ ..]) => in_channel(world, call, id(channel)?, rest),
        (_, ["applications", app, rest @ ..]) => commands::answer(world, call, id(app)?, rest),
        ("POST", ["interactions", interaction, token, "callback"]) => {
            interactions::callback(world, call, id(interaction)?, token)
        }
        (_, ["webhooks", app, token, rest @ ..]) => webhooks::answer(world, call, (id(app)?, token), rest),
        _ => Err(Refusal::unknown(0)),
    }
}

fn in_channel(world: &mut World, call: &Call, channel: Id, rest: &[&str]) -> Answer {
    match (call.method.as_str(), rest) {
        ("GET", []) => channels::get(world, channel),
        ("POST", ["typing"]) => channels::typing(world, channel),
        ("GET", ["messages"]) => channels::messages(world, call, channel),
        ("GET", ["messages", message]) => channels::message(world, channel, id(message)?),
        ("POST", ["messages"]) => messages::create(world, call, channel),
        ("PATCH", ["messages", message]) => edit::edit(world, call, channel, id(message)?),
        ("DELETE", ["messages", message]) => edit::delete(world, channel, id(message)?),
        ("POST", ["messages", "bulk-delete"]) => edit::delete_many(world, call, channel),
        ("POST", ["messages", message, "threads"]) => threads::from_message(world, call, channel, id(message)?),
        ("POST", ["threads"]) => threads::start(world, call, channel),
        ("PUT" | "DELETE", ["thread-members", "@me"]) => threads::membership(world, channel),
        (_, ["messages", message, "reactions", rest @ ..]) => {
            reactions::answer(world, call, (channel, id(message)?), rest)
        }
        _ => Err(Refusal::unknown(0)),
    }
}
