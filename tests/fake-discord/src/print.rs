//! Things as Discord's JSON.

use crate::clock::printed;
use crate::id::Id;
use crate::model::{
    Attachment, Channel, Command, CommandScope, Guild, Interaction, InteractionKind, Member, Message, Role, User, Via,
};
use crate::seed;
use crate::world::World;
use serde_json::{Value, json};

pub(crate) fn user(user: &User) -> Value {
    json!({
        "id": user.id, "username": user.name, "global_name": if user.bot { Value::Null } else { json!(user.name) },
        "discriminator": if user.bot { "0001" } else { "0" }, "avatar": null, "banner": null, "accent_color": null,
        "bot": user.bot, "public_flags": 0, "flags": 0
    })
}

/// The bot as it sees itself.
pub(crate) fn me(world: &World) -> Value {
    let mut me = user(&world.bot());
    me["verified"] = json!(true);
    me["mfa_enabled"] = json!(true);
    me["locale"] = json!("en-US");
    me["email"] = Value::Null;
    me
}

pub(crate) fn role(guild: &Guild, role: &Role) -> Value {
    json!({
        "id": role.id, "name": role.name, "color": 0, "colors": {"primary_color": 0, "secondary_color": null,
        "tertiary_color": null}, "hoist": false, "icon": null, "unicode_emoji": null,
        "position": if role.id == guild.id { 0 } else { 1 }, "permissions": role.permissions.to_string(),
        "managed": false, "mentionable": role.mentionable, "flags": 0
    })
}

/// A member without the person.
fn bare_member(member: &Member) -> Value {
    json!({
        "nick": null, "avatar": null, "banner": null, "roles": member.roles, "joined_at": printed(member.joined_ms),
        "premium_since": null, "deaf": false, "mute": false, "flags": 0, "pending": false,
        "communication_disabled_until": null
    })
}

pub(crate) fn member(world: &World, member: &Member) -> Value {
    let mut out = bare_member(member);
    out["user"] = world.users.get(&member.user).map_or(Value::Null, user);
    out
}

pub(crate) fn channel(world: &World, channel: &Channel) -> Value {
    let last = channel.messages.values().rev().find(|m| m.is_public()).map(|m| m.id);
    let mut out = json!({"id": channel.id, "type": channel.kind.number(), "last_message_id": last, "flags": 0});
    if let Some(person) = channel.recipient.and_then(|id| world.users.get(&id)) {
        out["recipients"] = json!([user(person)]);
        return out;
    }
    let overwrites = channel.overwrites.iter().map(|o| {
        let kind = u8::from(o.member);
        json!({"id": o.id, "type": kind, "allow": o.allow.to_string(), "deny": o.deny.to_string()})
    });
    out["permission_overwrites"] = overwrites.collect();
    out["guild_id"] = json!(channel.guild);
    out["parent_id"] = json!(channel.parent);
    out["name"] = json!(channel.name);
    out["topic"] = Value::Null;
    out["position"] = json!(0);
    out["nsfw"] = json!(false);
    out["rate_limit_per_user"] = json!(0);
    if channel.kind.is_thread() {
        out["owner_id"] = json!(channel.owner);
        out["message_count"] = json!(channel.messages.len());
        out["total_message_sent"] = json!(channel.messages.len());
        out["member_count"] = json!(1);
        let locked = channel.locked;
        out["thread_metadata"] = json!({"archived": channel.archived, "locked": locked, "auto_archive_duration": 1440,
            "archive_timestamp": printed(channel.id.made_ms()), "create_timestamp": printed(channel.id.made_ms())});
    }
    out
}

