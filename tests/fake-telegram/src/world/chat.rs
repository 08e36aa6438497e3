//! People and conversations.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A person, or a bot as others see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Person {
    /// Id.
    pub id: i64,
    /// First name.
    pub name: String,
    /// Username without `@`.
    pub username: Option<String>,
    /// Language of the client.
    pub language: Option<String>,
    /// Whether it is a bot.
    pub is_bot: bool,
    /// Has blocked the bots.
    pub blocked: bool,
    /// The account is gone.
    pub deactivated: bool,
}

impl Default for Person {
    fn default() -> Self {
        Self::new(7_012_345_678_901, "Ann")
    }
}

impl Person {
    /// A person.
    pub fn new(id: i64, name: impl Into<String>) -> Self {
        Self {
            id,
            name: name.into(),
            username: None,
            language: None,
            is_bot: false,
            blocked: false,
            deactivated: false,
        }
    }

    /// A `User`.
    pub(crate) fn json(&self) -> Value {
        let mut user = json!({"id": self.id, "is_bot": self.is_bot, "first_name": self.name});
        if let Some(username) = &self.username {
            user["username"] = username.clone().into();
        }
        if let Some(language) = &self.language {
            user["language_code"] = language.clone().into();
        }
        user
    }
}

/// The kind of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatKind {
    /// With one person.
    Private,
    /// A small group.
    Group,
    /// A group that may have topics.
    Supergroup,
    /// Posts without names.
    Channel,
}

impl ChatKind {
    /// What an id looks like: people are positive, supergroups begin with `-100`.
    pub(crate) fn of(id: i64) -> Self {
        match id {
            1.. => Self::Private,
            _ if id.to_string().starts_with("-100") && id < -1_000_000_000_000 => Self::Supergroup,
            _ => Self::Group,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Group => "group",
            Self::Supergroup => "supergroup",
            Self::Channel => "channel",
        }
    }

    pub(crate) fn is_group(self) -> bool {
        matches!(self, Self::Group | Self::Supergroup)
    }
}

/// A conversation.
#[derive(Debug, Clone)]
pub(crate) struct Chat {
    pub(crate) id: i64,
    pub(crate) kind: ChatKind,
    /// Title, or the person's name.
    pub(crate) title: String,
    pub(crate) username: Option<String>,
    pub(crate) forum: bool,
    pub(crate) members: BTreeMap<i64, Member>,
    pub(crate) topics: BTreeMap<i64, Topic>,
    /// The supergroup it became.
    pub(crate) migrated_to: Option<i64>,
    /// The bot that heard or spoke last; unaddressed commands go to it.
    pub(crate) last_bot: Option<i64>,
    next_message: i64,
}

/// A member of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Member {
    /// `creator`, `administrator`, `member`, `restricted`, `left` or `kicked`.
    pub(crate) status: String,
    /// Rights by field name.
    pub(crate) rights: Map<String, Value>,
}

/// A topic of a forum.
#[derive(Debug, Clone, Default)]
pub(crate) struct Topic {
    pub(crate) closed: bool,
    pub(crate) deleted: bool,
}

impl Chat {
    pub(crate) fn new(id: i64, kind: ChatKind, title: impl Into<String>) -> Self {
        Self {
            id,
            kind,
            title: title.into(),
            username: None,
            forum: false,
            members: BTreeMap::new(),
            topics: BTreeMap::new(),
            migrated_to: None,
            last_bot: None,
            next_message: 1,
        }
    }

    /// A `Chat`.
    pub(crate) fn json(&self) -> Value {
        let title = if self.kind == ChatKind::Private { "first_name" } else { "title" };
        let mut chat = json!({"id": self.id, "type": self.kind.name()});
        chat[title] = self.title.clone().into();
        if let Some(username) = &self.username {
            chat["username"] = username.clone().into();
        }
        if self.forum {
            chat["is_forum"] = true.into();
        }
        chat
    }

    pub(crate) fn take_number(&mut self) -> i64 {
        self.next_message += 1;
        self.next_message - 1
    }

    /// Whether no message has this number or a later one.
    pub(crate) fn is_free(&self, id: i64) -> bool {
        id >= self.next_message
    }

    /// The next message gets this number, or a later one.
    pub(crate) fn skip_to(&mut self, id: i64) {
        self.next_message = self.next_message.max(id);
    }

    /// Keeps numbers and topics of the same conversation as it was.
    pub(crate) fn go_on_from(&mut self, old: &Self) {
        self.next_message = old.next_message;
        self.topics.clone_from(&old.topics);
        self.forum = !self.topics.is_empty();
        self.last_bot = old.last_bot;
    }

    /// Status of a member; who never was one has left.
    pub(crate) fn status(&self, user: i64) -> &str {
        self.members.get(&user).map_or("left", |m| m.status.as_str())
    }
}

impl Member {
    pub(crate) fn new(status: &str) -> Self {
        Self { status: status.into(), rights: Map::new() }
    }

    /// A right of an administrator; a creator has all.
    pub(crate) fn may(&self, right: &str) -> bool {
        match self.status.as_str() {
            "creator" => true,
            "administrator" => self.rights.get(right).and_then(Value::as_bool).unwrap_or(false),
            _ => false,
        }
    }

    /// A `ChatMember`: every field its status requires, rights that were not given are `false`.
    pub(crate) fn json(&self, user: Value) -> Value {
        let mut out = Map::new();
        out.insert("status".into(), self.status.clone().into());
        out.insert("user".into(), user);
        let shape = match self.status.as_str() {
            "creator" => "ChatMemberOwner",
            "administrator" => "ChatMemberAdministrator",
            "restricted" => "ChatMemberRestricted",
            "kicked" => "ChatMemberBanned",
            "member" => "ChatMemberMember",
            _ => "ChatMemberLeft",
        };
        if let Some(crate::facts::Shape::Object(fields)) = crate::facts::facts().shape(shape) {
            for field in fields {
                let given = self.rights.get(&field.name).cloned();
                let default = match field.name.as_str() {
                    _ if !field.required => None,
                    "until_date" => Some(json!(0)),
                    // a restricted person is still there
                    "is_member" => Some(json!(true)),
                    _ => Some(json!(false)),
                };
                if let Some(value) = given.or(default)
                    && !out.contains_key(&field.name)
                {
                    out.insert(field.name.clone(), value);
                }
            }
        }
        out.into()
    }
}
