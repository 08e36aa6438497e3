//! The one turn that may write into a session, from its begin to its commit.

use super::head::{Ended, Head};
use super::history::{HistoryEntry, STRIDE};
use super::reading::loaded_of;
use super::repair::Repaired;
use super::sessions::{entry_key, head_key, read, written};
use super::snapshot::Dropped;
use super::{LoadedSnapshot, Owed, SessionError, SessionKey, Sessions};
use crate::store::{Op, StoreError, Tree};
use serde_json::{Map, Value};

/// A session as one turn sees it. Every step is stored as it comes, so that whatever is there after a crash is
/// a prefix a repair makes sendable.
pub struct Transcript {
    pub(super) sessions: Sessions,
    pub(super) turn_id: String,
    pub(super) head: Head,
    pub(super) history: Vec<HistoryEntry>,
    loaded: LoadedSnapshot,
    repaired: Repaired,
    pub(super) last_n: u64,
    /// Where this turn's own entries begin in `history`.
    pub(super) own: usize,
    /// Position behind which the history was read; 0 = from the start.
    from: u64,
}

/// What was read of a session.
pub(super) struct Found {
    pub(super) history: Vec<HistoryEntry>,
    /// Position behind which the history was read; 0 = from the start.
    pub(super) from: u64,
    pub(super) loaded: LoadedSnapshot,
    pub(super) repaired: Repaired,
}

/// The end of a turn.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// Entries that are not stored yet.
    pub entries: Vec<HistoryEntry>,
    /// The loaded set the turn ended with; `None` leaves the stored one.
    pub loaded: Option<LoadedSnapshot>,
    /// What the turn took out of it.
    pub dropped: Vec<Dropped>,
    /// How the turn ended.
    pub outcome: Value,
    /// Why it failed, if it did: its message says so from then on.
    pub failed: Option<String>,
    /// Flags of the head to set.
    pub flags: Map<String, Value>,
    /// What the person is to be told; paid when it was.
    pub owed: Option<Owed>,
    /// Records of other rooms that belong to the same batch: usage, the answer's outbox record.
    pub extra: Vec<Op>,
}

impl Transcript {
    pub(super) fn new(sessions: Sessions, turn_id: String, head: Head, found: Found) -> Self {
        let Found { history, from, loaded, repaired } = found;
        let last_n = history.last().map_or(0, |e| e.n).max(head.last_n);
        let own = history.len();
        Self { sessions, turn_id, head, history, loaded, repaired, last_n, own, from }
    }

    /// Session key.
    pub fn session(&self) -> &SessionKey {
        &self.head.session
    }

    /// The head as the turn found it.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// History up to now, what this turn appended included.
    pub fn history(&self) -> &[HistoryEntry] {
        &self.history
    }

    /// The loaded set as the turn found it.
    pub fn loaded(&self) -> &LoadedSnapshot {
        &self.loaded
    }

    /// Whether older entries were not read and no summary stands for them.
    pub fn is_cut(&self) -> bool {
        self.from > 0 && self.head.covered().is_none_or(|c| c.upto < self.from)
    }

    /// What had to be repaired when the turn began.
    pub fn repaired(&self) -> Repaired {
        self.repaired
    }

    /// Stores the next entries, in one batch, and gives the position of the last. They are durable with the next
    /// barrier.
    pub async fn append(&mut self, entries: Vec<HistoryEntry>) -> Result<u64, SessionError> {
        let (numbered, ops) = self.numbered(entries);
        self.sessions.store.batch(ops).await?;
        self.keep(numbered);
        Ok(self.last_n)
    }

    /// Ends the turn: entries, loaded set, outcome and what belongs to them in one batch, then a barrier. A
    /// session that was reset meanwhile keeps its new state; one that was removed stays removed.
    pub async fn commit(&mut self, commit: Commit) -> Result<(), SessionError> {
        let (numbered, entry_ops) = self.numbered(commit.entries.clone());
        let last_n = numbered.last().map_or(self.last_n, |e| e.n);
        loop {
            let mut ops = commit.extra.clone();
            if let Some(mine) = self.session_ops(&commit, last_n).await? {
                ops.extend(mine);
                ops.extend(entry_ops.iter().cloned());
            }
            match self.sessions.store.batch(ops).await {
                Ok(()) => break,
                // A conflict on a record of `extra` is its owner's to settle.
                Err(StoreError::Conflict { tree })
                    if tree == Tree::Sessions.as_str() || tree == Tree::Loaded.as_str() => {}
                Err(e) => return Err(e.into()),
            }
        }
        self.keep(numbered);
        Ok(self.sessions.store.barrier().await?)
    }

    async fn session_ops(&self, commit: &Commit, last_n: u64) -> Result<Option<Vec<Op>>, SessionError> {
        let session = &self.head.session;
        let store = &self.sessions.store;
        let key = head_key(session);
        let Some(stored) = store.get(Tree::Sessions, &key).await? else { return Ok(None) };
        let mut head: Head = read(session.as_str(), "head", stored.clone())?;
        let now = self.sessions.clock.now();
        if head.running.as_ref().is_some_and(|r| r.turn_id == self.turn_id) {
            head.running = None;
        }
        head.used_at = now;
        let same_epoch = head.epoch == self.head.epoch;
        let mut ops = vec![Op::check(Tree::Sessions, key.clone(), Some(stored))];
        if same_epoch {
            head.last_n = last_n;
            head.turns += 1;
            head.last = Some(Ended { turn_id: self.turn_id.clone(), at: now, outcome: commit.outcome.clone() });
            head.flags.extend(commit.flags.clone());
            ops.extend(commit.failed.as_deref().and_then(|code| self.marked(code)));
            if let Some(owed) = &commit.owed {
                head.owe(owed.clone());
            }
            if let Some(mine) = &commit.loaded {
                let stored = store.get(Tree::Loaded, &key).await?;
                let present = loaded_of(stored.clone());
                ops.push(Op::check(Tree::Loaded, key.clone(), stored));
                ops.push(Op::put(Tree::Loaded, key.clone(), written(&present.merged(mine, &commit.dropped))));
            }
        }
        ops.push(Op::put(Tree::Sessions, key, written(&head)));
        Ok(Some(ops))
    }

    /// The person's message with the mark of a turn that failed.
    fn marked(&self, code: &str) -> Option<Op> {
        let own = self.history.get(self.own..)?;
        let mut entry = own.iter().rfind(|e| e.role() == "user")?.clone();
        if let Value::Object(meta) = &mut entry.meta {
            meta.insert("failed".into(), code.into());
        }
        let key = entry_key(&self.head.session, self.head.epoch, entry.n);
        Some(Op::put(Tree::History, key, written(&entry)))
    }

    pub(super) fn numbered(&self, mut entries: Vec<HistoryEntry>) -> (Vec<HistoryEntry>, Vec<Op>) {
        // Repairs may have used numbers behind the last multiple of the stride.
        let mut n = self.last_n / STRIDE * STRIDE;
        let mut ops = Vec::with_capacity(entries.len());
        for entry in &mut entries {
            n += STRIDE;
            entry.n = n;
            ops.push(Op::put(Tree::History, entry_key(&self.head.session, self.head.epoch, n), written(entry)));
        }
        (entries, ops)
    }

    pub(super) fn keep(&mut self, numbered: Vec<HistoryEntry>) {
        if let Some(last) = numbered.last() {
            self.last_n = last.n;
        }
        self.history.extend(numbered);
    }
}
