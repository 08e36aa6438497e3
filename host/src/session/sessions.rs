//! Sessions in the store: heads, histories, loaded sets.

use super::head::{Head, Running};
use super::history::HistoryEntry;
use super::reading::{head_of, loaded_of, readable};
use super::repair::{Repaired, repair};
use super::transcript::Transcript;
use super::{LoadedSnapshot, SessionError, SessionKey};
use crate::store::{Key, Op, SharedStore, StoreError, Tree};
use crate::task::SharedClock;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// Records read at once.
pub(super) const PAGE: usize = 500;

/// All sessions of a host. Clones share the store.
#[derive(Clone)]
pub struct Sessions {
    pub(super) store: SharedStore,
    pub(super) clock: SharedClock,
}

impl Sessions {
    /// Sessions kept in `store`.
    pub fn new(store: SharedStore, clock: SharedClock) -> Self {
        Self { store, clock }
    }

    /// The head, if the session exists.
    pub async fn head(&self, session: &SessionKey) -> Result<Option<Head>, SessionError> {
        let stored = self.store.get(Tree::Sessions, &head_key(session)).await?;
        Ok(stored.map(|value| head_of(session, value, self.clock.now())))
    }

    /// The whole history of the present epoch, as stored.
    pub async fn history(&self, session: &SessionKey) -> Result<Vec<HistoryEntry>, SessionError> {
        match self.head(session).await? {
            Some(head) => self.entries(session, head.epoch, 0).await,
            None => Ok(Vec::new()),
        }
    }

    /// The loaded set as stored.
    pub async fn loaded(&self, session: &SessionKey) -> Result<LoadedSnapshot, SessionError> {
        Ok(loaded_of(self.store.get(Tree::Loaded, &head_key(session)).await?))
    }

    /// Begins a turn: reads and repairs the history, notes that the turn runs. Of a long history only about the
    /// newest `max_entries` are read, from a person's message on. `about` is what the next start needs to decide
    /// what becomes of the turn, should the process end before it; if it has a `retry_of`, the rerun of that
    /// turn is owed no longer.
    pub async fn begin(
        &self,
        session: &SessionKey,
        turn_id: &str,
        about: Value,
        max_entries: u64,
    ) -> Result<Transcript, SessionError> {
        let now = self.clock.now();
        let head = self
            .change_head(session, true, |head| {
                head.used_at = now;
                head.begins(&about);
                head.running = Some(Running { turn_id: turn_id.to_owned(), since: now, about: about.clone() });
            })
            .await?
            .unwrap_or_else(|| Head::new(session.clone(), now));
        self.opened(head, turn_id, max_entries).await
    }

    /// The session as a turn would see it, without one that runs. `None` when there is no session.
    pub async fn look(
        &self,
        session: &SessionKey,
        turn_id: &str,
        max_entries: u64,
    ) -> Result<Option<Transcript>, SessionError> {
        let Some(head) = self.head(session).await? else { return Ok(None) };
        self.opened(head, turn_id, max_entries).await.map(Some)
    }

    pub(super) async fn repaired(
        &self,
        session: &SessionKey,
        epoch: u64,
        stored: Vec<HistoryEntry>,
    ) -> Result<(Vec<HistoryEntry>, Repaired), SessionError> {
        let before: BTreeMap<u64, HistoryEntry> = stored.iter().map(|e| (e.n, e.clone())).collect();
        let (mut history, done) = repair(stored);
        if done.is_nothing() {
            return Ok((history, done));
        }
        let mut last = 0;
        for entry in &mut history {
            if entry.n <= last {
                entry.n = last + 1;
            }
            last = entry.n;
        }
        let after: BTreeMap<u64, &HistoryEntry> = history.iter().map(|e| (e.n, e)).collect();
        let gone = before.keys().filter(|n| !after.contains_key(n));
        let mut ops: Vec<Op> = gone.map(|n| Op::delete(Tree::History, entry_key(session, epoch, *n))).collect();
        for (n, entry) in &after {
            if before.get(n) != Some(*entry) {
                ops.push(Op::put(Tree::History, entry_key(session, epoch, *n), written(entry)));
            }
        }
        self.store.batch(ops).await?;
        tracing::info!(code = "session::repaired", ?done, "transcript repaired");
        Ok((history, done))
    }

    /// Changes a head by compare-and-swap; `None` when there is none and none is to be made.
    pub(super) async fn change_head(
        &self,
        session: &SessionKey,
        create: bool,
        mut change: impl FnMut(&mut Head) + Send,
    ) -> Result<Option<Head>, SessionError> {
        loop {
            let stored = self.store.get(Tree::Sessions, &head_key(session)).await?;
            let mut head = match &stored {
                Some(value) => head_of(session, value.clone(), self.clock.now()),
                None if create => Head::new(session.clone(), self.clock.now()),
                None => return Ok(None),
            };
            change(&mut head);
            let new = Some(written(&head));
            if self.store.compare_and_swap(Tree::Sessions, &head_key(session), stored.as_ref(), new).await? {
                return Ok(Some(head));
            }
        }
    }

