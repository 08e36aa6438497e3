//! What a server has seen and shows.

use serde::Serialize;
use serde_json::Value;
use std::collections::VecDeque;

/// Requests that are kept; older ones are only counted.
const MAX_REQUESTS: usize = 20_000;

/// All of it; the body of `/__state`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct State {
    /// Every message of every conversation, in order; edits and deletion are kept with it.
    pub messages: Vec<Shown>,
    /// What `sendChatAction` said, in order.
    pub actions: Vec<ChatAction>,
    /// Button presses with their answers.
    pub presses: Vec<Press>,
    /// Lists of commands, in the order they were set.
    pub commands: Vec<CommandSet>,
    /// Requests of bots, in order.
    pub requests: VecDeque<Recorded>,
    /// Older requests that are no longer kept.
    pub forgotten_requests: u64,
    /// Requests no careful client sends.
    pub violations: Vec<Violation>,
}

/// A message.
#[derive(Debug, Clone, Serialize)]
pub struct Shown {
    /// Conversation.
    pub chat: i64,
    /// Its number there.
    pub id: i64,
    /// Topic.
    pub thread: Option<i64>,
    /// The bot that sent it; a person's message has none.
    pub bot: Option<i64>,
    /// When it came, in milliseconds since 1970.
    pub at_ms: i64,
    /// As it is now.
    pub message: Value,
    /// How it was before each edit, the oldest first, and when that edit came.
    pub edits: Vec<Edit>,
    /// When it was deleted.
    pub deleted_at_ms: Option<i64>,
    /// Reactions of bots to it.
    pub reactions: Value,
}

/// An edit of a message.
#[derive(Debug, Clone, Serialize)]
pub struct Edit {
    /// When.
    pub at_ms: i64,
    /// The message before it.
    pub before: Value,
}

/// A button of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Button {
    /// What it says.
    pub label: String,
    /// Its `callback_data`; a link has none.
    pub data: Option<String>,
}

/// One `sendChatAction`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatAction {
    /// When.
    pub at_ms: i64,
    /// Conversation.
    pub chat: i64,
    /// Topic.
    pub thread: Option<i64>,
    /// For example `typing`.
    pub action: String,
}

/// A button press.
#[derive(Debug, Clone, Serialize)]
pub struct Press {
    /// Id of the callback query.
    pub id: String,
    /// The bot that gets it.
    pub bot: i64,
    /// When.
    pub at_ms: i64,
    /// Conversation.
    pub chat: i64,
    /// Message with the button.
    pub message_id: i64,
    /// Who pressed.
    pub user: i64,
    /// `callback_data` of the button.
    pub data: String,
    /// What the bot answered; a real server takes one answer.
    pub answers: Vec<Answer>,
}

/// An answer to a press.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// When.
    pub at_ms: i64,
    /// Text, maybe empty.
    pub text: String,
    /// Shown as an alert.
    pub alert: bool,
}

/// A list of commands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CommandSet {
    /// When.
    pub at_ms: i64,
    /// Whose.
    pub bot: i64,
    /// Scope as it was given; `{"type": "default"}` when left out.
    pub scope: Value,
    /// Language, or empty.
    pub language: String,
    /// The commands; empty after `deleteMyCommands`.
    pub commands: Value,
}

/// A request.
#[derive(Debug, Clone, Serialize)]
pub struct Recorded {
    /// Number from 1.
    pub number: u64,
    /// When.
    pub at_ms: i64,
    /// The bot whose token it carried.
    pub bot: Option<i64>,
    /// Method, as the documentation writes it; `file` for a download.
    pub method: String,
    /// Fields; files without their bytes.
    pub fields: Value,
    /// Status of the answer; none while or when there is no answer.
    pub status: Option<u16>,
    /// Why it was refused.
    pub refused: Option<String>,
    /// The fault that was played.
    pub fault: Option<String>,
}

/// A request that a careful client does not send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Number of the request.
    pub request: u64,
    /// Method.
    pub method: String,
    /// What is wrong.
    pub what: String,
}

impl State {
    /// Messages of bots in a conversation that are not deleted.
    pub fn sent(&self, chat: i64) -> impl Iterator<Item = &Shown> {
        self.messages.iter().filter(move |m| m.chat == chat && m.bot.is_some() && m.deleted_at_ms.is_none())
    }

    /// Texts and captions of [`State::sent`].
    pub fn texts(&self, chat: i64) -> Vec<String> {
        self.sent(chat).map(|m| m.text().to_owned()).collect()
    }

    /// A message.
    pub fn message(&self, chat: i64, id: i64) -> Option<&Shown> {
        self.messages.iter().rev().find(|m| m.chat == chat && m.id == id)
    }

    /// Requests of a method.
    pub fn calls<'a>(&'a self, method: &'a str) -> impl Iterator<Item = &'a Recorded> {
        self.requests.iter().filter(move |r| r.method == method)
    }

    /// Presses that were not answered.
    pub fn unanswered(&self) -> impl Iterator<Item = &Press> {
        self.presses.iter().filter(|p| p.answers.is_empty())
    }

    /// A press.
    pub fn press(&self, id: &str) -> Option<&Press> {
        self.presses.iter().find(|p| p.id == id)
    }

    pub(crate) fn record(&mut self, mut request: Recorded) -> u64 {
        let number = self.forgotten_requests + self.requests.len() as u64 + 1;
        request.number = number;
        self.requests.push_back(request);
        if self.requests.len() > MAX_REQUESTS {
            self.requests.pop_front();
            self.forgotten_requests += 1;
        }
        number
    }

    pub(crate) fn recorded(&mut self, number: u64) -> Option<&mut Recorded> {
        self.requests.iter_mut().rev().find(|r| r.number == number)
    }
}

impl Shown {
    /// Its text or caption.
    pub fn text(&self) -> &str {
        let text = self.message.get("text").or_else(|| self.message.get("caption"));
        text.and_then(Value::as_str).unwrap_or_default()
    }

    /// Its inline buttons, row after row.
    pub fn buttons(&self) -> Vec<Button> {
        let rows = self.message.pointer("/reply_markup/inline_keyboard").and_then(Value::as_array);
        let text = |b: &Value, name: &str| b.get(name).and_then(Value::as_str).map(str::to_owned);
        let button = |b: &Value| Button { label: text(b, "text").unwrap_or_default(), data: text(b, "callback_data") };
        rows.into_iter().flatten().filter_map(Value::as_array).flatten().map(button).collect()
    }
}
