//! Writing and rewriting.

use super::{Edit, Say};
use crate::id::Id;
use crate::model::{Channel, Message, Reference, Version, Via};
use crate::rest::{pinged, store};
use crate::rules::Allowed;
use crate::seed;
use crate::upload::File;
use crate::world::World;

/// Characters a person may write; a paying one.
const CONTENT: usize = 4000;

impl World {
    pub(crate) fn place(&self, channel: Id) -> Result<&Channel, String> {
        self.channels.get(&channel).ok_or_else(|| format!("there is no channel {channel}"))
    }

    /// Where somebody acts: the channel, or the private conversation. Strangers to a guild act nowhere in it.
    pub(crate) fn place_of(&mut self, user: Id, channel: Option<Id>) -> Result<Id, String> {
        if !self.users.contains_key(&user) {
            return Err(format!("there is no user {user}"));
        }
        let Some(channel) = channel else { return Ok(self.open_dm(user)) };
        let place = self.place(channel)?;
        let inside = match place.guild.and_then(|id| self.guilds.get(&id)) {
            Some(guild) => guild.members.contains_key(&user),
            None => place.recipient == Some(user),
        };
        if inside { Ok(channel) } else { Err(format!("user {user} is not in the place of channel {channel}")) }
    }

    pub(crate) fn say(&mut self, say: Say) -> Result<Id, String> {
        if say.user == seed::BOT {
            return Err("the bot speaks for itself".into());
        }
        let channel = self.place_of(say.user, say.channel)?;
        if !self.place(channel)?.kind.holds_messages() {
            return Err(format!("channel {channel} holds no messages"));
        }
        let blank = say.content.trim().is_empty() && say.files.is_empty() && say.embeds.is_empty() && say.kind == 0;
        if blank || say.content.chars().count() > CONTENT {
            return Err(format!("a message has 1 to {CONTENT} characters"));
        }
        let reference = match say.reply_to {
            None => None,
            Some(target) => {
                self.message(channel, target).map_err(|r| r.message)?;
                Some(Reference { message: target, channel })
            }
        };
        let id = self.new_id();
        let mut author = self.author(say.user).map_err(|r| r.message)?;
        let mut via = None;
        if let Some(name) = say.webhook {
            let webhook = self.new_id();
            author = seed::user(webhook, &name, true);
            via = Some(Via::Webhook(webhook));
        }
        let allowed = Allowed { replied_user: say.ping, ..Allowed::everything() };
        let mentions = pinged(self, (&author, channel), &say.content, &allowed, reference.as_ref());
        let files = say.files.into_iter().map(|f| {
            let bytes = if f.bytes.is_empty() { f.text.into_bytes() } else { f.bytes };
            (File { number: None, name: f.name, mime: f.mime, bytes: bytes.into() }, None)
        });
        let files = files.collect();
        let attachments = store(self, channel, files);
        let message = Message {
            kind: if say.kind == 0 && reference.is_some() { 19 } else { say.kind },
            embeds: say.embeds,
            attachments,
            mentions,
            reference,
            via,
            without_content: say.without_content,
            ..Message::plain(id, channel, author, say.content.trim(), self.now_ms())
        };
        self.put(message);
        Ok(id)
    }

    pub(crate) fn rewrite(&mut self, edit: Edit) -> Result<Id, String> {
        let now = self.now_ms();
        let mut next = self.message(edit.channel, edit.message).map_err(|r| r.message)?.clone();
        if let Some(content) = edit.content {
            let mentions =
                pinged(self, (&next.author, edit.channel), &content, &Allowed::everything(), next.reference.as_ref());
            next.mentions = mentions;
            next.versions.push(Version { until_ms: now, content: std::mem::replace(&mut next.content, content) });
        }
        if let Some(embeds) = edit.embeds {
            next.embeds = embeds;
        }
        if edit.stamped {
            next.edited_ms = Some(now);
        }
        if let Some(of) = self.message_mut(edit.channel, edit.message) {
            *of = next;
        }
        self.emit_message("MESSAGE_UPDATE", edit.channel, edit.message);
        Ok(edit.message)
    }

    pub(crate) fn thread(&mut self, user: Id, parent: Id, name: &str) -> Result<Id, String> {
        use crate::model::ChannelKind::{Announcement, AnnouncementThread, Forum, Text, Thread};
        let kind = match self.place(parent)?.kind {
            Text | Forum => Thread,
            Announcement => AnnouncementThread,
            _ => return Err(format!("channel {parent} has no threads")),
        };
        let id = self.new_id();
        self.open_thread(id, parent, (kind, name), user);
        Ok(id)
    }
}
