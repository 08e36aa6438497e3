//! Questions and approvals: recorded before they are shown, one open per session, ended by one compare-and-swap.

mod actions;
mod card;
mod hear;
mod lost;
mod open;
mod port;
mod record;
#[cfg(test)]
mod tests;
mod words;

pub use actions::{Act, Action};
pub use card::{Asking, outcome_text};
pub use hear::{Heard, Meant};
pub use open::QuestionEnd;
pub use port::QuestionPort;
pub use record::{
    CallIdentity, CallRecord, Decision, FileDigest, Gravity, OpenQuestion, QuestionState, Reason, Wanted,
};

use super::{Place, SessionKey};
use crate::config::Texts;
use crate::journal::{Event, Journal};
use crate::store::{Op, SharedStore, StoreError, Tree};
use crate::task::SharedClock;
use actions::KEPT;
use open::{Open, Reply};
use plugin_sdk::ports::CardSink;
use plugin_sdk::{CancellationSignal, ConversationRef};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, Semaphore, mpsc};

/// Questions that wait behind the open one of a session.
const WAITING: usize = 8;

/// Told for how long a question stays open, and when it is over.
pub type Waits = Arc<dyn Fn(Option<Duration>) + Send + Sync>;

/// How a turn's questions are shown.
#[derive(Clone)]
pub struct Showing {
    /// Shows cards.
    pub sink: Arc<dyn CardSink>,
    /// Its texts.
    pub texts: Arc<Texts>,
    /// Whose deadline waits for the answer.
    pub waits: Waits,
}

/// The turn a question is asked in.
#[derive(Clone)]
pub struct AskedIn {
    /// Session.
    pub session: SessionKey,
    /// Turn.
    pub turn_id: String,
    /// Its generation.
    pub generation: u64,
    /// Whose turn it is, text form.
    pub principal: String,
    /// Where it is asked.
    pub conversation: ConversationRef,
    /// The message that is answered.
    pub message_id: Option<String>,
    /// Ends the question with the turn.
    pub cancellation: CancellationSignal,
    /// Given back while the person thinks.
    pub place: Option<Arc<Place>>,
    /// How it is shown.
    pub showing: Showing,
    /// Open questions of this person, over all sessions.
    pub limit: usize,
}

/// What became of a decision.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// It ended the question.
    Now(OpenQuestion),
    /// The question had ended before.
    Before(OpenQuestion),
    /// There is no such question any more.
    Gone,
}

/// All pending questions. Clones share them.
#[derive(Clone)]
pub struct Questions(Arc<Inner>);

struct Inner {
    store: SharedStore,
    clock: SharedClock,
    journal: Journal,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    slots: HashMap<SessionKey, Slot>,
    open_of: HashMap<String, usize>,
}

/// The one question of a session, and the fair queue to it.
struct Slot {
    open: Option<Open>,
    gate: Arc<Semaphore>,
    users: usize,
}

impl Default for Slot {
    fn default() -> Self {
        Self { open: None, gate: Arc::new(Semaphore::new(1)), users: 0 }
    }
}

impl Questions {
    /// No question is open.
    pub fn new(store: SharedStore, clock: SharedClock, journal: Journal) -> Self {
        Self(Arc::new(Inner { store, clock, journal, state: Mutex::default(), changed: Notify::new() }))
    }

    /// The question that is open in a session.
    pub fn open_in(&self, session: &SessionKey) -> Option<OpenQuestion> {
        Some(self.state().slots.get(session)?.open.as_ref()?.question.clone())
    }