pub(crate) fn guild(guild: &Guild) -> Value {
    let roles: Vec<Value> = guild.roles.values().map(|r| role(guild, r)).collect();
    json!({
        "id": guild.id, "name": guild.name, "icon": null, "icon_hash": null, "splash": null, "discovery_splash": null,
        "owner_id": guild.owner, "afk_channel_id": null, "afk_timeout": 300, "widget_enabled": false,
        "widget_channel_id": null, "verification_level": 1, "default_message_notifications": 1,
        "explicit_content_filter": 0, "roles": roles, "emojis": [], "stickers": [], "features": [], "mfa_level": 0,
        "application_id": null, "system_channel_id": null, "system_channel_flags": 0, "rules_channel_id": null,
        "max_presences": null, "max_members": 500_000, "vanity_url_code": null, "description": null, "banner": null,
        "premium_tier": guild.premium_tier, "premium_subscription_count": 0, "preferred_locale": "en-US",
        "public_updates_channel_id": null, "nsfw_level": 0, "nsfw": false, "premium_progress_bar_enabled": false,
        "safety_alerts_channel_id": null, "region": "deprecated"
    })
}

/// A guild as GUILD_CREATE brings it; with the members intent, with all its members.
pub(crate) fn whole_guild(world: &World, of: &Guild, all: bool) -> Value {
    let mut out = guild(of);
    let inside = |thread: bool| {
        let all = world.channels.values().filter(move |c| c.guild == Some(of.id) && c.kind.is_thread() == thread);
        all.map(|c| channel(world, c)).collect::<Vec<_>>()
    };
    let members = of.members.values().filter(|m| all || m.user == seed::BOT).map(|m| member(world, m));
    let more = json!({
        "joined_at": printed(of.members.get(&seed::BOT).map_or(0, |m| m.joined_ms)), "large": false,
        "unavailable": false, "member_count": of.members.len(), "voice_states": [],
        "members": members.collect::<Vec<_>>(), "channels": inside(false), "threads": inside(true),
        "presences": [], "stage_instances": [], "guild_scheduled_events": [], "soundboard_sounds": []
    });
    if let (Value::Object(out), Value::Object(more)) = (&mut out, more) {
        out.extend(more);
    }
    out
}

pub(crate) fn attachment(file: &Attachment) -> Value {
    json!({
        "id": file.id, "filename": file.name, "size": file.size, "url": file.url, "proxy_url": file.url,
        "content_type": file.mime, "description": file.description, "ephemeral": false
    })
}

/// Path form of an emoji as an object.
pub(crate) fn emoji(text: &str) -> Value {
    match text.rsplit_once(':') {
        Some((name, id)) if id.parse::<u64>().is_ok() => json!({"id": id, "name": name, "animated": false}),
        _ => json!({"id": null, "name": text}),
    }
}

/// A message as REST answers it.
pub(crate) fn message(world: &World, message: &Message) -> Value {
    let mut out = shallow(world, message);
    if let Some(reference) = &message.reference {
        let target = world.channels.get(&reference.channel).and_then(|c| c.messages.get(&reference.message));
        out["referenced_message"] =
            target.filter(|m| m.is_public()).map_or(Value::Null, |target| shallow(world, target));
    }
    out
}

fn shallow(world: &World, message: &Message) -> Value {
    let people = message.mentions.users.iter().filter_map(|id| world.users.get(id)).map(user);
    let reactions = message.reactions.iter().map(|r| {
        let me = r.users.contains(&seed::BOT);
        json!({"emoji": emoji(&r.emoji), "count": r.users.len(), "me": me, "me_burst": false, "burst_colors": [],
            "count_details": {"burst": 0, "normal": r.users.len()}})
    });
    let mut out = json!({
        "id": message.id, "channel_id": message.channel, "author": user(&message.author),
        "content": message.content, "timestamp": printed(message.at_ms),
        "edited_timestamp": message.edited_ms.map(printed), "tts": false,
        "mention_everyone": message.mentions.everyone, "mentions": people.collect::<Vec<_>>(),
        "mention_roles": message.mentions.roles, "attachments":
        message.attachments.iter().map(attachment).collect::<Vec<_>>(), "embeds": message.embeds,
        "reactions": reactions.collect::<Vec<_>>(), "pinned": false, "type": message.kind, "flags": message.flags,
        "components": message.components
    });
    if let Some(nonce) = &message.nonce {
        out["nonce"] = nonce.clone();
    }
    if let Some(reference) = &message.reference {
        let guild = world.channels.get(&reference.channel).and_then(|c| c.guild);
        out["message_reference"] =
            json!({"type": 0, "message_id": reference.message, "channel_id": reference.channel, "guild_id": guild});
    }
    match &message.via {
        Some(Via::Webhook(id)) => out["webhook_id"] = json!(id),
        Some(Via::Interaction(id)) => {
            out["webhook_id"] = json!(seed::APPLICATION);
            out["application_id"] = json!(seed::APPLICATION);
            if let Some(interaction) = world.interactions.get(id) {
                interaction_of(world, interaction, &mut out);
            }
        }
        None => {}
    }
    out
}

