//! Reading a session back: a bounded part of its newest entries, whatever became of single records.

use super::head::Head;
use super::history::{HistoryEntry, STRIDE};
use super::sessions::{PAGE, entry_key};
use super::transcript::{Found, Transcript};
use super::{LoadedSnapshot, SessionError, SessionKey, Sessions};
use crate::store::{Key, Tree};
use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Most that a turn reads of a history, in bytes: many times the window of any model, and what one turn may hold of
/// the host's memory, however long its messages are.
const MAX_BYTES: usize = 16 << 20;
/// Entries of the first read from the end; each further one is at most twice as long, up to a page.
const FIRST_READ: usize = 16;

/// The newest entries of a history.
struct Newest {
    entries: Vec<HistoryEntry>,
    /// Position behind which they begin; 0 = from the start.
    from: u64,
}

impl Sessions {
    pub(super) async fn opened(&self, head: Head, turn_id: &str, max_entries: u64) -> Result<Transcript, SessionError> {
        let session = head.session.clone();
        let Newest { mut entries, from } = self.newest(&head, max_entries, MAX_BYTES).await?;
        if let Some(covered) = head.covered().filter(|c| entries.iter().all(|e| e.n != c.n)) {
            // An old summary stands before everything that was read.
            let summary = self.entry(&session, head.epoch, covered.n).await?;
            entries.splice(..0, summary);
        }
        let (history, repaired) = self.repaired(&session, head.epoch, entries).await?;
        let loaded = self.loaded(&session).await?;
        Ok(Transcript::new(self.clone(), turn_id.to_owned(), head, Found { history, from, loaded, repaired }))
    }

    /// One entry by its position.
    pub async fn entry(&self, session: &SessionKey, epoch: u64, n: u64) -> Result<Option<HistoryEntry>, SessionError> {
        let stored = self.store.get(Tree::History, &entry_key(session, epoch, n)).await?;
        Ok(stored.and_then(|value| readable("history entry", value)))
    }

    /// Up to `limit` entries behind the position `after`, in order.
    pub async fn page(
        &self,
        session: &SessionKey,
        epoch: u64,
        after: u64,
        limit: usize,
    ) -> Result<Vec<HistoryEntry>, SessionError> {
        let prefix = Key::new().str(session.as_str()).u64(epoch);
        let mut from = prefix.clone().u64(after);
        let mut out = Vec::new();
        loop {
            let wanted = limit - out.len();
            let found = self.store.scan_prefix(Tree::History, &prefix, Some(&from), wanted).await?;
            let whole = found.len() < wanted;
            if let Some((key, _)) = found.last() {
                from = key.clone();
            }
            let at_its_place = |key: &Key, entry: &HistoryEntry| *key == entry_key(session, epoch, entry.n);
            let read = found.into_iter().filter_map(|(key, value)| Some((key, readable("history entry", value)?)));
            out.extend(read.filter(|(key, entry)| at_its_place(key, entry)).map(|(_, entry)| entry));
            if whole || out.len() == limit {
                return Ok(out);
            }
        }
    }