    /// Ends when a question was shown or ended after this was called.
    pub fn changed(&self) -> Notified<'_> {
        self.0.changed.notified()
    }

    /// All open questions, the oldest first.
    pub fn open(&self) -> Vec<OpenQuestion> {
        let state = self.state();
        let mut open: Vec<OpenQuestion> =
            state.slots.values().filter_map(|slot| slot.open.as_ref()).map(|open| open.question.clone()).collect();
        open.sort_by(|a, b| a.asked_at.cmp(&b.asked_at).then_with(|| a.id.cmp(&b.id)));
        open
    }

    /// Ends a question, if it still waits: of all that try, one does. `result` is the sentence about it.
    pub async fn settle(
        &self,
        question: &OpenQuestion,
        decision: Decision,
        by: Option<&str>,
        result: Option<String>,
    ) -> Result<Settled, StoreError> {
        let key = question.key();
        loop {
            let Some(old) = self.0.store.get(Tree::Questions, &key).await? else { return Ok(Settled::Gone) };
            let Ok(mut record) = serde_json::from_value::<OpenQuestion>(old.clone()) else { return Ok(Settled::Gone) };
            if record.state != QuestionState::Pending {
                return Ok(Settled::Before(record));
            }
            record.state = decision.state;
            record.answered_by = by.map(str::to_string);
            record.result.clone_from(&result);
            let put = Op::put_for(Tree::Questions, key.clone(), written(&record), KEPT);
            match self.0.store.batch(vec![Op::check(Tree::Questions, key.clone(), Some(old)), put]).await {
                Ok(()) => {
                    self.tell(&record, Reply::Decided(decision, by.unwrap_or_default().to_string()));
                    return Ok(Settled::Now(record));
                }
                Err(StoreError::Conflict { .. }) => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Asks and waits. The place is given back meanwhile; time runs from when the question is shown.
    pub async fn ask(&self, asked_in: &AskedIn, asking: Asking) -> QuestionEnd {
        let Some(entered) = self.enter(&asked_in.session) else { return QuestionEnd::Busy };
        let paused = asked_in.place.as_ref().map(|place| place.pause());
        let end = tokio::select! {
            biased;
            () = asked_in.cancellation.cancelled() => QuestionEnd::Withdrawn,
            // The gate is never closed.
            _permit = entered.gate.acquire() => match self.count(&asked_in.principal, asked_in.limit) {
                Some(_counted) => self.ask_now(asked_in, asking).await,
                None => QuestionEnd::Busy,
            },
        };
        drop(entered);
        if let Some(paused) = paused {
            paused.resume().await;
        }
        end
    }

    /// Record, journal, card, answer: in this order.
    async fn ask_now(&self, asked_in: &AskedIn, asking: Asking) -> QuestionEnd {
        let mut question = asking.question(asked_in);
        question.asked_at = self.0.clock.now();
        question.expires_at = question.asked_at + asking.timeout;
        if let Err(e) = self.remember(&question).await {
            return QuestionEnd::Unrecorded(e.to_string());
        }
        // The executor records approvals, with all it knows of the call.
        if question.wanted != Wanted::Approval
            && let Err(e) = self.note("question.asked", asked_in, &question, "").await
        {
            self.end(&question, QuestionState::Withdrawn).await;
            return QuestionEnd::Unrecorded(e.to_string());
        }
        let (reply, replies) = mpsc::unbounded_channel();
        let open = Open { question: question.clone(), reply };
        if let Some(slot) = self.state().slots.get_mut(&asked_in.session) {
            slot.open = Some(open);
        }
        let shown = Shown { questions: self, session: &asked_in.session };
        (asked_in.showing.waits)(Some(asking.timeout));
        let end = match self.show(asked_in, &asking, &mut question).await {
            Ok(since) => self.wait(asked_in, (&asking, since), &mut question, replies).await,
            Err(why) => {
                self.end(&question, QuestionState::Withdrawn).await;
                QuestionEnd::Unavailable(why)
            }
        };
        drop(shown);
        self.0.changed.notify_waiters();
        (asked_in.showing.waits)(None);
        self.close(asked_in, &asking, &question, &end).await;
        if question.wanted != Wanted::Approval
            && let Err(e) = self.note(end.event(), asked_in, &question, end.answer()).await
        {
            return QuestionEnd::Unrecorded(e.to_string());
        }
        end
    }

    async fn wait(
        &self,
        asked_in: &AskedIn,
        (asking, since): (&Asking, Duration),
        question: &mut OpenQuestion,
        mut replies: mpsc::UnboundedReceiver<Reply>,
    ) -> QuestionEnd {
        let ends_at = since.saturating_add(asking.timeout);
        let deadline = self.0.clock.sleep(ends_at.saturating_sub(self.0.clock.monotonic()));
        tokio::pin!(deadline);
        loop {
            let ends = tokio::select! {
                biased;
                () = asked_in.cancellation.cancelled() => QuestionState::Withdrawn,
                reply = replies.recv() => match reply {
                    Some(Reply::Decided(decision, by)) => return QuestionEnd::of(decision, by),
                    Some(Reply::Invalid) => {
                        self.show_invalid(asked_in, asking, question).await;
                        continue;
                    }
                    Some(Reply::Again) => {
                        if let Err(why) = self.show(asked_in, asking, question).await {
                            tracing::debug!(why, "a question was not shown again");
                        }
                        continue;
                    }
                    None => QuestionState::Withdrawn,
                },
                () = &mut deadline => QuestionState::Expired,
            };
            match self.end(question, ends).await {
                // Somebody was faster; what was decided is on its way, unless whoever decided broke off.
                Some(before) if ends == QuestionState::Expired => {
                    while let Some(reply) = replies.recv().await {
                        if let Reply::Decided(decision, by) = reply {
                            return QuestionEnd::of(decision, by);
                        }
                    }
                    return before;
                }
                _ => return QuestionEnd::of(Decision::silent(ends), String::new()),
            }
        }
    }

    /// Ends a question without an answer; how it had ended before, if it had.
    async fn end(&self, question: &OpenQuestion, state: QuestionState) -> Option<QuestionEnd> {
        match self.settle(question, Decision::silent(state), None, None).await {
            Ok(Settled::Before(record)) => {
                let by = record.answered_by.clone().unwrap_or_default();
                Some(QuestionEnd::of(Decision::silent(record.state), by))
            }
            Ok(_) => None,
            Err(e) => {
                tracing::warn!(code = e.code(), "the end of a question is not stored: {e}");
                None
            }
        }
    }

    /// Stored and durable before it is shown: a crash must not leave a card nobody knows of.
    async fn remember(&self, question: &OpenQuestion) -> Result<(), StoreError> {
        self.0.store.batch(vec![Op::put(Tree::Questions, question.key(), written(question))]).await?;
        self.0.store.barrier().await
    }

    async fn note(
        &self,
        kind: &'static str,
        asked_in: &AskedIn,
        question: &OpenQuestion,
        answer: &str,
    ) -> Result<(), crate::journal::JournalError> {
        let data = json!({
            "record_id": question.id, "wanted": question.wanted, "answer": answer, "owner": question.asker,
            "conversation": question.conversation.to_string(),
        });
        let event = Event::new(kind, data).of_turn(asked_in.generation, &asked_in.turn_id, &asked_in.principal);
        self.0.journal.append(event).await.map(|_| ())
    }

    /// Joins the queue of the session's slot; `None` when it is full.
    fn enter(&self, session: &SessionKey) -> Option<Entered> {
        let mut state = self.state();
        let slot = state.slots.entry(session.clone()).or_default();
        if slot.users > WAITING {
            return None;
        }
        slot.users += 1;
        let gate = slot.gate.clone();
        drop(state);
        Some(Entered { questions: self.clone(), session: session.clone(), gate })
    }

    /// Counts an open question of a person; `None` when there are enough.
    fn count(&self, principal: &str, limit: usize) -> Option<Counted> {
        let mut state = self.state();
        let open = state.open_of.entry(principal.to_owned()).or_default();
        if *open >= limit {
            return None;
        }
        *open += 1;
        drop(state);
        Some(Counted { questions: self.clone(), principal: principal.to_owned() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question holds nothing that JSON cannot.
fn written(question: &OpenQuestion) -> serde_json::Value {
    serde_json::to_value(question).unwrap_or_default()
}

/// One that asks in a session, or waits to. When the last one goes, so does the slot.
struct Entered {
    questions: Questions,
    session: SessionKey,
    gate: Arc<Semaphore>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut state = self.questions.state();
        if let Some(slot) = state.slots.get_mut(&self.session) {
            slot.users -= 1;
            if slot.users == 0 {
                state.slots.remove(&self.session);
            }
        }
    }
}

/// An open question of a person.
struct Counted {
    questions: Questions,
    principal: String,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut state = self.questions.state();
        if let Some(open) = state.open_of.get_mut(&self.principal) {
            *open -= 1;
            if *open == 0 {
                state.open_of.remove(&self.principal);
            }
        }
    }
}

/// Takes the question off the slot, however asking ends: a late text is an ordinary message.
struct Shown<'a> {
    questions: &'a Questions,
    session: &'a SessionKey,
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.questions.state().slots.get_mut(self.session) {
            slot.open = None;
        }
    }
}
