//! What both halves of a console connection share: which messages are open, whether a question waits.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::PoisonError;
use tokio::sync::Notify;

#[derive(Default)]
struct Inner {
    outstanding: HashSet<String>,
    question: bool,
    stopped: bool,
    next: u64,
}

/// Shared state of one console connection.
#[derive(Default)]
pub(crate) struct State {
    inner: Mutex<Inner>,
    changed: Notify,
}

impl State {
    fn with<T>(&self, f: impl FnOnce(&mut Inner) -> T) -> T {
        let out = f(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_waiters();
        out
    }

    /// Opens a message; gives its number and id.
    pub(crate) fn begin(&self, run_id: &str) -> (u64, String) {
        self.with(|s| {
            s.next += 1;
            let id = format!("{run_id}-{}", s.next);
            s.outstanding.insert(id.clone());
            (s.next, id)
        })
    }

    /// A message was dealt with.
    pub(crate) fn settle(&self, id: &str) {
        self.with(|s| {
            s.outstanding.remove(id);
            if s.outstanding.is_empty() {
                s.question = false;
            }
        });
    }

    /// A question is shown.
    pub(crate) fn open_question(&self) {
        self.with(|s| s.question = true);
    }

    /// Ends a question by an answer; whether one was open.
    pub(crate) fn take_question(&self) -> bool {
        self.with(|s| std::mem::take(&mut s.question))
    }

    /// How many messages were opened so far.
    pub(crate) fn opened(&self) -> u64 {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).next
    }

    /// Ends when more than `before` messages were opened, or the connection is stopped.
    pub(crate) async fn wait_opened(&self, before: u64) {
        self.until(|s| s.next > before || s.stopped).await;
    }

    /// Whether a question waits.
    pub(crate) fn question_open(&self) -> bool {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).question
    }

    /// Whether a message is being worked on.
    pub(crate) fn busy(&self) -> bool {
        !self.inner.lock().unwrap_or_else(PoisonError::into_inner).outstanding.is_empty()
    }

    /// No more messages.
    pub(crate) fn stop(&self) {
        self.with(|s| s.stopped = true);
    }

    async fn until(&self, done: impl Fn(&Inner) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if done(&self.inner.lock().unwrap_or_else(PoisonError::into_inner)) {
                return;
            }
            changed.await;
        }
    }

    /// Ends when nothing is worked on, or a question waits.
    pub(crate) async fn wait_idle_or_question(&self) {
        self.until(|s| s.outstanding.is_empty() || s.question).await;
    }

    /// Ends when the connection is stopped.
    pub(crate) async fn stopped(&self) {
        self.until(|s| s.stopped).await;
    }
}
