//! The port: what every backend does, and nothing more.

use super::{Key, StoreError};
use async_trait::async_trait;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A named set of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tree {
    Meta,
    Dedupe,
    Inbox,
    Dead,
    Outbox,
    Sessions,
    History,
    Loaded,
    Questions,
    Actions,
    Grants,
    Artifacts,
    Generations,
    Reloads,
    Journal,
    Endpoints,
    Usage,
    Overrides,
    Plugin,
    Quarantine,
}

impl Tree {
    /// All of them, in the order of their stored ids.
    pub const ALL: [Tree; 20] = [
        Tree::Meta,
        Tree::Dedupe,
        Tree::Inbox,
        Tree::Dead,
        Tree::Outbox,
        Tree::Sessions,
        Tree::History,
        Tree::Loaded,
        Tree::Questions,
        Tree::Actions,
        Tree::Grants,
        Tree::Artifacts,
        Tree::Generations,
        Tree::Reloads,
        Tree::Journal,
        Tree::Endpoints,
        Tree::Usage,
        Tree::Overrides,
        Tree::Plugin,
        Tree::Quarantine,
    ];

    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Tree::Meta => "meta",
            Tree::Dedupe => "dedupe",
            Tree::Inbox => "inbox",
            Tree::Dead => "dead",
            Tree::Outbox => "outbox",
            Tree::Sessions => "sessions",
            Tree::History => "history",
            Tree::Loaded => "loaded",
            Tree::Questions => "questions",
            Tree::Actions => "actions",
            Tree::Grants => "grants",
            Tree::Artifacts => "artifacts",
            Tree::Generations => "generations",
            Tree::Reloads => "reloads",
            Tree::Journal => "journal",
            Tree::Endpoints => "endpoints",
            Tree::Usage => "usage",
            Tree::Overrides => "overrides",
            Tree::Plugin => "plugin",
            Tree::Quarantine => "quarantine",
        }
    }

    /// The tree with this stored id.
    pub(super) fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|tree| tree.id() == id)
    }

    /// Stored id. Part of the format: a new tree takes a new number, an old number is never used again.
    pub(super) fn id(self) -> u8 {
        match self {
            Tree::Meta => 1,
            Tree::Dedupe => 2,
            Tree::Inbox => 3,
            Tree::Dead => 4,
            Tree::Outbox => 5,
            Tree::Sessions => 6,
            Tree::History => 7,
            Tree::Loaded => 8,
            Tree::Questions => 9,
            Tree::Actions => 10,
            Tree::Grants => 11,
            Tree::Artifacts => 12,
            Tree::Generations => 13,
            Tree::Reloads => 14,
            Tree::Journal => 15,
            Tree::Endpoints => 16,
            Tree::Usage => 17,
            Tree::Overrides => 18,
            Tree::Plugin => 19,
            Tree::Quarantine => 20,
        }
    }
}

/// One step of a batch. Steps act in order; a later one wins over an earlier one on the same key.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Writes a record.
    Put {
        /// Where.
        tree: Tree,
        /// Which.
        key: Key,
        /// What.
        value: Value,
        /// For how long; `None` = until deleted.
        ttl: Option<Duration>,
    },
    /// Removes a record, if it is there.
    Delete {
        /// Where.
        tree: Tree,
        /// Which.
        key: Key,
    },
    /// Holds the batch to what was read before: if the record differs from `expect` (`None` = absent), the
    /// whole batch ends in [`StoreError::Conflict`]. Judged against the store before the batch, not within it.
    Check {
        /// Where.
        tree: Tree,
        /// Which.
        key: Key,
        /// What it must be.
        expect: Option<Value>,
    },
}

impl Op {
    /// A record without expiry.
    pub fn put(tree: Tree, key: Key, value: Value) -> Self {
        Op::Put { tree, key, value, ttl: None }
    }

    /// A record with expiry.
    pub fn put_for(tree: Tree, key: Key, value: Value, ttl: Duration) -> Self {
        Op::Put { tree, key, value, ttl: Some(ttl) }
    }

    /// A removal.
    pub fn delete(tree: Tree, key: Key) -> Self {
        Op::Delete { tree, key }
    }

    /// A condition.
    pub fn check(tree: Tree, key: Key, expect: Option<Value>) -> Self {
        Op::Check { tree, key, expect }
    }
}

/// Size of the store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreStats {
    /// Bytes on disk (in memory: of the encoded records).
    pub bytes: u64,
    /// Free bytes on its file system.
    pub free_bytes: u64,
    /// Living records per tree that has any.
    pub records: BTreeMap<Tree, u64>,
}

/// The one way to keep anything.
///
/// A write is visible to every reader when its call has returned, survives `kill -9` soon after, and survives
/// a power cut once a `barrier` that was asked for afterwards has returned.
#[async_trait]
pub trait Store: Send + Sync {
    /// The record, unless it has expired.
    async fn get(&self, tree: Tree, key: &Key) -> Result<Option<Value>, StoreError>;

    /// Records whose key begins with the parts of `prefix`, in key order, from behind `after`, at most
    /// `limit`. A record that cannot be decoded is logged and left out.
    async fn scan_prefix(
        &self,
        tree: Tree,
        prefix: &Key,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<Vec<(Key, Value)>, StoreError>;

    /// All steps or none, over any trees.
    async fn batch(&self, ops: Vec<Op>) -> Result<(), StoreError>;

    /// Writes `new` (`None` = removes) if the record is `old`; whether it did.
    async fn compare_and_swap(
        &self,
        tree: Tree,
        key: &Key,
        old: Option<&Value>,
        new: Option<Value>,
    ) -> Result<bool, StoreError> {
        let check = Op::check(tree, key.clone(), old.cloned());
        let write = match new {
            Some(value) => Op::put(tree, key.clone(), value),
            None => Op::delete(tree, key.clone()),
        };
        match self.batch(vec![check, write]).await {
            Ok(()) => Ok(true),
            Err(StoreError::Conflict { .. }) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Everything written before it is durable when it returns.
    async fn barrier(&self) -> Result<(), StoreError>;

    /// Looks at up to `limit` records and removes the expired ones; how many it removed. Goes on where the
    /// last call ended. Expired records are never returned, so this only gives their space back.
    async fn sweep(&self, limit: usize) -> Result<usize, StoreError>;

    /// Counts; reads the whole store.
    async fn stats(&self) -> Result<StoreStats, StoreError>;

    /// Makes everything durable and lets go of the files. Later calls fail with [`StoreError::Closed`].
    async fn close(&self) -> Result<(), StoreError>;
}

/// A store as it is passed around.
pub type SharedStore = Arc<dyn Store>;

/// Changes one record by compare-and-swap until it holds: `change` gets the present value and gives the next
/// one (`None` = remove). It may run several times. Gives what was written.
pub async fn update(
    store: &dyn Store,
    tree: Tree,
    key: &Key,
    mut change: impl FnMut(Option<Value>) -> Option<Value> + Send,
) -> Result<Option<Value>, StoreError> {
    loop {
        let old = store.get(tree, key).await?;
        let new = change(old.clone());
        if old == new || store.compare_and_swap(tree, key, old.as_ref(), new.clone()).await? {
            return Ok(new);
        }
    }
}
