//! The view of a conversation under the window limit: whole oldest turns leave, never the running one.

use crate::model::{ModelMessage, message_tokens};
use std::collections::VecDeque;

/// Stands where older turns stood.
const NOT_SHOWN: &str = "[earlier messages not shown]";
/// Tenths of the window that a request may fill.
const FILL_TENTHS: u64 = 6;

/// One earlier turn of the view.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PastTurn {
    pub(super) turn_id: String,
    pub(super) messages: Vec<ModelMessage>,
}

/// Earlier turns, the running one, and what the fixed parts of a request take.
#[derive(Debug, Default)]
pub(super) struct View {
    pub(super) past: VecDeque<PastTurn>,
    pub(super) running: Vec<ModelMessage>,
    limited: bool,
    /// What a provider counted for a whole request, and how many messages of `running` that had.
    counted: Option<(u64, usize)>,
}

impl View {
    pub(super) fn new(past: Vec<PastTurn>) -> Self {
        Self { past: past.into(), ..Self::default() }
    }

    /// Takes whole oldest turns out until the request fits; `fixed` = prompt and tools, in tokens.
    pub(super) fn limit(&mut self, fixed: u64, window: u64) {
        let room = window.saturating_mul(FILL_TENTHS) / 10;
        while self.tokens(fixed) > room {
            if self.past.pop_front().is_none() {
                return;
            }
            self.limited = true;
            self.counted = None;
        }
    }

    /// Takes every earlier turn out; `false` when there is none.
    pub(super) fn drop_past(&mut self) -> bool {
        let had = !self.past.is_empty();
        self.past.clear();
        self.limited |= had;
        self.counted = None;
        had
    }

    /// Whether older turns left the view.
    pub(super) fn was_limited(&self) -> bool {
        self.limited
    }

    /// A provider counted the request just made.
    pub(super) fn count(&mut self, input_tokens: u64) {
        self.counted = Some((input_tokens, self.running.len()));
    }

    fn tokens(&self, fixed: u64) -> u64 {
        if let Some((seen, messages)) = self.counted {
            return seen + self.running.iter().skip(messages).map(message_tokens).sum::<u64>();
        }
        let past = self.past.iter().flat_map(|t| &t.messages);
        fixed + past.chain(&self.running).map(message_tokens).sum::<u64>()
    }

    /// The messages of a request, in order, still to be repaired.
    pub(super) fn messages(&self) -> Vec<ModelMessage> {
        let mut out = Vec::new();
        if self.limited {
            out.push(ModelMessage::User { text: NOT_SHOWN.into() });
        }
        out.extend(self.past.iter().flat_map(|t| t.messages.iter().cloned()));
        out.extend(self.running.iter().cloned());
        out
    }
}