    /// Changes what the head says beside its history: agent, model, flags.
    pub async fn set(
        &self,
        session: &SessionKey,
        change: impl FnMut(&mut Head) + Send,
    ) -> Result<Option<Head>, SessionError> {
        self.change_head(session, false, change).await
    }

    /// `/new`: the history goes to the archive; loaded set, grants and questions are emptied. A turn that still
    /// runs writes into the archive from now on. Whether there was a session.
    pub async fn reset(&self, session: &SessionKey) -> Result<bool, SessionError> {
        loop {
            let Some(stored) = self.store.get(Tree::Sessions, &head_key(session)).await? else { return Ok(false) };
            let mut head = head_of(session, stored.clone(), self.clock.now());
            head.epoch += 1;
            head.last_n = 0;
            head.turns = 0;
            head.running = None;
            head.used_at = self.clock.now();
            head.flags.clear();
            head.owed.clear();
            let mut ops = vec![
                Op::check(Tree::Sessions, head_key(session), Some(stored)),
                Op::put(Tree::Sessions, head_key(session), written(&head)),
                Op::delete(Tree::Loaded, head_key(session)),
            ];
            for tree in [Tree::Grants, Tree::Questions] {
                ops.extend(self.deletions(tree, session, usize::MAX).await?);
            }
            match self.store.batch(ops).await {
                Ok(()) => break,
                Err(StoreError::Conflict { .. }) => {}
                Err(e) => return Err(e.into()),
            }
        }
        self.store.barrier().await?;
        Ok(true)
    }

    /// Removes the session and its archive.
    pub async fn remove(&self, session: &SessionKey) -> Result<(), SessionError> {
        let head = [Tree::Sessions, Tree::Loaded].map(|tree| Op::delete(tree, head_key(session)));
        self.store.batch(head.into()).await?;
        for tree in [Tree::History, Tree::Grants, Tree::Questions] {
            loop {
                let ops = self.deletions(tree, session, PAGE).await?;
                if ops.is_empty() {
                    break;
                }
                self.store.batch(ops).await?;
            }
        }
        Ok(())
    }

    async fn deletions(&self, tree: Tree, session: &SessionKey, limit: usize) -> Result<Vec<Op>, SessionError> {
        let found = self.store.scan_prefix(tree, &head_key(session), None, limit).await?;
        Ok(found.into_iter().map(|(key, _)| Op::delete(tree, key)).collect())
    }

    /// Heads in key order, from behind `after`.
    pub async fn list(&self, after: Option<&SessionKey>, limit: usize) -> Result<Vec<Head>, SessionError> {
        let after = after.map(head_key);
        let found = self.store.scan_prefix(Tree::Sessions, &Key::new(), after.as_ref(), limit).await?;
        Ok(found.into_iter().filter_map(|(_, value)| readable("head", value)).collect())
    }

    /// Sessions whose turn had not ended when the process did. Asked once, at the start.
    pub async fn interrupted(&self) -> Result<Vec<Head>, SessionError> {
        self.matching(|head| head.running.is_some()).await
    }

    /// Removes sessions not used since `before`; `busy` ones stay. How many it removed.
    pub async fn remove_idle(
        &self,
        before: DateTime<Utc>,
        busy: impl Fn(&SessionKey) -> bool + Send + Sync,
    ) -> Result<usize, SessionError> {
        let idle = self.matching(|head| head.used_at < before && !busy(&head.session)).await?;
        for head in &idle {
            self.remove(&head.session).await?;
        }
        Ok(idle.len())
    }

    pub(super) async fn matching(&self, fits: impl Fn(&Head) -> bool + Send + Sync) -> Result<Vec<Head>, SessionError> {
        let mut out = Vec::new();
        let mut after: Option<Key> = None;
        loop {
            let page = self.store.scan_prefix(Tree::Sessions, &Key::new(), after.as_ref(), PAGE).await?;
            let Some((last, _)) = page.last() else { return Ok(out) };
            after = Some(last.clone());
            out.extend(page.into_iter().filter_map(|(_, value)| readable("head", value)).filter(|head| fits(head)));
        }
    }
}

pub(super) fn head_key(session: &SessionKey) -> Key {
    Key::new().str(session.as_str())
}

pub(super) fn entry_key(session: &SessionKey, epoch: u64, n: u64) -> Key {
    Key::new().str(session.as_str()).u64(epoch).u64(n)
}

pub(super) fn read<T: DeserializeOwned>(session: &str, what: &'static str, value: Value) -> Result<T, SessionError> {
    serde_json::from_value(value).map_err(|e| SessionError::Unreadable {
        session: session.to_owned(),
        what,
        why: e.to_string(),
    })
}

/// These types hold nothing that JSON cannot; `null` would be found by the next reader.
pub(super) fn written<T: Serialize>(record: &T) -> Value {
    serde_json::to_value(record).unwrap_or(Value::Null)
}