fn interaction_of(world: &World, interaction: &Interaction, out: &mut Value) {
    let person = world.users.get(&interaction.user).map_or(Value::Null, user);
    let kind = if let InteractionKind::Slash { name, .. } = &interaction.kind {
        out["interaction"] = json!({"id": interaction.id, "type": 2, "name": name, "user": person});
        2
    } else {
        3
    };
    out["interaction_metadata"] = json!({"id": interaction.id, "type": kind, "user": person,
        "authorizing_integration_owners": {}, "original_response_message_id": null});
}

/// A message as an event brings it: with the guild, and the author's membership.
pub(crate) fn message_event(world: &World, of: &Message) -> Value {
    let mut out = message(world, of);
    let guild = world.channels.get(&of.channel).and_then(|c| c.guild);
    if let Some(guild) = guild {
        out["guild_id"] = json!(guild);
        if of.via.is_none()
            && let Some(found) = world.guilds.get(&guild).and_then(|g| g.members.get(&of.author.id))
        {
            out["member"] = bare_member(found);
        }
    }
    out
}

/// What stays of a message for a session that may not read it.
pub(crate) fn without_content(event: &mut Value) {
    event["content"] = json!("");
    for key in ["attachments", "embeds", "components"] {
        event[key] = json!([]);
    }
    if event.get("referenced_message").is_some_and(Value::is_object) {
        without_content(&mut event["referenced_message"]);
    }
}

pub(crate) fn command(command: &Command) -> Value {
    let mut out = json!({
        "id": command.id, "application_id": seed::APPLICATION, "name": command.name, "type": command.kind,
        "description": command.description, "options": command.options, "version": command.version,
        "default_member_permissions": null, "dm_permission": true, "nsfw": false, "name_localizations": null,
        "description_localizations": null, "integration_types": [0], "contexts": null
    });
    if let CommandScope::Guild(guild) = command.scope {
        out["guild_id"] = json!(guild);
    }
    out
}

/// INTERACTION_CREATE.
pub(crate) fn interaction(world: &World, of: &Interaction) -> Value {
    let place = world.channels.get(&of.channel);
    let guild = place.and_then(|c| c.guild).and_then(|id| world.guilds.get(&id));
    let may = |who: Id| place.map_or(0, |c| world.may(who, c)).to_string();
    let person = world.users.get(&of.user).map_or(Value::Null, user);
    let (kind, data) = match &of.kind {
        InteractionKind::Slash { data, .. } => (2, data),
        InteractionKind::Component { data, .. } => (3, data),
    };
    let mut out = json!({
        "id": of.id, "application_id": seed::APPLICATION, "type": kind, "data": data, "channel_id": of.channel,
        "channel": place.map(|c| channel(world, c)), "token": of.token, "version": 1,
        "app_permissions": may(seed::BOT), "locale": "en-US", "entitlements": [],
        "authorizing_integration_owners": {"0": guild.map_or(Id(0), |g| g.id)},
        "context": if guild.is_some() { 0 } else { 1 }, "attachment_size_limit": world.upload_max(of.channel)
    });
    if let InteractionKind::Component { message: source, .. } = &of.kind
        && let Some(found) = place.and_then(|c| c.messages.get(source))
    {
        out["message"] = message(world, found);
    }
    match guild {
        None => out["user"] = person,
        Some(guild) => {
            out["guild_id"] = json!(guild.id);
            out["guild_locale"] = json!("en-US");
            if let Some(found) = guild.members.get(&of.user) {
                out["member"] = member(world, found);
                out["member"]["permissions"] = json!(may(of.user));
            }
        }
    }
    out["channel"]["permissions"] = json!(may(of.user));
    out
}
