//! Ids of calls as a provider takes them.

use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// An id another provider gave may be too long for this one, or written in other letters.
pub(in crate::model) fn sendable_id(id: &str, longest: usize) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !id.is_empty() && id.len() <= longest && id.chars().all(plain) {
        return id.to_owned();
    }
    let digest = Sha256::digest(id.as_bytes());
    digest.iter().take(16).fold("call_".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// Ids of one request where each may stand once only: a second call of the same id gets another, and its result
/// with it.
#[derive(Debug, Default)]
pub(in crate::model) struct Ids {
    used: HashSet<String>,
    now: HashMap<String, String>,
}

impl Ids {
    /// The id of a call.
    pub(in crate::model) fn call(&mut self, id: &str, longest: usize) -> String {
        let base = sendable_id(id, longest.saturating_sub(8));
        let mut wire = base.clone();
        let mut n = 2;
        while !self.used.insert(wire.clone()) {
            wire = format!("{base}_{n}");
            n += 1;
        }
        self.now.insert(id.to_owned(), wire.clone());
        wire
    }

    /// The id of the call that a result answers.
    pub(in crate::model) fn answered(&self, id: &str) -> Option<String> {
        self.now.get(id).cloned()
    }
}
