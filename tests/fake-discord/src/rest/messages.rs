//! Sending.

use super::{Answer, Call, ok, place};
use crate::form::FormErrors;
use crate::id::Id;
use crate::model::{Attachment, Channel, Mentions, Message, Reference, User, Via};
use crate::permissions::bits;
use crate::print;
use crate::refusal::Refusal;
use crate::rules::{Allowed, Draft, Limits, draft};
use crate::seed;
use crate::upload::File;
use crate::world::{Stored, World};
use serde_json::Value;
use std::sync::Arc;

/// How long a nonce is remembered, milliseconds.
const NONCE_MS: u64 = 5 * 60_000;
/// Discord's number for a reply.
const REPLY: u8 = 19;

/// Who draws a message up, and for whom.
pub(crate) struct Draw {
    pub(crate) author: User,
    pub(crate) channel: Id,
    /// Discord's number of the type; 0 becomes a reply when it refers to another message.
    pub(crate) kind: u8,
    pub(crate) via: Option<Via>,
    pub(crate) only_for: Option<Id>,
    pub(crate) flags: u64,
}

impl Draw {
    pub(crate) fn plain(author: User, channel: Id) -> Self {
        Self { author, channel, kind: 0, via: None, only_for: None, flags: 0 }
    }
}

pub(crate) fn create(world: &mut World, call: &Call, channel: Id) -> Answer {
    let place = place::writable(world, channel)?;
    if place.archived && place.locked {
        return Err(place::archived());
    }
    let limits = Limits { unit: world.options.unit, file_max: world.upload_max(channel), ephemeral: false };
    let draft = draft(&call.body, limits)?;
    if draft.is_blank() {
        return Err(Refusal::empty_message());
    }
    if !draft.files.is_empty() && world.may(seed::BOT, place) & bits::ATTACH_FILES == 0 {
        return Err(Refusal::permission());
    }
    if let Some(twin) = draft.body.enforce_nonce.then(|| twin(world, place, draft.body.nonce.as_ref())).flatten() {
        return ok(print::message(world, twin));
    }
    let reference = refer(world, &draft, place)?;
    if let Some(place) = world.channels.get_mut(&channel) {
        place.archived = false;
    }
    let bot = world.bot();
    let message = compose(world, Draw::plain(bot, channel), draft, reference);
    let message = world.message(channel, message)?;
    ok(print::message(world, message))
}

/// The message that was sent with this nonce a moment ago.
fn twin<'a>(world: &World, place: &'a Channel, nonce: Option<&Value>) -> Option<&'a Message> {
    let now = world.now_ms();
    let nonce = nonce?;
    let own = place.messages.values().rev().map(Arc::as_ref).filter(|m| m.author.id == seed::BOT);
    own.take_while(|m| m.at_ms + NONCE_MS > now).find(|m| m.nonce.as_ref() == Some(nonce))
}

/// The message a draft refers to, if it may.
pub(crate) fn refer(world: &World, draft: &Draft, place: &Channel) -> Result<Option<Reference>, Refusal> {
    let Some((message, channel, must)) = draft.body.reference else { return Ok(None) };
    let mut errors = FormErrors::default();
    let target = place.messages.get(&message).filter(|m| m.is_public());
    if channel.is_some_and(|id| id != place.id) {
        let text = "Cannot reply to a message in a different channel";
        errors.add("message_reference", "REPLIES_CANNOT_REPLY_TO_MESSAGE_IN_OTHER_CHANNEL", text);
    } else if place::history(world, place).is_err() {
        let text = "Cannot reply without permission to read message history";
        errors.add("message_reference", "REPLIES_NO_PERMISSION", text);
    } else if target.is_none() && must {
        errors.add("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message");
    } else if target.is_some_and(|m| !matches!(m.kind, 0 | 19 | 20)) {
        let text = "Cannot reply to a system message";
        errors.add("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", text);
    }
    errors.result()?;
    Ok(target.map(|m| Reference { message: m.id, channel: place.id }))
}

