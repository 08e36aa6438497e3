//! Conversations, members, topics and the move to a supergroup.

use super::Unplayable;
use crate::world::{Chat, ChatKind, Member, Person, World};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A conversation as a script describes it. Described again, it keeps its messages, their numbers and its topics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Id.
    pub id: i64,
    /// Kind; what the id looks like when left out.
    #[serde(default)]
    pub kind: Option<ChatKind>,
    /// Title.
    #[serde(default = "title")]
    pub title: String,
    /// Username of a public one.
    #[serde(default)]
    pub username: Option<String>,
    /// Whether it has topics.
    #[serde(default)]
    pub forum: bool,
    /// Topics that exist, with their names.
    #[serde(default)]
    pub topics: BTreeMap<i64, String>,
    /// Who is there; the bots are members (of a channel: administrators) when they are not named.
    #[serde(default)]
    pub members: Vec<Membership>,
}

fn title() -> String {
    "Group".into()
}

/// Somebody's place in a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Membership {
    /// Who.
    pub user: Person,
    /// `creator`, `administrator`, `member`, `restricted`, `left` or `kicked`.
    pub status: String,
    /// Rights that are granted, by field name.
    pub rights: Vec<String>,
    /// Who changes it, when it changes.
    pub by: Person,
}

impl Membership {
    /// Somebody with a status and rights.
    pub fn new(user: Person, status: impl Into<String>, rights: &[&str]) -> Self {
        let rights = rights.iter().map(|right| (*right).to_owned()).collect();
        Self { user, status: status.into(), rights, by: Person::default() }
    }

    fn member(&self) -> Result<Member, Unplayable> {
        let known = ["creator", "administrator", "member", "restricted", "left", "kicked"];
        if !known.contains(&self.status.as_str()) {
            return Err(Unplayable::new(format!("status {:?} is none of {known:?}", self.status)));
        }
        let rights = self.rights.iter().map(|right| (right.clone(), Value::Bool(true))).collect();
        Ok(Member { status: self.status.clone(), rights })
    }
}

impl Group {
    /// A conversation whose kind follows from its id.
    pub fn new(id: i64) -> Self {
        let topics = BTreeMap::new();
        Self { id, kind: None, title: title(), username: None, forum: false, topics, members: Vec::new() }
    }

    /// A forum with topics.
    #[must_use]
    pub fn topics(mut self, topics: &[(i64, &str)]) -> Self {
        self.forum = true;
        self.topics.extend(topics.iter().map(|(id, name)| (*id, (*name).to_owned())));
        self
    }

    /// A channel.
    #[must_use]
    pub fn channel(self) -> Self {
        Self { kind: Some(ChatKind::Channel), ..self }
    }

    /// One more member.
    #[must_use]
    pub fn member(mut self, member: Membership) -> Self {
        self.members.push(member);
        self
    }
}

impl World {
    /// Makes a conversation, or makes it anew.
    pub(crate) fn group(&mut self, group: &Group) -> Result<(), Unplayable> {
        let kind = group.kind.unwrap_or_else(|| ChatKind::of(group.id));
        let mut chat = Chat::new(group.id, kind, group.title.clone());
        if let Some(old) = self.chats.get(&group.id) {
            chat.go_on_from(old);
        }
        chat.username.clone_from(&group.username);
        chat.forum |= group.forum || !group.topics.is_empty();
        let bots = if kind == ChatKind::Channel { "administrator" } else { "member" };
        for bot in &self.bots {
            let mut member = Member::new(bots);
            member.rights.insert("can_post_messages".into(), true.into());
            chat.members.insert(bot.id, member);
        }
        for member in &group.members {
            chat.members.insert(member.user.id, member.member()?);
            self.know(&member.user);
        }
        self.chats.insert(group.id, chat);
        for (id, name) in &group.topics {
            self.open_topic(group.id, name, *id)?;
        }
        Ok(())
    }

    /// Remembers a person; bots of this server are known already.
    pub(crate) fn know(&mut self, person: &Person) {
        if !self.bots.iter().any(|bot| bot.id == person.id) {
            self.people.insert(person.id, person.clone());
        }
    }

