//! A set-up plugin, shared by consecutive generations while its hash is equal.

use crate::task::{GuardError, SharedClock, guard};
use async_trait::async_trait;
use plugin_sdk::OwnerPath;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How long one resource may take to go.
const DISPOSE_LIMIT: Duration = Duration::from_secs(10);

/// Something an instance holds that has to be given back.
#[async_trait]
pub trait Resource: Send + Sync {
    /// What it is, for the log.
    fn name(&self) -> &str;
    /// Gives it back. Called once. The text says why it failed.
    async fn dispose(&self) -> Result<(), String>;
}

/// A plugin as a generation runs it.
pub struct Instance {
    /// Owner path.
    pub owner: OwnerPath,
    /// Plugin hash it was made for.
    pub hash: String,
    resources: Vec<Box<dyn Resource>>,
    generations: AtomicU64,
    quarantined: AtomicBool,
}

impl Instance {
    /// An instance that no generation uses yet. `resources` in order of their making.
    pub fn new(owner: OwnerPath, hash: String, resources: Vec<Box<dyn Resource>>) -> Self {
        Self { owner, hash, resources, generations: AtomicU64::new(0), quarantined: AtomicBool::new(false) }
    }

    /// One more candidate or generation uses it.
    pub fn join(&self) {
        self.generations.fetch_add(1, Ordering::AcqRel);
    }

    /// One fewer. `true` for the last: that caller disposes it.
    #[must_use]
    pub fn leave(&self) -> bool {
        self.generations.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether a disposal of it failed.
    pub fn is_quarantined(&self) -> bool {
        self.quarantined.load(Ordering::Acquire)
    }

    /// Gives back its resources, last made first, whatever becomes of the others. `false` = in quarantine.
    pub async fn dispose(&self, clock: &SharedClock) -> bool {
        for resource in self.resources.iter().rev() {
            let (code, why) = match guard(self.owner.as_str(), Some(DISPOSE_LIMIT), clock, resource.dispose()).await {
                Ok(Ok(())) => continue,
                Ok(Err(why)) => ("dispose::failed", why),
                Err(GuardError::Panicked(text)) => ("dispose::failed", text),
                Err(GuardError::Timeout) => ("dispose::timeout", "took longer than 10 s".to_owned()),
            };
            tracing::warn!(code, owner = %self.owner, resource = resource.name(), why, "instance quarantined");
            self.quarantined.store(true, Ordering::Release);
        }
        !self.is_quarantined()
    }
}
