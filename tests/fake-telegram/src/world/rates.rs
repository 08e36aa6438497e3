//! How much may be sent, and penalties that run.

use serde::Serialize;
use std::collections::{HashMap, VecDeque};

/// One message a second to one conversation; a little less, as requests do not take the same time on their way.
const CHAT_MS: i64 = 950;
const GROUP_PER_MINUTE: usize = 20;
const GROUP_MS: i64 = 59_500;
const TOTAL_PER_SECOND: usize = 30;
const TOTAL_MS: i64 = 950;
/// Penalty of a conversation's first excess, in seconds.
const PENALTY: i64 = 3;

/// Sends of the last minute and running penalties.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Rates {
    /// By conversation, times in milliseconds.
    chats: HashMap<i64, VecDeque<i64>>,
    all: VecDeque<i64>,
    /// Until when nothing may be sent to a conversation; 0 is all of them.
    held: HashMap<i64, i64>,
}

impl Rates {
    /// Nothing may be sent to a conversation (0: to any) for some seconds.
    pub(crate) fn hold(&mut self, chat: i64, seconds: i64, now_ms: i64) {
        let until = now_ms.saturating_add(seconds.saturating_mul(1000));
        let held = self.held.entry(chat).or_insert(until);
        *held = until.max(*held);
    }

    /// Seconds a conversation is still held.
    pub(crate) fn held(&self, chat: i64, now_ms: i64) -> Option<i64> {
        let left = |key: &i64| self.held.get(key).map(|until| until - now_ms).filter(|left| *left > 0);
        left(&chat).max(left(&0)).map(seconds)
    }

    /// Counts a message; too many start a penalty.
    pub(crate) fn count(&mut self, chat: i64, group: bool, now_ms: i64) -> Option<i64> {
        let own = self.chats.entry(chat).or_default();
        own.retain(|at| now_ms - at < GROUP_MS);
        self.all.retain(|at| now_ms - at < TOTAL_MS);
        let excess = if own.back().is_some_and(|last| now_ms - last < CHAT_MS) {
            Some((chat, PENALTY))
        } else if group && own.len() >= GROUP_PER_MINUTE {
            let first = own.front().map_or(now_ms, |at| at + GROUP_MS);
            Some((chat, seconds(first - now_ms).max(PENALTY)))
        } else if self.all.len() >= TOTAL_PER_SECOND {
            Some((0, PENALTY))
        } else {
            None
        };
        if let Some((chat, seconds)) = excess {
            self.hold(chat, seconds, now_ms);
            return Some(seconds);
        }
        own.push_back(now_ms);
        self.all.push_back(now_ms);
        None
    }

    pub(crate) fn forgive(&mut self) {
        *self = Self::default();
    }
}

fn seconds(ms: i64) -> i64 {
    (ms + 999) / 1000
}