    /// The conversation with this id, made now if there is none.
    pub(crate) fn chat_or_new(&mut self, id: i64, from: &Person) -> Result<&mut Chat, Unplayable> {
        if !self.chats.contains_key(&id) {
            let mut group = Group::new(id);
            if ChatKind::of(id) == ChatKind::Private {
                group.title.clone_from(&from.name);
                group.username.clone_from(&from.username);
            }
            self.group(&group)?;
        }
        self.chats.get_mut(&id).ok_or_else(|| Unplayable::new("no such conversation"))
    }

    /// Changes somebody's place, and tells the bots: with a service message, and with an update about it.
    pub(crate) fn membership(&mut self, chat: i64, change: &Membership) -> Result<(), Unplayable> {
        let member = change.member()?;
        let now = self.now();
        let new = !self.chats.contains_key(&chat);
        let place = self.chat_or_new(chat, &change.by)?;
        if new {
            // whoever comes first to a conversation nobody knew was not there before
            place.members.remove(&change.user.id);
        }
        self.know(&change.user);
        self.know(&change.by);
        let (id, by) = (change.user.id, change.by.json());
        let bot = self.bots.iter().find(|bot| bot.id == id).map(|bot| bot.person.json());
        let about_bot = bot.is_some();
        let user = bot.unwrap_or_else(|| change.user.json());
        let Some(place) = self.chats.get_mut(&chat) else { return Ok(()) };
        let old = place.members.insert(id, member.clone()).unwrap_or_else(|| Member::new("left"));
        let (kind, place) = (place.kind, place.json());
        if kind == ChatKind::Private
            && about_bot
            && let Some(person) = self.people.get_mut(&chat)
        {
            person.blocked = member.status == "kicked";
        }
        let update = json!({
            "chat": place, "from": by, "date": now,
            "old_chat_member": old.json(user.clone()), "new_chat_member": member.json(user.clone()),
        });
        let at_ms = self.now_ms();
        let name = if about_bot { "my_chat_member" } else { "chat_member" };
        for account in &mut self.bots {
            let there = self.chats.get(&chat).is_some_and(|c| !matches!(c.status(account.id), "left" | "kicked"));
            if (about_bot && account.id == id) || (!about_bot && there) {
                account.queue.push(name, update.clone(), at_ms);
            }
        }
        let was = !matches!(old.status.as_str(), "left" | "kicked");
        let is = !matches!(member.status.as_str(), "left" | "kicked");
        if kind.is_group() && was != is {
            let mut content = Map::new();
            match is {
                true => content.insert("new_chat_members".into(), json!([user])),
                false => content.insert("left_chat_member".into(), user),
            };
            self.service(chat, change.by.json(), content);
        }
        Ok(())
    }

    /// A message of the platform itself.
    pub(crate) fn service(&mut self, chat: i64, from: Value, content: Map<String, Value>) {
        let mut head = Map::new();
        head.insert("from".into(), from);
        let shown = self.add(chat, None, head, content);
        self.deliver(chat, "message", &shown.message, None);
    }

    /// A group becomes a supergroup: requests to the old id are refused with the new one. Told with both service
    /// messages if wanted.
    pub(crate) fn migrate(&mut self, from: i64, to: i64, told: bool) {
        let Some(old) = self.chats.get_mut(&from).filter(|old| old.migrated_to.is_none()) else { return };
        let mut new = Chat::new(to, ChatKind::Supergroup, old.title.clone());
        new.members.clone_from(&old.members);
        new.last_bot = old.last_bot;
        self.chats.insert(to, new);
        let author = Person::default().json();
        if told {
            let content = Map::from_iter([("migrate_to_chat_id".to_owned(), Value::from(to))]);
            self.service(from, author.clone(), content);
            let content = Map::from_iter([("migrate_from_chat_id".to_owned(), Value::from(from))]);
            self.service(to, author, content);
        }
        if let Some(old) = self.chats.get_mut(&from) {
            old.migrated_to = Some(to);
        }
    }
}
