//! Topics of a forum.

use super::Unplayable;
use crate::world::{Person, Topic, World};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// What happens to a topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopicChange {
    /// Conversation.
    pub chat: i64,
    /// Topic; one that nobody knows is opened, with a number no message has yet.
    pub thread: i64,
    /// Name of a new one.
    #[serde(default)]
    pub name: String,
    /// Whether it is closed: 400 `TOPIC_CLOSED`.
    #[serde(default)]
    pub closed: bool,
    /// Whether it is deleted: 400 `message thread not found`, which is no violation.
    #[serde(default)]
    pub deleted: bool,
}

impl World {
    /// Plays a change of a topic.
    pub(crate) fn change_topic(&mut self, change: &TopicChange) -> Result<(), Unplayable> {
        let known = self.chats.get(&change.chat).is_some_and(|c| c.topics.contains_key(&change.thread));
        if !known {
            self.open_topic(change.chat, &change.name, change.thread)?;
        }
        if let Some(topic) = self.chats.get_mut(&change.chat).and_then(|c| c.topics.get_mut(&change.thread)) {
            *topic = Topic { closed: change.closed, deleted: change.deleted };
        }
        Ok(())
    }

    /// Opens a topic with a number, if there is none.
    pub(crate) fn open_topic(&mut self, chat: i64, name: &str, id: i64) -> Result<(), Unplayable> {
        let Some(place) = self.chats.get_mut(&chat) else { return Err(Unplayable::new("no such conversation")) };
        if place.topics.contains_key(&id) {
            return Ok(());
        }
        if id < 2 || !place.is_free(id) {
            return Err(Unplayable::new(format!("{id} cannot be the number of a new topic")));
        }
        place.forum = true;
        self.topic(chat, name, Some(id), None);
        Ok(())
    }

    /// Opens a topic; its number is that of its service message.
    pub(crate) fn topic(&mut self, chat: i64, name: &str, id: Option<i64>, bot: Option<i64>) -> Value {
        let icon = 7_322_096;
        if let (Some(id), Some(place)) = (id, self.chats.get_mut(&chat)) {
            place.skip_to(id);
        }
        let mut content = Map::new();
        content.insert("is_topic_message".into(), true.into());
        content.insert("forum_topic_created".into(), json!({"name": name, "icon_color": icon}));
        let author = bot.and_then(|id| self.bot(id).map(|bot| bot.person.json()));
        let mut head = Map::new();
        head.insert("from".into(), author.unwrap_or_else(|| Person::default().json()));
        let shown = self.add(chat, bot, head, content);
        if let Some(shown) = self.shown_mut(chat, shown.id) {
            shown.thread = Some(shown.id);
            shown.message["message_thread_id"] = shown.id.into();
        }
        if let Some(chat) = self.chats.get_mut(&chat) {
            chat.topics.insert(shown.id, Topic::default());
        }
        json!({"message_thread_id": shown.id, "name": name, "icon_color": icon})
    }
}
