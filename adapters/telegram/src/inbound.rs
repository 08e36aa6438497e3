//! One update becomes one event. What cannot be read or means nothing to a bot is ignored by name, never lost sight of:
//! the stream goes on behind it.

use crate::address::{Addresses, addresses};
use crate::{Line, place, segments, sender};
use plugin_sdk::{Addressed, Delivery, Inbound, Message, ReplyTo, Scope};
use teloxide_core::types::{CallbackQuery, ChatMemberUpdated, MessageKind, Update, UpdateKind};

/// The event of an update.
pub(crate) fn delivery(line: &Line, update: Update) -> Delivery {
    let token = u64::from(update.id.0);
    let by_update = format!("u/{}", update.id.0);
    let (event_key, event) = match update.kind {
        UpdateKind::Message(m) | UpdateKind::ChannelPost(m) => {
            (format!("m/{}/{}", m.chat.id, m.id), message(line, &m, false))
        }
        UpdateKind::EditedMessage(m) | UpdateKind::EditedChannelPost(m) => (by_update, message(line, &m, true)),
        UpdateKind::CallbackQuery(query) => {
            line.presses.note(token, query.id.clone());
            (format!("b/{}", query.id), press(line, query))
        }
        UpdateKind::MyChatMember(change) => (by_update, membership(line, &change)),
        UpdateKind::Error(_) => (by_update, ignored("an update that cannot be read")),
        _ => (by_update, ignored("an update of a kind that means nothing here")),
    };
    Delivery { event_key, token, event }
}

fn ignored(why: &str) -> Inbound {
    Inbound::Ignored { why: why.into() }
}

fn message(line: &Line, m: &teloxide_core::types::Message, edited: bool) -> Inbound {
    let conversation = place::conversation(&line.settings.name, &m.chat, place::topic(m));
    if let Some(to) = m.migrate_to_chat_id() {
        let mut moved = conversation.clone();
        moved.scene = to.to_string();
        return Inbound::Migrated { from: conversation, to: moved };
    }
    if let Some(from) = m.migrate_from_chat_id() {
        let mut former = conversation.clone();
        former.scene = from.to_string();
        return Inbound::Migrated { from: former, to: conversation };
    }
    if !matches!(m.kind, MessageKind::Common(_)) {
        return ignored("a service message");
    }
    if m.from.as_ref().is_some_and(|u| u.id == line.account.id) {
        return ignored("an own message");
    }
    let text = m.text().or_else(|| m.caption()).unwrap_or_default();
    let entities = m.entities().or_else(|| m.caption_entities()).unwrap_or_default();
    // A forwarded text addresses nobody: its author wrote it elsewhere.
    let found = match m.forward_origin() {
        Some(_) => Addresses::default(),
        None => addresses(text, entities, &line.account),
    };
    let segments = segments::segments(m, text, &found);
    if segments.is_empty() {
        return ignored("a message without text or file");
    }
    let reply_to = reply(line, m);
    let addressed = addressed(conversation.scope, &found, reply_to.as_ref());
    let command = found.command.map(|(call, _)| call);
    let message = Message {
        id: m.id.to_string(),
        conversation,
        principal: sender::of_message(m),
        segments,
        sent_at: m.date,
        addressed,
        command: command.filter(|_| !edited),
        reply_to,
        album_id: m.media_group_id().map(ToString::to_string),
        edited,
    };
    if edited { Inbound::Edited(message) } else { Inbound::Message(message) }
}

/// What a message answers. The service message that opens a topic does not count: every message of it "answers" that.
fn reply(line: &Line, m: &teloxide_core::types::Message) -> Option<ReplyTo> {
    let answered = m.reply_to_message()?;
    if answered.forum_topic_created().is_some() {
        return None;
    }
    let by_bot = answered.from.as_ref().is_some_and(|u| u.id == line.account.id);
    Some(ReplyTo { message_id: answered.id.to_string(), by_bot })
}

fn addressed(scope: Scope, found: &Addresses, reply_to: Option<&ReplyTo>) -> Addressed {
    match () {
        () if found.command.is_some() => Addressed::Command,
        () if scope == Scope::Private => Addressed::Private,
        () if found.foreign_command => Addressed::None,
        () if found.mentions.iter().any(|m| m.is_bot) => Addressed::Mention,
        () if reply_to.is_some_and(|r| r.by_bot) => Addressed::Reply,
        () => Addressed::None,
    }
}

fn press(line: &Line, query: CallbackQuery) -> Inbound {
    let (Some(action), Some(under)) = (query.data, query.message) else {
        return ignored("a press without data or message");
    };
    let topic = under.regular_message().and_then(place::topic);
    Inbound::Button {
        action,
        message_id: under.id().to_string(),
        by: sender::of_user(&query.from),
        conversation: place::conversation(&line.settings.name, under.chat(), topic),
    }
}

fn membership(line: &Line, change: &ChatMemberUpdated) -> Inbound {
    let (was, is) = (change.old_chat_member.is_present(), change.new_chat_member.is_present());
    if was == is || change.chat.is_private() {
        return ignored("a change of rights");
    }
    Inbound::Membership {
        conversation: place::conversation(&line.settings.name, &change.chat, None),
        by: sender::of_user(&change.from),
        joined: is,
    }
}
