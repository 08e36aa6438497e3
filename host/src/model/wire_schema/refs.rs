//! Local references: found, followed, and cut where they come back to themselves.

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// How often one target may stand inside itself.
const MAX_REPEAT: usize = 5;
/// Nodes one schema may grow to; a tree of references grows by powers.
const MAX_NODES: usize = 20_000;

pub(super) struct Refs<'a> {
    root: &'a Value,
    open: Vec<String>,
    nodes: usize,
}

impl<'a> Refs<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root, open: Vec::new(), nodes: 0 }
    }

    /// Counts one node; false when the copy has become too large.
    pub(super) fn spend(&mut self) -> bool {
        self.nodes += 1;
        self.nodes <= MAX_NODES
    }

    /// The target of a local reference, unless it is unknown, foreign or open too often. Pair with `leave`.
    pub(super) fn enter(&mut self, target: &str) -> Option<&'a Value> {
        let pointer = target.strip_prefix('#')?;
        let found = self.root.pointer(&percent_decode_str(pointer).decode_utf8().ok()?)?;
        if self.open.iter().filter(|open| *open == target).count() >= MAX_REPEAT {
            return None;
        }
        self.open.push(target.to_owned());
        Some(found)
    }

    pub(super) fn leave(&mut self) {
        self.open.pop();
    }
}
