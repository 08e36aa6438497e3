//! Sessions: what was sent to each, so that it can be sent again.

use std::collections::VecDeque;

/// Events kept for a resume; who lags further must begin anew.
const KEPT: usize = 2_000;

/// One session.
pub(crate) struct Session {
    pub(crate) intents: u64,
    pub(crate) seq: u64,
    sent: VecDeque<(u64, String)>,
    /// Number of the connection it runs on.
    pub(crate) line: Option<u64>,
}

impl Session {
    pub(crate) fn new(intents: u64, line: u64) -> Self {
        Self { intents, seq: 0, sent: VecDeque::new(), line: Some(line) }
    }

    /// Numbers an event and keeps it; gives the frame.
    pub(crate) fn stamp(&mut self, name: &str, data: &serde_json::Value) -> String {
        self.seq += 1;
        let text = serde_json::json!({"op": 0, "t": name, "s": self.seq, "d": data}).to_string();
        self.sent.push_back((self.seq, text.clone()));
        if self.sent.len() > KEPT {
            self.sent.pop_front();
        }
        text
    }

    /// The frames after a number, and `again` frames before it; `None` when they are no longer kept.
    pub(crate) fn after(&self, seq: u64, again: usize) -> Option<Vec<String>> {
        let first = self.sent.front().map_or(self.seq + 1, |(n, _)| *n);
        if seq + 1 < first {
            return None;
        }
        let from = seq.saturating_sub(again as u64);
        Some(self.sent.iter().filter(|(n, _)| *n > from).map(|(_, text)| text.clone()).collect())
    }
}
