//! How full the artifact folder is, so that a clean-up comes when it is needed and not by the clock alone.

use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Notify;

/// Bytes kept by a host, shared by all its artifact stores. What is there is known from the first clean-up on.
#[derive(Default)]
pub struct ArtifactRoom {
    bytes: AtomicU64,
    /// 0 until the first clean-up.
    most: AtomicU64,
    over: Notify,
}

impl ArtifactRoom {
    /// What a clean-up left, and how much there may be.
    pub fn set(&self, kept_bytes: u64, max_bytes: u64) {
        self.bytes.store(kept_bytes, Ordering::Relaxed);
        self.most.store(max_bytes, Ordering::Relaxed);
    }

    /// A file was saved.
    pub(super) fn add(&self, bytes: u64) {
        let now = self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let most = self.most.load(Ordering::Relaxed);
        if most > 0 && now > most {
            self.over.notify_one();
        }
    }

    /// Ends when a file was saved that no longer fits.
    pub async fn over(&self) {
        self.over.notified().await;
    }
}
