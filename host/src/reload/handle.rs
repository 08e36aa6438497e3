//! What the rest of the host sees of reloading: requests, records, state.

use super::desired::{Desired, DesiredState};
use super::log::Log;
use super::queue::{Job, ReloadOptions};
use super::record::{ReloadRecord, Trigger};
use super::watch::RootState;
use crate::store::StoreError;
use async_trait::async_trait;
use plugin_sdk::ToolError;
use plugin_sdk::ports::ReloadRequest;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

/// Why a request got no record.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// The process is shutting down.
    #[error("reloading has ended: the process is shutting down")]
    Closed,
    /// The records could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Asks for reloads. Clones share the queue.
#[derive(Clone)]
pub struct ReloadHandle(pub(super) Arc<Shared>);

/// What handle, queue and watcher share.
pub(super) struct Shared {
    pub(super) queue: mpsc::UnboundedSender<Job>,
    pub(super) log: Log,
    pub(super) records: broadcast::Sender<Arc<ReloadRecord>>,
    pub(super) published: watch::Sender<Option<u64>>,
    pub(super) now: Mutex<Now>,
}

/// The present state.
#[derive(Default)]
pub(super) struct Now {
    pub(super) running: bool,
    pub(super) waiting_for_drain: bool,
    pub(super) desired: Desired,
    pub(super) last: Option<Arc<ReloadRecord>>,
    pub(super) watch: Vec<RootState>,
}

/// The part of `status` that is about reloading.
#[derive(Debug, Clone)]
pub struct ReloadState {
    /// A reload is being prepared.
    pub running: bool,
    /// Reloads wait until a retired generation is disposed.
    pub waiting_for_drain: bool,
    /// Disk against active.
    pub desired: DesiredState,
    /// How each root is watched.
    pub watch: Vec<RootState>,
}

impl Shared {
    pub(super) fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReloadHandle {
    /// Asks and waits for the verdict, never for drains. Requests made during a reload share the next one.
    pub async fn request(&self, trigger: Trigger, options: ReloadOptions) -> Result<Arc<ReloadRecord>, ReloadError> {
        let (answer, verdict) = oneshot::channel();
        let job = Job { trigger, options, hold: BTreeSet::new(), answer: Some(answer) };
        self.0.queue.send(job).map_err(|_| ReloadError::Closed)?;
        verdict.await.map_err(|_| ReloadError::Closed)
    }

    /// Asks without waiting.
    pub fn poke(&self, trigger: Trigger, options: ReloadOptions) -> Result<(), ReloadError> {
        let job = Job { trigger, options, hold: BTreeSet::new(), answer: None };
        self.0.queue.send(job).map_err(|_| ReloadError::Closed)
    }

    /// The last records, newest first; at most 200 are kept.
    pub async fn records(&self, limit: usize) -> Result<Vec<ReloadRecord>, ReloadError> {
        Ok(self.0.log.recent(limit).await?)
    }

    /// One record, with what became of the generation it replaced.
    pub async fn record(&self, id: &str) -> Result<Option<ReloadRecord>, ReloadError> {
        Ok(self.0.log.get(id).await?)
    }

    /// Every record from now on, whatever its outcome.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<ReloadRecord>> {
        self.0.records.subscribe()
    }

    /// The number that is published, as a value to watch.
    pub fn published(&self) -> watch::Receiver<Option<u64>> {
        self.0.published.subscribe()
    }

    /// For `status`.
    pub fn state(&self) -> ReloadState {
        let now = self.0.now();
        ReloadState {
            running: now.running,
            waiting_for_drain: now.waiting_for_drain,
            desired: now.desired.state(now.last.as_deref().cloned()),
            watch: now.watch.clone(),
        }
    }
}

#[async_trait]
impl ReloadRequest for ReloadHandle {
    async fn request(&self, trigger: &str, requested_by: Option<String>) -> Result<Value, ToolError> {
        let trigger = Trigger::parse(trigger)
            .ok_or_else(|| ToolError::new("VALIDATION_ERROR", format!("`{trigger}` is no trigger of a reload")))?;
        let options = ReloadOptions { requested_by, ..ReloadOptions::default() };
        let failed = |e: &dyn std::fmt::Display| ToolError::new("RELOAD_UNAVAILABLE", e.to_string());
        let record = ReloadHandle::request(self, trigger, options).await.map_err(|e| failed(&e))?;
        serde_json::to_value(&*record).map_err(|e| failed(&e))
    }
}
