//! A bot's account and its queue of updates.

use super::chat::Person;
use crate::options::BotOptions;
use serde_json::Value;
use std::collections::VecDeque;

/// Updates are kept for a day.
const KEEP_MS: i64 = 24 * 3600 * 1000;
/// Kinds that only come when they are asked for.
const OPT_IN: [&str; 3] = ["chat_member", "message_reaction", "message_reaction_count"];
const FIRST_UPDATE: i64 = 812_345_601;

/// An account.
#[derive(Debug)]
pub(crate) struct Bot {
    pub(crate) id: i64,
    pub(crate) token: String,
    pub(crate) person: Person,
    /// Off is privacy mode.
    pub(crate) reads_all: bool,
    pub(crate) queue: Queue,
    /// Number of the newest `getUpdates`; an older one that still waits is terminated.
    pub(crate) poll: u64,
    /// Why waiting polls end.
    pub(crate) poll_ended_by: &'static str,
    pub(crate) webhook: Option<Webhook>,
}

/// Where updates are pushed.
#[derive(Debug, Clone)]
pub(crate) struct Webhook {
    pub(crate) url: String,
    pub(crate) secret: Option<String>,
    pub(crate) max_connections: i64,
    pub(crate) last_error: Option<(i64, String)>,
}

/// An update.
#[derive(Debug, Clone)]
pub(crate) struct Update {
    pub(crate) id: i64,
    pub(crate) body: Value,
    at_ms: i64,
    /// Comes again although it was confirmed, until it was handed out once more.
    again: bool,
}

/// Updates that wait, and those that were there.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pending: VecDeque<Update>,
    history: Vec<Update>,
    next: i64,
    /// The list of the last request that gave one; `None`: all but the kinds to be asked for.
    pub(crate) allowed: Option<Vec<String>>,
}

impl Bot {
    pub(crate) fn new(options: &BotOptions) -> Self {
        let mut person = Person::new(options.id(), options.name.clone());
        person.username = Some(options.username.clone());
        person.is_bot = true;
        Self {
            id: options.id(),
            token: options.token.clone(),
            person,
            reads_all: options.can_read_all_group_messages,
            queue: Queue { next: FIRST_UPDATE, ..Queue::default() },
            poll: 0,
            poll_ended_by: "other getUpdates request; make sure that only one bot instance is running",
            webhook: None,
        }
    }

    pub(crate) fn username(&self) -> &str {
        self.person.username.as_deref().unwrap_or_default()
    }
}

impl Queue {
    /// Adds an update if its kind is allowed.
    pub(crate) fn push(&mut self, kind: &str, value: Value, now_ms: i64) -> Option<i64> {
        let allowed = match &self.allowed {
            Some(list) => list.iter().any(|k| k == kind),
            None => !OPT_IN.contains(&kind),
        };
        allowed.then(|| self.push_raw(serde_json::json!({kind: value}), now_ms))
    }

    /// Adds an update as it is; its id is set.
    pub(crate) fn push_raw(&mut self, body: Value, now_ms: i64) -> i64 {
        let id = self.next;
        self.next += 1;
        let mut whole = serde_json::Map::new();
        whole.insert("update_id".into(), id.into());
        if let Value::Object(map) = body {
            whole.extend(map.into_iter().filter(|(name, _)| name != "update_id"));
        }
        let update = Update { id, body: whole.into(), at_ms: now_ms, again: false };
        self.history.push(update.clone());
        self.pending.push_back(update);
        id
    }

    /// Confirms everything before an offset. One beyond the newest update confirms nothing: it belongs to ids
    /// from before a reset.
    pub(crate) fn confirm(&mut self, offset: i64, now_ms: i64) {
        self.pending.retain(|u| now_ms - u.at_ms < KEEP_MS);
        if offset < 0 {
            let keep = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
            let skip = self.pending.len().saturating_sub(keep);
            self.pending.drain(..skip);
        } else if offset <= self.next {
            self.pending.retain(|u| u.again || u.id >= offset);
        }
    }

    /// The updates that wait.
    pub(crate) fn take(&mut self, limit: usize) -> Vec<Value> {
        let mut out = Vec::new();
        for update in self.pending.iter_mut().take(limit) {
            update.again = false;
            out.push(update.body.clone());
        }
        out
    }

    pub(crate) fn first(&self) -> Option<Update> {
        self.pending.front().cloned()
    }

    /// Removes one that was pushed.
    pub(crate) fn pushed(&mut self, id: i64) {
        if let Some(at) = self.pending.iter().position(|u| u.id == id) {
            self.pending.remove(at);
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.pending.len()
    }

    pub(crate) fn drop_all(&mut self) {
        self.pending.clear();
    }

    /// Hands out old updates once more, before all others; returns how many were found.
    pub(crate) fn replay(&mut self, ids: &[i64], now_ms: i64) -> usize {
        let again = |u: &Update| Update { at_ms: now_ms, again: true, ..u.clone() };
        let found: Vec<Update> =
            ids.iter().filter_map(|id| self.history.iter().rev().find(|u| u.id == *id)).map(again).collect();
        self.pending.retain(|u| !ids.contains(&u.id));
        for update in found.iter().rev() {
            self.pending.push_front(update.clone());
        }
        found.len()
    }

    /// The next update gets this id; what waits is from a week ago and gone.
    pub(crate) fn reset(&mut self, next: i64) {
        self.pending.clear();
        self.next = next;
    }
}
