//! The sled backend behind the port: every call runs off the async workers.

use super::commit::Commits;
use super::disk::Disk;
use super::port::{Op, Store, StoreStats, Tree};
use super::{Key, StoreError};
use crate::task::blocking;
use async_trait::async_trait;
use serde_json::Value;
use std::sync::Arc;

pub(super) struct DurableStore {
    disk: Arc<Disk>,
    commits: Arc<Commits>,
    /// The newest records of the last clean end were not there when it was opened.
    pub(super) lost_newest: bool,
}

impl DurableStore {
    pub(super) fn new(disk: Disk) -> Result<Self, StoreError> {
        let lost_newest = disk.lost_newest()?;
        let disk = Arc::new(disk);
        let commits = Arc::new(Commits::start(disk.clone())?);
        Ok(Self { disk, commits, lost_newest })
    }

    /// A call that was begun is finished even when its caller is cancelled: a batch is never half asked for.
    async fn off<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl FnOnce(&Disk) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let disk = self.disk.clone();
        match blocking(name, move || work(&disk)).await {
            Ok(result) => result,
            Err(panicked) => Err(StoreError::Corrupt(panicked.to_string())),
        }
    }

    #[cfg(test)]
    pub(super) fn syncs(&self) -> u64 {
        self.disk.syncs()
    }
}

impl Drop for DurableStore {
    fn drop(&mut self) {
        self.commits.stop();
    }
}

#[async_trait]
impl Store for DurableStore {
    async fn get(&self, tree: Tree, key: &Key) -> Result<Option<Value>, StoreError> {
        let key = key.clone();
        self.off("store-get", move |disk| disk.get(tree, &key)).await
    }

    async fn scan_prefix(
        &self,
        tree: Tree,
        prefix: &Key,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<Vec<(Key, Value)>, StoreError> {
        let (prefix, after) = (prefix.clone(), after.cloned());
        self.off("store-scan", move |disk| disk.scan(tree, &prefix, after.as_ref(), limit)).await
    }

    async fn batch(&self, ops: Vec<Op>) -> Result<(), StoreError> {
        self.off("store-batch", move |disk| disk.batch(ops)).await
    }

    async fn barrier(&self) -> Result<(), StoreError> {
        if !self.disk.is_dirty() {
            return Ok(());
        }
        self.commits.ask()?.await.unwrap_or(Err(StoreError::Closed))
    }

    async fn sweep(&self, limit: usize) -> Result<usize, StoreError> {
        self.off("store-sweep", move |disk| disk.sweep(limit)).await
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        self.off("store-stats", Disk::stats).await
    }

    async fn close(&self) -> Result<(), StoreError> {
        let commits = self.commits.clone();
        self.off("store-close", move |disk| {
            let synced = if disk.is_dirty() { disk.sync() } else { Ok(()) };
            if synced.is_ok()
                && let Err(error) = disk.end_clean()
            {
                // Without the mark the next start only knows less.
                tracing::debug!(%error, "the clean end of the store was not noted");
            }
            commits.stop();
            disk.close();
            synced
        })
        .await
    }
}
