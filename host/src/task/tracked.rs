//! Tracked spawn: whoever starts a task can name, count, cancel and await it.

use super::guard::{GuardError, panic_text};
use futures::FutureExt;
use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A set of tasks that ends together. Clones share it.
#[derive(Clone, Default)]
pub struct Tasks(Arc<Inner>);

#[derive(Default)]
struct Inner {
    tracker: TaskTracker,
    closing: CancellationToken,
    next: AtomicU64,
    running: Mutex<HashMap<u64, Entry>>,
}

struct Entry {
    name: &'static str,
    abort: Option<AbortHandle>,
}

/// Takes the task off the list however it ends, an abort included.
struct Listed {
    inner: Arc<Inner>,
    id: u64,
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.inner.entries().remove(&self.id);
    }
}

impl Inner {
    fn entries(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Entry>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tasks {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a task. A panic in it is logged with its name and reaches whoever awaits the handle.
    pub fn spawn<T, F>(&self, name: &'static str, work: F) -> JoinHandle<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let listed = Listed { inner: self.0.clone(), id };
        self.0.entries().insert(id, Entry { name, abort: None });
        let handle = self.0.tracker.spawn(async move {
            let _listed = listed;
            match AssertUnwindSafe(work).catch_unwind().await {
                Ok(value) => value,
                Err(payload) => {
                    tracing::error!(task = name, panic = %panic_text(payload.as_ref()), "task::failed");
                    std::panic::resume_unwind(payload)
                }
            }
        });
        // The task may have ended already; then its entry is gone.
        if let Some(entry) = self.0.entries().get_mut(&id) {
            entry.abort = Some(handle.abort_handle());
        }
        handle
    }

    /// Tasks that have not ended.
    pub fn count(&self) -> usize {
        self.0.entries().len()
    }

    /// Their names, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.0.entries().values().map(|e| e.name).collect();
        names.sort_unstable();
        names
    }

    /// Ends when `close` has begun: long-running tasks select on it.
    pub async fn closing(&self) {
        self.0.closing.cancelled().await;
    }

    /// Whether `close` has begun.
    pub fn is_closing(&self) -> bool {
        self.0.closing.is_cancelled()
    }

    /// Asks all tasks to end, waits up to `grace`, aborts and awaits the rest; the number aborted.
    pub async fn close(&self, grace: Duration) -> usize {
        self.0.closing.cancel();
        self.0.tracker.close();
        if tokio::time::timeout(grace, self.0.tracker.wait()).await.is_ok() {
            return 0;
        }
        let late: Vec<_> = self.0.entries().values().map(|e| (e.name, e.abort.clone())).collect();
        for (name, abort) in &late {
            tracing::warn!(task = name, "aborted at shutdown");
            if let Some(abort) = abort {
                abort.abort();
            }
        }
        self.0.tracker.wait().await;
        late.len()
    }
}

/// Runs blocking work off the async workers and waits for it.
pub async fn blocking<T, F>(name: &'static str, work: F) -> Result<T, GuardError>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    tokio::task::spawn_blocking(work).await.map_err(|e| {
        let text = match e.try_into_panic() {
            Ok(payload) => panic_text(payload.as_ref()),
            Err(e) => e.to_string(),
        };
        tracing::error!(task = name, panic = %text, "task::failed");
        GuardError::Panicked(text)
    })
}

/// Starts a named thread for work that blocks all its life. Whoever starts it joins it.
pub fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work)
}
