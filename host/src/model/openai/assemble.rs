//! Streamed fragments to whole calls. Providers number them by `index`, but not all do it well: parallel calls
//! may share an index, ids may be missing or repeat.

use super::chunk::Fragment;
use crate::model::remote::{MAX_CALLS, MAX_HELD, RawCall, joined};
use serde_json::Value;
use std::collections::HashMap;

/// Calls of one step while they arrive.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    calls: Vec<Open>,
    by_index: HashMap<u64, usize>,
    /// Bytes of all ids, names and arguments, and one for each fragment.
    held: usize,
}

#[derive(Debug, Default)]
struct Open {
    id: String,
    name: String,
    arguments: Vec<u8>,
    signature: Option<Value>,
    scan: ObjectScan,
}

impl Assembler {
    pub(super) fn push(&mut self, fragment: Fragment) {
        let id = fragment.id.unwrap_or_default();
        let function = fragment.function.unwrap_or_default();
        let name = function.name.unwrap_or_default();
        let text = function.arguments.unwrap_or_default().0;
        self.held += id.len() + name.len() + text.len() + 1;
        let index = fragment.index.unwrap_or_else(|| self.unnumbered(&id));
        let current = self.by_index.get(&index).copied();
        let at = match current.and_then(|at| self.calls.get(at)) {
            Some(open) if !open.starts_another(&id, &name, &text) => current.unwrap_or_default(),
            _ => {
                self.calls.push(Open::default());
                let at = self.calls.len() - 1;
                self.by_index.insert(index, at);
                at
            }
        };
        if let Some(open) = self.calls.get_mut(at) {
            open.take(id, name, &text);
            if fragment.extra_content.is_some() {
                open.signature = fragment.extra_content;
            }
        }
    }

    /// Index for a fragment without one: its id's call, else the last one; a new id gets the next number.
    fn unnumbered(&self, id: &str) -> u64 {
        let known = |at: &usize| !id.is_empty() && self.calls.get(*at).is_some_and(|c| c.id == id);
        if let Some((index, _)) = self.by_index.iter().find(|(_, at)| known(at)) {
            return *index;
        }
        let last = self.by_index.keys().max().copied();
        match last {
            Some(last) if id.is_empty() => last,
            Some(last) => last.saturating_add(1),
            None => 0,
        }
    }

    /// The calls in the order they began. `taken` are ids that already stand in the conversation.
    pub(super) fn finish(self, step: u32, taken: &dyn Fn(&str) -> bool) -> Vec<RawCall> {
        let mut out: Vec<RawCall> = Vec::with_capacity(self.calls.len());
        for (n, open) in self.calls.into_iter().enumerate() {
            let own = !open.id.is_empty() && !taken(&open.id) && out.iter().all(|c| c.id != open.id);
            let id = if own { open.id } else { format!("call_{step}_{}", n + 1) };
            out.push(RawCall { id, name: open.name, arguments: joined(&open.arguments) });
        }
        out
    }

    /// Signatures by the number of their call, from 1.
    pub(super) fn signatures(&self) -> Vec<(u32, Value)> {
        (1..).zip(&self.calls).filter_map(|(n, c)| Some((n, c.signature.clone()?))).collect()
    }

    /// Whether the model writes without an end.
    pub(super) fn is_over(&self) -> bool {
        self.held > MAX_HELD || self.calls.len() > MAX_CALLS
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
}

impl Open {
    fn starts_another(&self, id: &str, name: &str, text: &[u8]) -> bool {
        if !id.is_empty() && !self.id.is_empty() && id != self.id {
            return true;
        }
        let other_name = !name.is_empty() && !self.name.is_empty() && name != self.name;
        let more = text.iter().any(|b| !b.is_ascii_whitespace());
        // Without ids a finished object is the only border there is; a call without arguments ends at a new name.
        (self.scan.complete && (more || other_name)) || (self.arguments.is_empty() && other_name)
    }

    fn take(&mut self, id: String, name: String, text: &[u8]) {
        if self.id.is_empty() {
            self.id = id;
        }
        if self.name.is_empty() {
            self.name = name;
        }
        self.arguments.extend_from_slice(text);
        self.scan.feed(text);
    }
}

/// Knows whether the bytes so far are one whole object, without reading any of them twice.
#[derive(Debug, Default)]
struct ObjectScan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    not_object: bool,
    complete: bool,
}

impl ObjectScan {
    fn feed(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.byte(*b);
        }
    }

    fn byte(&mut self, b: u8) {
        if self.not_object || self.complete {
            return;
        }
        if self.in_string {
            match b {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match b {
            b'{' | b'[' if self.depth > 0 || b == b'{' => self.depth += 1,
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                self.complete = self.depth == 0;
            }
            b'"' if self.depth > 0 => self.in_string = true,
            _ if self.depth > 0 || b.is_ascii_whitespace() => {}
            _ => self.not_object = true,
        }
    }
}
