//! One thing at a time in each conversation, in the order in which they were given.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OwnedMutexGuard;

/// A conversation's line; the lock is fair, so whoever asks first goes first.
type Line = Arc<tokio::sync::Mutex<()>>;

/// The lines of all conversations in which something is being sent.
#[derive(Clone, Default)]
pub(super) struct Order(Arc<Mutex<HashMap<String, Line>>>);

impl Order {
    /// Waits behind everything that was given before. The place in the line is taken when this is first polled.
    pub(super) async fn enter(&self, conversation: String) -> Turn {
        let line = Arc::clone(self.lines().entry(conversation.clone()).or_default());
        // made before the wait, so that a wait that is given up leaves nothing behind
        let mut turn = Turn { order: self.clone(), conversation, held: None };
        turn.held = Some(line.lock_owned().await);
        turn
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<String, Line>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lines().len()
    }
}

/// The head of a line; dropped, the next one is let on.
pub(super) struct Turn {
    order: Order,
    conversation: String,
    held: Option<OwnedMutexGuard<()>>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.held = None;
        let mut lines = self.order.lines();
        // Whoever waits has a handle of its own; under this lock nobody can get a new one.
        if lines.get(&self.conversation).is_some_and(|line| Arc::strong_count(line) == 1) {
            lines.remove(&self.conversation);
        }
    }
}
