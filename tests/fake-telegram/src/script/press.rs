//! Presses of inline buttons.

use super::Unplayable;
use crate::state::Press;
use crate::world::{Person, World};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A press.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PressButton {
    /// Conversation.
    pub chat: i64,
    /// Message with the button.
    pub message_id: i64,
    /// What the button says, or its data.
    pub button: String,
    /// Who presses.
    pub from: Person,
    /// The button may be gone: somebody looks at an old view, and `button` is its data.
    pub stale: bool,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressed {
    /// Id of the callback query.
    pub callback_id: String,
    /// Update it made; none when the bot does not take presses.
    pub update: Option<i64>,
}

impl World {
    /// Plays a press.
    pub(crate) fn press(&mut self, press: &PressButton) -> Result<Pressed, Unplayable> {
        let at_ms = self.now_ms();
        if !self.people.contains_key(&press.from.id) {
            self.know(&press.from);
        }
        let places = |m: &&crate::state::Shown| m.chat == press.chat && m.id == press.message_id;
        let shown = self.state.messages.iter().find(places);
        let Some(shown) = shown else { return Err(Unplayable::new("there is no such message")) };
        let Some(bot) = shown.bot else { return Err(Unplayable::new("the message is of no bot")) };
        let fits = |b: &&crate::state::Button| b.label == press.button || b.data.as_ref() == Some(&press.button);
        let gone = shown.deleted_at_ms.is_some();
        let found = shown.buttons().iter().find(fits).and_then(|b| b.data.clone()).filter(|_| !gone);
        let data = match found {
            Some(data) => data,
            None if press.stale => press.button.clone(),
            None => {
                let labels: Vec<String> = shown.buttons().into_iter().map(|b| b.label).collect();
                return Err(Unplayable::new(format!("no button {:?} to press, only {labels:?}", press.button)));
            }
        };
        let message = match gone {
            // a message that is gone is only named
            true => json!({"chat": shown.message["chat"], "message_id": shown.id, "date": 0}),
            false => shown.message.clone(),
        };
        let id = self.number().to_string();
        let query = json!({
            "id": id, "from": press.from.json(), "message": message,
            "chat_instance": format!("-{}", press.chat.unsigned_abs()), "data": data,
        });
        let update = self.bot(bot).and_then(|bot| bot.queue.push("callback_query", query, at_ms));
        self.state.presses.push(Press {
            id: id.clone(),
            bot,
            at_ms,
            chat: press.chat,
            message_id: press.message_id,
            user: press.from.id,
            data,
            answers: Vec::new(),
        });
        Ok(Pressed { callback_id: id, update })
    }
}