/// Stores a message and tells every session.
pub(crate) fn compose(world: &mut World, draw: Draw, draft: Draft, reference: Option<Reference>) -> Id {
    let id = world.new_id();
    let channel = draw.channel;
    let content = draft.body.content.unwrap_or_default();
    let mentions = pinged(world, (&draw.author, channel), &content, &draft.body.allowed, reference.as_ref());
    let attachments = store(world, channel, draft.files);
    let message = Message {
        kind: if draw.kind == 0 && reference.is_some() { REPLY } else { draw.kind },
        flags: draft.body.flags.unwrap_or_default() | draw.flags,
        embeds: draft.body.embeds.unwrap_or_default(),
        components: draft.body.components.unwrap_or_default(),
        attachments,
        mentions,
        reference,
        nonce: draft.body.nonce,
        via: draw.via,
        only_for: draw.only_for,
        ..Message::plain(id, channel, draw.author, &content, world.now_ms())
    };
    world.put(message);
    id
}

impl World {
    /// Adds a message and tells every session.
    pub(crate) fn put(&mut self, message: Message) {
        let (channel, id) = (message.channel, message.id);
        if let Some(place) = self.channels.get_mut(&channel) {
            place.messages.insert(id, Arc::new(message));
        }
        self.emit_message("MESSAGE_CREATE", channel, id);
    }
}

/// Keeps files so that they can be fetched.
pub(crate) fn store(world: &mut World, channel: Id, files: Vec<(File, Option<String>)>) -> Vec<Attachment> {
    files
        .into_iter()
        .map(|(file, description)| {
            let id = world.new_id();
            let name: String = file.name.chars().map(|c| if c.is_whitespace() || c == '/' { '_' } else { c }).collect();
            let url = format!("http://{}/attachments/{channel}/{id}/{}", world.address, printable(&name));
            let (mime, size) = (file.mime.clone(), file.bytes.len());
            world.files.insert(id, Stored { mime: file.mime, bytes: file.bytes });
            Attachment { id, name, mime, size, description, url }
        })
        .collect()
}

/// A name as part of a URL.
fn printable(name: &str) -> String {
    name.bytes()
        .map(|b| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => char::from(b).to_string(),
            _ => format!("%{b:02X}"),
        })
        .collect()
}

/// Whom a text pings.
pub(crate) fn pinged(
    world: &World,
    (author, channel): (&User, Id),
    content: &str,
    allowed: &Allowed,
    reference: Option<&Reference>,
) -> Mentions {
    let text = without_code(content);
    let place = world.channels.get(&channel);
    let guild = place.and_then(|c| c.guild).and_then(|id| world.guilds.get(&id));
    let loud = place.is_some_and(|c| world.may(author.id, c) & bits::MENTION_EVERYONE != 0);
    let mut mentions = Mentions::default();
    for token in text.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(token, _)| token) {
        if let Some(role) = token.strip_prefix("@&").and_then(|id| id.parse::<Id>().ok()) {
            let known = guild.and_then(|g| g.roles.get(&role)).is_some_and(|r| r.mentionable || loud);
            if known && (allowed.all_roles || allowed.roles.contains(&role)) && !mentions.roles.contains(&role) {
                mentions.roles.push(role);
            }
        } else if let Some(user) = token.strip_prefix('@').and_then(|id| id.trim_start_matches('!').parse::<Id>().ok())
        {
            let wanted = allowed.all_users || allowed.users.contains(&user);
            if world.users.contains_key(&user) && wanted && !mentions.users.contains(&user) {
                mentions.users.push(user);
            }
        }
    }
    mentions.everyone = allowed.everyone && loud && (text.contains("@everyone") || text.contains("@here"));
    let replied = reference.and_then(|r| world.message(r.channel, r.message).ok()).map(|m| m.author.id);
    if let Some(replied) = replied.filter(|id| allowed.replied_user && !mentions.users.contains(id)) {
        mentions.users.push(replied);
    }
    mentions
}

/// A text without what stands between back-ticks: nothing pings there.
fn without_code(content: &str) -> String {
    let fences: String = content.split("```").step_by(2).collect::<Vec<_>>().join(" ");
    fences.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}
