//! The queue: requests that come during a reload become one following reload with all their waiters.

use super::record::{ReloadRecord, Trigger};
use plugin_sdk::OwnerPath;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// What a request wants besides a look at everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReloadOptions {
    /// Rebuilt even if unchanged.
    pub owners: Vec<OwnerPath>,
    /// Reads every file again.
    pub full: bool,
    /// Gives the oldest retired generation its deadline now, and does not wait for drains.
    pub force: bool,
    /// Text form of the principal who asks.
    pub requested_by: Option<String>,
}

/// One request.
pub(super) struct Job {
    pub(super) trigger: Trigger,
    pub(super) options: ReloadOptions,
    /// Plugins whose files still change.
    pub(super) hold: BTreeSet<OwnerPath>,
    pub(super) answer: Option<oneshot::Sender<Arc<ReloadRecord>>>,
}

/// Requests that are answered by one reload.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) triggers: BTreeSet<Trigger>,
    pub(super) rebuild: BTreeSet<OwnerPath>,
    pub(super) full: bool,
    pub(super) force: bool,
    pub(super) requested_by: Option<String>,
    hold: BTreeSet<OwnerPath>,
    waiters: Vec<oneshot::Sender<Arc<ReloadRecord>>>,
}

impl Batch {
    /// One reload for one trigger, nobody waiting.
    pub(super) fn of(trigger: Trigger) -> Self {
        Self { triggers: [trigger].into(), ..Self::default() }
    }

    pub(super) fn add(&mut self, job: Job) {
        self.triggers.insert(job.trigger);
        self.rebuild.extend(job.options.owners);
        self.full |= job.options.full;
        self.force |= job.options.force;
        self.requested_by = self.requested_by.take().or(job.options.requested_by);
        self.hold.extend(job.hold);
        self.waiters.extend(job.answer);
    }

    /// Takes in whatever has been asked by now.
    pub(super) fn gather(&mut self, queue: &mut mpsc::UnboundedReceiver<Job>) {
        while let Ok(job) = queue.try_recv() {
            self.add(job);
        }
    }

    /// Whether a person or program asked for it.
    pub(super) fn is_explicit(&self) -> bool {
        self.triggers.iter().any(|t| t.is_explicit())
    }

    /// Whoever asks for a reload wants what is on disk now, settled or not.
    pub(super) fn hold(&self) -> BTreeSet<OwnerPath> {
        if self.is_explicit() { BTreeSet::new() } else { self.hold.clone() }
    }

    /// Tells everybody who waits; one who has gone needs no answer.
    pub(super) fn answer(self, record: &Arc<ReloadRecord>) {
        for waiter in self.waiters {
            let _ = waiter.send(Arc::clone(record));
        }
    }
}