    /// Every entry behind `from`.
    pub(super) async fn entries(
        &self,
        session: &SessionKey,
        epoch: u64,
        from: u64,
    ) -> Result<Vec<HistoryEntry>, SessionError> {
        let mut out: Vec<HistoryEntry> = Vec::new();
        let mut after = from;
        loop {
            let page = self.page(session, epoch, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.n;
            out.extend(page);
        }
        if from > 0 {
            begin_with_a_message(&mut out);
        }
        Ok(out)
    }

    /// At most about the newest `max_entries`, and at most `max_bytes` of them, read from the end.
    async fn newest(&self, head: &Head, max_entries: u64, max_bytes: usize) -> Result<Newest, SessionError> {
        let start = head.last_n.saturating_sub(max_entries.saturating_mul(STRIDE));
        let mut parts: Vec<Vec<HistoryEntry>> = Vec::new();
        // what a broken turn left stands behind the last position that the head knows
        let (mut upto, mut from) = (u64::MAX, head.last_n);
        let (mut bytes, mut read, mut step) = (0, 0, FIRST_READ);
        loop {
            let part = self.between(head, (from, upto), step).await?;
            bytes += part.iter().map(entry_bytes).sum::<usize>();
            read += part.len();
            parts.push(part);
            if from <= start || bytes > max_bytes {
                break;
            }
            // no more at once than would fit, were they like those before them
            let fit = ((max_bytes - bytes) / (bytes / read.max(1)).max(1)).saturating_add(1);
            step = (step * 2).min(PAGE).min(fit);
            upto = from;
            from = from.saturating_sub((step as u64).saturating_mul(STRIDE)).max(start);
        }
        let mut entries: Vec<HistoryEntry> = parts.into_iter().rev().flatten().collect();
        let mut gone = 0;
        for entry in &entries {
            if bytes <= max_bytes {
                break;
            }
            bytes -= entry_bytes(entry);
            (gone, from) = (gone + 1, entry.n);
        }
        entries.drain(..gone);
        if from > 0 {
            begin_with_a_message(&mut entries);
        }
        Ok(Newest { entries, from })
    }

    /// Entries behind `from`, up to and with `upto`; `step` are read at once.
    async fn between(
        &self,
        head: &Head,
        (from, upto): (u64, u64),
        step: usize,
    ) -> Result<Vec<HistoryEntry>, SessionError> {
        let mut out: Vec<HistoryEntry> = Vec::new();
        let mut after = from;
        loop {
            let page = self.page(&head.session, head.epoch, after, step).await?;
            let Some(last) = page.last() else { return Ok(out) };
            after = last.n;
            let ended = after >= upto;
            out.extend(page.into_iter().filter(|e| e.n <= upto));
            if ended {
                return Ok(out);
            }
        }
    }
}

/// A cut history begins with a message, so that no result lies in it whose call was cut off.
fn begin_with_a_message(entries: &mut Vec<HistoryEntry>) {
    let start = entries.iter().position(|e| e.role() == "user").unwrap_or(entries.len());
    entries.drain(..start);
}

/// A record that nobody can read any more is left out, and said so in the log: the session goes on without it.
pub(super) fn readable<T: DeserializeOwned>(what: &'static str, value: Value) -> Option<T> {
    let read = serde_json::from_value(value);
    read.inspect_err(|error| tracing::warn!(code = "session::repaired", what, %error, "a record is unreadable")).ok()
}

/// The loaded set of a record; nothing is loaded where there is none.
pub(super) fn loaded_of(stored: Option<Value>) -> LoadedSnapshot {
    stored.and_then(|value| readable("loaded set", value)).unwrap_or_default()
}

/// The head of a record. In the place of one that nobody can read stands a new one, of an epoch above any that was
/// counted: what the old one led to stays where it is, like the history of a session that was reset.
pub(super) fn head_of(session: &SessionKey, stored: Value, now: DateTime<Utc>) -> Head {
    let anew = || Head { epoch: now.timestamp().unsigned_abs(), ..Head::new(session.clone(), now) };
    readable("head", stored).unwrap_or_else(anew)
}

/// What an entry weighs.
fn entry_bytes(entry: &HistoryEntry) -> usize {
    bytes_of(&entry.message) + bytes_of(&entry.meta) + entry.turn_id.len()
}

fn bytes_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(bytes_of).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + bytes_of(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Commit;
    use crate::store;
    use crate::task::ManualClock;
    use serde_json::json;

    fn world() -> (Sessions, SessionKey, HistoryEntry) {
        let clock = ManualClock::default();
        let sessions = Sessions::new(store::in_memory(clock.shared()), clock.shared());
        let entry = HistoryEntry::new("t", crate::task::Clock::now(&clock), None, json!({"role": "user", "text": "x"}));
        (sessions, SessionKey::from_text("console/main/private/c"), entry)
    }

    #[tokio::test]
    async fn the_newest_are_read_from_the_end_by_count_and_by_bytes() {
        let (sessions, key, entry) = world();
        let mut t = sessions.begin(&key, "t", Value::Null, 1000).await.unwrap();
        let said = |n: usize| HistoryEntry {
            message: json!({"role": if n.is_multiple_of(2) { "user" } else { "assistant" }, "text": format!("{n} {}", "w".repeat(1000))}),
            ..entry.clone()
        };
        let entries: Vec<HistoryEntry> = (0..500).map(said).collect();
        t.append(entries).await.unwrap();
        t.commit(Commit::default()).await.unwrap();
        let head = sessions.head(&key).await.unwrap().unwrap();
        let number = |e: &HistoryEntry| e.message["text"].as_str().unwrap().split(' ').next().unwrap().to_owned();
        for (count, bytes, first) in [(1000, usize::MAX, 0), (500, usize::MAX, 0), (100, usize::MAX, 400)] {
            let newest = sessions.newest(&head, count, bytes).await.unwrap();
            assert_eq!((number(&newest.entries[0]), newest.from > 0), (first.to_string(), first > 0));
            assert_eq!((newest.entries.len(), number(newest.entries.last().unwrap())), (500 - first, "499".into()));
        }
        for (bytes, least) in [(0, 0), (3_000, 1), (50_000, 40), (300_000, 250)] {
            let newest = sessions.newest(&head, 1000, bytes).await.unwrap();
            let sum: usize = newest.entries.iter().map(entry_bytes).sum();
            assert!(sum <= bytes && newest.entries.len() >= least, "{bytes}: {sum} in {}", newest.entries.len());
            assert!(newest.from > 0 && newest.entries.first().is_none_or(|e| e.role() == "user"));
            assert!(newest.entries.last().is_none_or(|e| number(e) == "499"));
        }
    }

    #[tokio::test]
    async fn an_unreadable_record_is_left_out_and_the_session_goes_on() {
        let (sessions, key, entry) = world();
        let mut t = sessions.begin(&key, "t", Value::Null, 1000).await.unwrap();
        let call = json!({"role": "assistant", "text": "", "calls": [{"id": "a", "name": "t", "arguments": "{}"}]});
        let result = json!({"role": "tool", "call_id": "a", "tool": "t", "content": [], "is_error": false});
        let said = [json!({"role": "user", "text": "one"}), call, result, json!({"role": "user", "text": "two"})];
        let last = t.append(said.map(|m| HistoryEntry { message: m, ..entry.clone() }).into()).await.unwrap();
        t.commit(Commit::default()).await.unwrap();
        let damaged = entry_key(&key, 0, last - 2 * STRIDE);
        let ops = vec![
            crate::store::Op::put(Tree::History, damaged, json!({"n": "two", "message": 7})),
            crate::store::Op::put(Tree::Loaded, Key::new().str(key.as_str()), json!([1, 2])),
        ];
        sessions.store.batch(ops).await.unwrap();
        let mut again = sessions.begin(&key, "t2", Value::Null, 1000).await.unwrap();
        let texts: Vec<&str> = again.history().iter().filter_map(|e| e.message["text"].as_str()).collect();
        assert_eq!((texts, again.repaired().orphans), (vec!["one", "two"], 1), "the result lost its call");
        assert_eq!(again.loaded(), &LoadedSnapshot::default());
        again.append(vec![HistoryEntry { message: json!({"role": "user", "text": "three"}), ..entry }]).await.unwrap();
        again.commit(Commit { loaded: Some(LoadedSnapshot::default()), ..Commit::default() }).await.unwrap();
        assert_eq!(sessions.history(&key).await.unwrap().len(), 3);
        assert_eq!(sessions.page(&key, 0, 0, 2).await.unwrap().len(), 2, "a page is filled with what can be read");
    }

    #[tokio::test]
    async fn an_unreadable_head_begins_the_session_anew_and_troubles_no_other() {
        let (sessions, key, entry) = world();
        let other = SessionKey::from_text("console/main/private/other");
        for key in [&key, &other] {
            let mut t = sessions.begin(key, "t", Value::Null, 1000).await.unwrap();
            t.append(vec![entry.clone()]).await.unwrap();
        }
        let damaged = crate::store::Op::put(Tree::Sessions, Key::new().str(key.as_str()), json!({"epoch": "one"}));
        sessions.store.batch(vec![damaged.clone()]).await.unwrap();
        let names = |heads: Vec<Head>| heads.into_iter().map(|h| h.session).collect::<Vec<_>>();
        assert_eq!(names(sessions.interrupted().await.unwrap()), std::slice::from_ref(&other));
        assert_eq!(names(sessions.list(None, 9).await.unwrap()), [other]);
        let mut t = sessions.begin(&key, "t2", Value::Null, 1000).await.unwrap();
        assert!(t.history().is_empty() && t.head().epoch > 0);
        t.append(vec![entry.clone()]).await.unwrap();
        t.commit(Commit::default()).await.unwrap();
        assert_eq!(sessions.history(&key).await.unwrap().len(), 1);
        assert_eq!(sessions.entry(&key, 0, STRIDE).await.unwrap().map(|e| e.n), Some(STRIDE), "the archive stays");
        sessions.store.batch(vec![damaged]).await.unwrap();
        assert!(sessions.reset(&key).await.unwrap(), "/new helps too");
    }
}
