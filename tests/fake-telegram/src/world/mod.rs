//! Everything a server knows, behind one lock. Methods of bots and the script change it; nothing here waits.

mod bot;
mod chat;
mod delivery;
mod fault;
mod file;
mod rates;
mod target;

pub(crate) use bot::{Bot, Update, Webhook};
pub(crate) use chat::{Chat, Member, Topic};
pub use chat::{ChatKind, Person};
pub(crate) use fault::Armed;
pub use fault::{Fault, Rule};
pub(crate) use file::{Content, File, Files};
pub(crate) use target::Target;

use crate::clock::Clock;
use crate::options::Options;
use crate::state::{Edit, Shown, State};
use rates::Rates;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

/// The world of a server.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) options: Options,
    pub(crate) clock: Clock,
    pub(crate) bots: Vec<Bot>,
    pub(crate) chats: BTreeMap<i64, Chat>,
    pub(crate) people: BTreeMap<i64, Person>,
    pub(crate) files: Files,
    pub(crate) rates: Rates,
    pub(crate) faults: Vec<Armed>,
    pub(crate) state: State,
    places: HashMap<(i64, i64), usize>,
    next_number: i64,
}

impl World {
    pub(crate) fn new(options: Options) -> Self {
        let clock = Clock::new(options.start, options.clock_flows);
        let bots = options.bots.iter().map(Bot::new).collect();
        Self {
            clock,
            bots,
            chats: BTreeMap::new(),
            people: BTreeMap::new(),
            files: Files::default(),
            rates: Rates::default(),
            faults: Vec::new(),
            state: State::default(),
            places: HashMap::new(),
            next_number: 7_000_000_000_000_001,
            options,
        }
    }

    /// Milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Seconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.now_ms() / 1000
    }

    /// A number that was not given before.
    pub(crate) fn number(&mut self) -> i64 {
        self.next_number += 1;
        self.next_number
    }

    /// A bot by its id.
    pub(crate) fn bot(&mut self, id: i64) -> Option<&mut Bot> {
        self.bots.iter_mut().find(|bot| bot.id == id)
    }

    /// Adds a message to a conversation: its number, place and date are filled in, then the content.
    pub(crate) fn add(
        &mut self,
        chat: i64,
        bot: Option<i64>,
        head: Map<String, Value>,
        content: Map<String, Value>,
    ) -> Shown {
        let at_ms = self.now_ms();
        let (id, place) = match self.chats.get_mut(&chat) {
            Some(chat) => (chat.take_number(), chat.json()),
            None => (self.number(), json!({"id": chat})),
        };
        let mut message = Map::new();
        message.insert("message_id".into(), id.into());
        message.extend(head);
        message.insert("chat".into(), place);
        message.insert("date".into(), (at_ms / 1000).into());
        message.extend(content);
        let thread = message.get("message_thread_id").and_then(Value::as_i64);
        let shown = Shown {
            chat,
            id,
            thread,
            bot,
            at_ms,
            message: message.into(),
            edits: Vec::new(),
            deleted_at_ms: None,
            reactions: Value::Null,
        };
        self.places.insert((chat, id), self.state.messages.len());
        self.state.messages.push(shown.clone());
        shown
    }

    /// A message that is not deleted.
    pub(crate) fn shown(&self, chat: i64, id: i64) -> Option<&Shown> {
        let at = *self.places.get(&(chat, id))?;
        self.state.messages.get(at).filter(|m| m.deleted_at_ms.is_none())
    }

    /// The same, to change it.
    pub(crate) fn shown_mut(&mut self, chat: i64, id: i64) -> Option<&mut Shown> {
        let at = *self.places.get(&(chat, id))?;
        self.state.messages.get_mut(at).filter(|m| m.deleted_at_ms.is_none())
    }

    /// Replaces what a message says and keeps what it said.
    pub(crate) fn rewrite(&mut self, chat: i64, id: i64, message: Value) {
        let at_ms = self.now_ms();
        if let Some(shown) = self.shown_mut(chat, id) {
            let before = std::mem::replace(&mut shown.message, message);
            shown.edits.push(Edit { at_ms, before });
        }
    }

    /// A message as it is quoted by another one: without what it quotes itself.
    pub(crate) fn quoted(&self, chat: i64, id: i64) -> Option<Value> {
        let mut message = self.shown(chat, id)?.message.clone();
        if let Some(map) = message.as_object_mut() {
            map.remove("reply_to_message");
        }
        Some(message)
    }
}
