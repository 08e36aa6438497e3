//! The places in which commands run, and what all of them share.

use super::CommandError;
use crate::task::{SharedClock, SystemClock, Tasks};
use plugin_sdk::CancellationSignal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What of the host's environment every program gets.
#[derive(Debug, Clone)]
pub struct HostEnv {
    /// `PATH`: where programs are looked up too.
    pub path: String,
    /// `TZ`.
    pub timezone: String,
}

/// At most `limits.command_parallel` commands run at a time, over all generations of the process.
pub struct CommandPool {
    places: Mutex<(usize, Arc<Semaphore>)>,
    clock: SharedClock,
    process_clock: SharedClock,
    data_dir: PathBuf,
    host_env: HostEnv,
    tasks: Tasks,
}

impl CommandPool {
    /// A pool of `parallel` places; programs keep their data below `data_dir`.
    pub fn new(
        parallel: usize,
        clock: SharedClock,
        data_dir: impl Into<PathBuf>,
        tasks: Tasks,
        host_env: HostEnv,
    ) -> Self {
        Self {
            places: Mutex::new((parallel, Arc::new(Semaphore::new(parallel.max(1))))),
            clock,
            process_clock: SystemClock::shared(),
            data_dir: data_dir.into(),
            host_env,
            tasks,
        }
    }

    /// Changes the number of places. Calls that run or wait already keep to the old number.
    pub fn set_parallel(&self, parallel: usize) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.0 != parallel {
            *places = (parallel, Arc::new(Semaphore::new(parallel.max(1))));
        }
    }

    /// A place, or why there was none before the deadline.
    pub(super) async fn place(
        &self,
        deadline: Duration,
        limit: Duration,
        cancel: &CancellationSignal,
    ) -> Result<OwnedSemaphorePermit, CommandError> {
        if cancel.requested() {
            return Err(CommandError::Cancelled);
        }
        let (parallel, places) = self.places.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Ok(free) = Arc::clone(&places).try_acquire_owned() {
            return Ok(free);
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(CommandError::Cancelled),
            place = places.acquire_owned() => {
                place.map_err(|_| CommandError::Prepare("the command places are closed".into()))
            }
            () = self.clock.sleep(deadline.saturating_sub(self.clock.monotonic())) => {
                Err(CommandError::NoPlace { limit, parallel })
            }
        }
    }

    pub(super) fn clock(&self) -> &SharedClock {
        &self.clock
    }

    /// Real time, whatever clock the turn has: a process does not live in a test's time.
    pub(super) fn process_clock(&self) -> &SharedClock {
        &self.process_clock
    }

    pub(super) fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// What every program gets of the host's environment.
    pub fn host_env(&self) -> &HostEnv {
        &self.host_env
    }

    pub(super) fn tasks(&self) -> &Tasks {
        &self.tasks
    }
}
