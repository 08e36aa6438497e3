//! Where a request wants to send: the conversation, the topic, and whether the bot may.

use super::{ChatKind, World};
use crate::asked::Asked;
use crate::refusal::Refusal;
use serde_json::Value;

/// A place to send to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) chat: i64,
    pub(crate) kind: ChatKind,
    pub(crate) thread: Option<i64>,
}

impl World {
    /// The conversation of a request, whoever is in it.
    pub(crate) fn chat_of(&self, asked: &Asked) -> Result<i64, Refusal> {
        self.chat_named(asked.get("chat_id"))
    }

    /// A conversation by id or `@username`.
    pub(crate) fn chat_named(&self, name: &Value) -> Result<i64, Refusal> {
        let lost = || Refusal::bad("chat not found");
        let id = match (name.as_i64(), name.as_str()) {
            (Some(id), _) => id,
            (_, Some(name)) => {
                let name = name.strip_prefix('@').ok_or_else(lost)?;
                let fits = |u: &Option<String>| u.as_ref().is_some_and(|u| u.eq_ignore_ascii_case(name));
                self.chats.values().find(|c| fits(&c.username)).map(|c| c.id).ok_or_else(lost)?
            }
            _ => return Err(Refusal::wrong("chat_id is empty")),
        };
        let Some(chat) = self.chats.get(&id) else {
            // a person who is known but never wrote
            let silent = Refusal::forbidden("bot can't initiate conversation with a user");
            return Err(if self.people.contains_key(&id) { silent } else { lost() });
        };
        chat.migrated_to.map_or(Ok(id), |to| Err(Refusal::migrated(to)))
    }

    /// A place this bot may send to now.
    pub(crate) fn target(&self, bot: i64, asked: &Asked) -> Result<Target, Refusal> {
        let id = self.chat_of(asked)?;
        let Some(chat) = self.chats.get(&id) else { return Err(Refusal::bad("chat not found")) };
        self.may_send(bot, id)?;
        let thread = asked.number("message_thread_id");
        if let Some(thread) = thread {
            let lost = Refusal::bad("message thread not found");
            match chat.topics.get(&thread) {
                // the general topic has no number in requests
                _ if thread == 1 || !chat.forum => return Err(lost.avoidable()),
                None => return Err(lost.avoidable()),
                Some(topic) if topic.deleted => return Err(lost),
                Some(topic) if topic.closed => return Err(Refusal::bad("TOPIC_CLOSED")),
                Some(_) => {}
            }
        }
        Ok(Target { chat: id, kind: chat.kind, thread })
    }

    fn may_send(&self, bot: i64, id: i64) -> Result<(), Refusal> {
        let Some(chat) = self.chats.get(&id) else { return Err(Refusal::bad("chat not found")) };
        if chat.kind == ChatKind::Private {
            return match self.people.get(&id) {
                Some(person) if person.deactivated => Err(Refusal::forbidden("user is deactivated")),
                Some(person) if person.blocked => Err(Refusal::forbidden("bot was blocked by the user")),
                Some(person) if person.is_bot => Err(Refusal::forbidden("bot can't send messages to bots")),
                _ => Ok(()),
            };
        }
        let kind = chat.kind.name();
        match chat.status(bot) {
            "kicked" => Err(Refusal::forbidden(format!("bot was kicked from the {kind} chat"))),
            "left" => Err(Refusal::forbidden(format!("bot is not a member of the {kind} chat"))),
            "restricted" if !self.has(id, bot, "can_send_messages") => {
                Err(Refusal::bad("not enough rights to send text messages to the chat"))
            }
            "creator" => Ok(()),
            "administrator" if chat.kind != ChatKind::Channel || self.has(id, bot, "can_post_messages") => Ok(()),
            _ if chat.kind == ChatKind::Channel => Err(Refusal::bad("need administrator rights in the channel chat")),
            _ => Ok(()),
        }
    }

    /// A right as it was given, also to a restricted member.
    pub(crate) fn has(&self, chat: i64, user: i64, right: &str) -> bool {
        let member = self.chats.get(&chat).and_then(|c| c.members.get(&user));
        member.is_some_and(|m| m.may(right) || m.rights.get(right).and_then(Value::as_bool).unwrap_or(false))
    }
}
