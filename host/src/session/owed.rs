//! What a session still owes its person: kept with the head until it was told or done.

use super::head::{Ended, Head, Running};
use super::history::{HistoryEntry, STRIDE};
use super::sessions::{entry_key, head_key, read, written};
use super::{SessionError, SessionKey, Sessions};
use crate::store::{Op, StoreError, Tree};
use plugin_sdk::{ConversationRef, Segment};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Things owed in one session; of more the oldest are given up.
const MOST: usize = 20;

/// One thing that is owed. It stays until it is paid, so a crash in between makes a person hear it twice rather
/// than never; the second time it says so.
// SHAPE: 04 §2
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Owed {
    /// The turn it comes from.
    pub turn_id: String,
    /// Where the person is.
    pub conversation: ConversationRef,
    /// Kind of the connection that leads there: the console speaks for people of any platform.
    pub over: String,
    /// What.
    pub what: Debt,
}

/// What may be owed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Debt {
    /// The answer of a turn that ended; nobody knows whether it was shown.
    Answer {
        /// As it was to be sent.
        segments: Vec<Segment>,
    },
    /// A sentence of the host.
    Sentence {
        /// The sentence.
        text: String,
    },
    /// The message of a turn that broke off is answered by a new turn.
    Rerun {
        /// What the turn that broke off was begun with.
        about: Value,
    },
}

/// How a turn that a crash broke off is closed.
#[derive(Debug, Clone, Default)]
pub struct Closing {
    /// Results of calls that have none.
    pub entries: Vec<HistoryEntry>,
    /// Its outcome; `None` when a new turn stands for it.
    pub outcome: Option<Value>,
    /// What the person is owed.
    pub owed: Option<Owed>,
    /// Records of other rooms that belong to the same batch.
    pub extra: Vec<Op>,
}

impl Head {
    /// Adds what is owed.
    pub(super) fn owe(&mut self, owed: Owed) {
        self.owed.push(owed);
        let over = self.owed.len().saturating_sub(MOST);
        self.owed.drain(..over);
    }

    /// The new turn that `about` begins stands for the one whose message it answers again.
    pub(super) fn begins(&mut self, about: &Value) {
        let stands_for = about.get("retry_of").and_then(Value::as_str);
        self.owed.retain(|o| !matches!(o.what, Debt::Rerun { .. }) || stands_for != Some(o.turn_id.as_str()));
    }
}

impl Sessions {
    /// What the turn that runs according to `head` has stored, without a repair. Read at the start, before
    /// anything else happens in the session.
    pub async fn left_by(&self, head: &Head) -> Result<Vec<HistoryEntry>, SessionError> {
        let Some(running) = &head.running else { return Ok(Vec::new()) };
        let all = self.entries(&head.session, head.epoch, head.last_n).await?;
        Ok(all.into_iter().filter(|entry| entry.turn_id == running.turn_id).collect())
    }

    /// Closes a turn that a crash broke off, in one batch. Durable with the next barrier.
    pub async fn close_interrupted(&self, found: &Head, closing: Closing) -> Result<(), SessionError> {
        let key = head_key(&found.session);
        loop {
            let Some(stored) = self.store.get(Tree::Sessions, &key).await? else { return Ok(()) };
            let mut head: Head = read(found.session.as_str(), "head", stored.clone())?;
            let Some(running) = head.running.take().filter(|r| Some(r) == found.running.as_ref()) else {
                return Ok(());
            };
            let mut ops = vec![Op::check(Tree::Sessions, key.clone(), Some(stored))];
            let mut n = self.last_position(&head).await?;
            for mut entry in closing.entries.clone() {
                n = n / STRIDE * STRIDE + STRIDE;
                entry.n = n;
                ops.push(Op::put(Tree::History, entry_key(&head.session, head.epoch, n), written(&entry)));
            }
            head.last_n = n;
            if let Some(outcome) = closing.outcome.clone() {
                head.turns += 1;
                head.last = Some(Ended { turn_id: running.turn_id, at: self.clock.now(), outcome });
            }
            if let Some(owed) = closing.owed.clone() {
                head.owe(owed);
            }
            ops.push(Op::put(Tree::Sessions, key.clone(), written(&head)));
            ops.extend(closing.extra.clone());
            match self.store.batch(ops).await {
                Ok(()) => return Ok(()),
                Err(StoreError::Conflict { tree }) if tree == Tree::Sessions.as_str() => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    async fn last_position(&self, head: &Head) -> Result<u64, SessionError> {
        let entries = self.entries(&head.session, head.epoch, head.last_n).await?;
        Ok(entries.last().map_or(0, |e| e.n).max(head.last_n))
    }

    /// Sessions that owe something.
    pub async fn owing(&self) -> Result<Vec<Head>, SessionError> {
        self.matching(|head| !head.owed.is_empty()).await
    }

    /// Something runs in a session that is no turn: a command that calls a tool.
    pub async fn runs(&self, session: &SessionKey, turn_id: &str, about: Value) -> Result<(), SessionError> {
        let now = self.clock.now();
        let running = Running { turn_id: turn_id.to_owned(), since: now, about };
        self.change_head(session, true, |head| {
            head.used_at = now;
            head.begins(&running.about);
            head.running = Some(running.clone());
        })
        .await
        .map(drop)
    }

    /// It has ended.
    pub async fn ran(&self, session: &SessionKey, turn_id: &str) -> Result<(), SessionError> {
        self.change_head(session, false, |head| {
            head.running.take_if(|running| running.turn_id == turn_id);
        })
        .await
        .map(drop)
    }

    /// What `turn_id` left owed in a session was told or done. Durable with the next barrier.
    pub async fn paid(&self, session: &SessionKey, turn_id: &str) -> Result<(), SessionError> {
        self.change_head(session, false, |head| head.owed.retain(|o| o.turn_id != turn_id)).await.map(drop)
    }

    /// What was written so far is durable when this returns.
    pub async fn barrier(&self) -> Result<(), SessionError> {
        Ok(self.store.barrier().await?)
    }
}
