//! Updates by hand: raw ones, old ones again, other numbers.

use super::Unplayable;
use crate::world::{Bot, World};
use serde_json::Value;

impl World {
    fn bot_or_first(&mut self, id: Option<i64>) -> Result<&mut Bot, Unplayable> {
        let found = self.bots.iter_mut().find(|bot| id.is_none_or(|id| bot.id == id));
        found.ok_or_else(|| Unplayable::new("there is no such bot"))
    }

    /// An update as it is, whatever its kind; its id is set.
    pub(crate) fn raw_update(&mut self, to: Option<i64>, update: Value) -> Result<i64, Unplayable> {
        if !update.is_object() {
            return Err(Unplayable::new("an update is an object"));
        }
        let now = self.now_ms();
        Ok(self.bot_or_first(to)?.queue.push_raw(update, now))
    }

    /// Old updates come once more, whatever offset is asked for.
    pub(crate) fn replay(&mut self, to: Option<i64>, ids: &[i64]) -> Result<usize, Unplayable> {
        let now = self.now_ms();
        Ok(self.bot_or_first(to)?.queue.replay(ids, now))
    }

    /// The next update has this number, as after a quiet week.
    pub(crate) fn reset_updates(&mut self, to: Option<i64>, next: i64) -> Result<(), Unplayable> {
        self.bot_or_first(to)?.queue.reset(next);
        Ok(())
    }

    /// Somebody deletes a message; bots are not told.
    pub(crate) fn remove(&mut self, chat: i64, message: i64) -> Result<(), Unplayable> {
        let now = self.now_ms();
        let shown = self.shown_mut(chat, message).ok_or_else(|| Unplayable::new("there is no such message"))?;
        shown.deleted_at_ms = Some(now);
        Ok(())
    }

    /// Puts the rates in force or not; old sends and penalties are forgotten.
    pub(crate) fn set_rates(&mut self, on: bool) {
        self.options.rates = on;
        self.rates.forgive();
    }
}
