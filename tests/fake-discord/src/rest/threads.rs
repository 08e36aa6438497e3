//! Threads and posts.

use super::messages::{Draw, compose};
use super::{Answer, Call, Reply, place};
use crate::form::{Fields, FormErrors};
use crate::gateway::intents;
use crate::id::Id;
use crate::model::{Channel, ChannelKind, User};
use crate::permissions::bits;
use crate::print;
use crate::refusal::Refusal;
use crate::rules::{Limits, draft};
use crate::seed;
use crate::upload::Body;
use crate::world::World;
use serde_json::{Value, json};

fn named(call: &Call) -> Result<String, Refusal> {
    let mut errors = FormErrors::default();
    let fields = Fields::new(&call.body.json, "");
    let name = fields.required_text("name", (1, 100), &mut errors).unwrap_or_default().to_owned();
    let duration = fields.number("auto_archive_duration", &mut errors);
    if duration.is_some_and(|n| ![60, 1440, 4320, 10080].contains(&n)) {
        errors.choices("auto_archive_duration", "60, 1440, 4320, 10080");
    }
    errors.result()?;
    Ok(name)
}

pub(crate) fn from_message(world: &mut World, call: &Call, channel: Id, message: Id) -> Answer {
    let place = world.allowed(channel, bits::CREATE_PUBLIC_THREADS)?;
    let kind = match place.kind {
        ChannelKind::Text => ChannelKind::Thread,
        ChannelKind::Announcement => ChannelKind::AnnouncementThread,
        _ => return Err(Refusal::new(400, 50024, "Cannot execute action on this channel type")),
    };
    world.message(channel, message)?;
    let name = named(call)?;
    if world.channels.contains_key(&message) {
        return Err(Refusal::new(400, 160_004, "A thread has already been created for this message"));
    }
    // the thread of a message has the message's id
    world.open_thread(message, channel, (kind, &name), seed::BOT);
    created(world, message, None)
}

pub(crate) fn start(world: &mut World, call: &Call, channel: Id) -> Answer {
    let place = world.seen(channel)?;
    let (post, may) = (place.kind == ChannelKind::Forum, world.may(seed::BOT, place));
    let name = named(call)?;
    if post {
        return start_post(world, call, channel, &name);
    }
    let mut errors = FormErrors::default();
    // without a type the thread is a private one
    let kind = match Fields::new(&call.body.json, "").number("type", &mut errors) {
        Some(10) => ChannelKind::AnnouncementThread,
        Some(11) => ChannelKind::Thread,
        Some(12) | None => ChannelKind::PrivateThread,
        Some(_) => {
            errors.choices("type", "10, 11, 12");
            ChannelKind::Thread
        }
    };
    errors.result()?;
    if !matches!(place.kind, ChannelKind::Text | ChannelKind::Announcement) {
        return Err(Refusal::new(400, 50024, "Cannot execute action on this channel type"));
    }
    let needed =
        if kind == ChannelKind::PrivateThread { bits::CREATE_PRIVATE_THREADS } else { bits::CREATE_PUBLIC_THREADS };
    if may & needed == 0 {
        return Err(Refusal::permission());
    }
    let id = world.new_id();
    world.open_thread(id, channel, (kind, &name), seed::BOT);
    created(world, id, None)
}

/// A forum takes a thread only together with its first message.
fn start_post(world: &mut World, call: &Call, channel: Id, name: &str) -> Answer {
    world.allowed(channel, bits::SEND_MESSAGES)?;
    let Some(message) = call.body.json.get("message").filter(|m| m.is_object()) else {
        let mut errors = FormErrors::default();
        errors.required("message");
        return Err(errors.refusal());
    };
    let limits = Limits { unit: world.options.unit, file_max: world.upload_max(channel), ephemeral: false };
    let draft = draft(&Body { json: message.clone(), files: call.body.files.clone() }, limits)?;
    if draft.is_blank() {
        return Err(Refusal::empty_message());
    }
    let id = world.new_id();
    world.open_thread(id, channel, (ChannelKind::Thread, name), seed::BOT);
    let bot = world.bot();
    let first = compose(world, Draw::plain(bot, id), draft, None);
    created(world, id, Some(first))
}

fn created(world: &World, thread: Id, first: Option<Id>) -> Answer {
    let mut out = world.channels.get(&thread).map_or(Value::Null, |c| print::channel(world, c));
    if let Some(first) = first {
        out["message"] = print::message(world, world.message(thread, first)?);
    }
    Ok(Reply::Json(201, out))
}

pub(crate) fn membership(world: &World, thread: Id) -> Answer {
    let place = world.seen(thread)?;
    if !place.kind.is_thread() {
        return Err(Refusal::new(400, 50024, "Cannot execute action on this channel type"));
    }
    place::awake(place)?;
    Ok(Reply::Empty)
}

impl World {
    /// Opens a thread and tells every session.
    pub(crate) fn open_thread(&mut self, id: Id, parent: Id, what: (ChannelKind, &str), owner: Id) {
        let Some(parent) = self.channels.get(&parent) else { return };
        let base = seed::channel(id, what.0, what.1);
        let thread = Channel { guild: parent.guild, parent: Some(parent.id), owner: Some(owner), ..base };
        let mut data = print::channel(self, &thread);
        data["newly_created"] = json!(true);
        self.channels.insert(id, thread);
        self.emit(intents::GUILDS, "THREAD_CREATE", &data);
    }

    /// Somebody by id, as the author of a message.
    pub(crate) fn author(&self, id: Id) -> Result<User, Refusal> {
        self.users.get(&id).cloned().ok_or_else(|| Refusal::unknown(10013))
    }
}
