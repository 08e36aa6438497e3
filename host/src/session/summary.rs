//! A summary in the place of older entries. They stay stored; whoever reads the session for a model begins
//! behind them.

use super::head::Head;
use super::history::HistoryEntry;
use super::repair::{Repaired, is_sendable};
use super::sessions::{head_key, read, written};
use super::{SessionError, Transcript};
use crate::store::{Op, StoreError, Tree};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Flag of the head, and the role of the entry.
pub const SUMMARY: &str = "summary";

/// Which entries the newest summary of a session stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// Position of the summary.
    pub n: u64,
    /// Position of the last entry it stands for.
    pub upto: u64,
}

impl Head {
    /// The newest summary, if there is one.
    pub fn covered(&self) -> Option<Covered> {
        self.flags.get(SUMMARY).and_then(|v| serde_json::from_value(v.clone()).ok())
    }
}

impl Transcript {
    /// The text of the newest summary and the last position it stands for.
    pub fn summary(&self) -> Option<(&str, u64)> {
        let covered = self.head.covered()?;
        let entry = self.history.iter().find(|e| e.n == covered.n && e.role() == SUMMARY)?;
        Some((entry.message.get("text")?.as_str()?, covered.upto))
    }

    /// Stores a summary that stands for everything up to `upto`; entry and head change in one batch. `false` when
    /// the session was reset or removed meanwhile.
    pub async fn summarize(&mut self, entry: HistoryEntry, upto: u64) -> Result<bool, SessionError> {
        let session = self.head.session.clone();
        let key = head_key(&session);
        loop {
            let store = &self.sessions.store;
            let Some(stored) = store.get(Tree::Sessions, &key).await? else { return Ok(false) };
            let mut head: Head = read(session.as_str(), "head", stored.clone())?;
            if head.epoch != self.head.epoch {
                return Ok(false);
            }
            let (numbered, mut ops) = self.numbered(vec![entry.clone()]);
            let n = numbered.last().map_or(self.last_n, |e| e.n);
            head.last_n = n;
            head.flags.insert(SUMMARY.into(), json!(Covered { n, upto }));
            ops.push(Op::check(Tree::Sessions, key.clone(), Some(stored)));
            ops.push(Op::put(Tree::Sessions, key.clone(), written(&head)));
            match store.batch(ops).await {
                Ok(()) => {
                    self.head.flags = head.flags;
                    self.keep(numbered);
                    return Ok(true);
                }
                Err(StoreError::Conflict { .. }) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Repairs what this turn has stored so far, and stores the repair. What was there before was repaired when
    /// the turn began.
    pub async fn mend(&mut self) -> Result<Repaired, SessionError> {
        let own = self.history.get(self.own..).unwrap_or_default();
        if is_sendable(own) {
            return Ok(Repaired::default());
        }
        let (session, epoch) = (self.head.session.clone(), self.head.epoch);
        let (mended, done) = self.sessions.repaired(&session, epoch, own.to_vec()).await?;
        self.history.truncate(self.own);
        self.keep(mended);
        Ok(done)
    }
}
