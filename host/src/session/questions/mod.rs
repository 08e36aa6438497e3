//! Questions to a person: one open per session, answered by a message of that person.

mod open;
mod port;
#[cfg(test)]
mod tests;
mod words;

pub use open::{OpenQuestion, QuestionEnd, QuestionSink, Wanted};
pub use port::QuestionPort;

use super::{Place, SessionKey};
use crate::journal::{Event, Journal};
use crate::store::{Key, Op, SharedStore, StoreError, Tree};
use crate::task::SharedClock;
use open::{Open, Reply};
use plugin_sdk::CancellationSignal;
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};

/// Questions that wait behind the open one of a session.
const WAITING: usize = 8;
/// Open questions of one person over all sessions.
const PER_PRINCIPAL: usize = 3;

/// The turn a question is asked in.
#[derive(Clone)]
pub struct AskedIn {
    /// Session.
    pub session: SessionKey,
    /// Turn.
    pub turn_id: String,
    /// Its generation.
    pub generation: u64,
    /// Who may answer, text form.
    pub principal: String,
    /// Ends the question with the turn.
    pub cancellation: CancellationSignal,
    /// Given back while the person thinks.
    pub place: Option<Arc<Place>>,
}

/// What became of a text that may be an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Captured {
    /// No question of this person is open here, or the text is none of its words: an ordinary message.
    No,
    /// It answered or ended the question.
    Answered,
    /// It is no valid answer; the person is asked again.
    Invalid,
}

impl Captured {
    /// Whether the text must start no turn.
    pub fn is_captured(self) -> bool {
        self != Captured::No
    }
}

/// All pending questions. Clones share them.
#[derive(Clone)]
pub struct Questions(Arc<Inner>);

struct Inner {
    store: SharedStore,
    clock: SharedClock,
    journal: Journal,
    state: Mutex<State>,
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
        Self(Arc::new(Inner { store, clock, journal, state: Mutex::default() }))
    }

    /// Offers a text of `principal` to the question that is open in `session`. The first valid answer counts;
    /// control commands and edited or forwarded messages must not be offered. `only_answers`: this person can say
    /// nothing else while a question is open, as in a console, so a text that is no answer is asked for again.
    pub fn answer(&self, session: &SessionKey, principal: &str, text: &str, only_answers: bool) -> Captured {
        let mut state = self.state();
        let Some(slot) = state.slots.get_mut(session) else { return Captured::No };
        let Some(open) = slot.open.as_mut().filter(|open| open.question.principal == principal) else {
            return Captured::No;
        };
        match open.question.judge(text) {
            None if open.question.wanted == Wanted::Approval && !only_answers => Captured::No,
            // Whoever asked has gone when nobody receives: then the text is a message like any other.
            None => open.send(Reply::Invalid).map_or(Captured::No, |()| Captured::Invalid),
            Some(reply) => {
                let sent = open.send(reply);
                slot.open = None;
                sent.map_or(Captured::No, |()| Captured::Answered)
            }
        }
    }

    /// Shows the question that is open in a session once more: what was said meanwhile hides it.
    pub fn show_again(&self, session: &SessionKey, principal: &str) {
        let state = self.state();
        let open = state.slots.get(session).and_then(|slot| slot.open.as_ref());
        if let Some(open) = open.filter(|open| open.question.principal == principal) {
            // Whoever asked has gone when nobody receives: then there is nothing to show.
            open.send(Reply::Again).unwrap_or_default();
        }
    }

    /// The question that is open in a session.
    pub fn open_in(&self, session: &SessionKey) -> Option<OpenQuestion> {
        Some(self.state().slots.get(session)?.open.as_ref()?.question.clone())
    }

    /// Questions that were open when the process ended; they are taken off the store. Asked once, at the start.
    pub async fn take_lost(&self) -> Result<Vec<OpenQuestion>, StoreError> {
        let found = self.0.store.scan_prefix(Tree::Questions, &Key::new(), None, usize::MAX).await?;
        let ops = found.iter().map(|(key, _)| Op::delete(Tree::Questions, key.clone())).collect();
        self.0.store.batch(ops).await?;
        Ok(found.into_iter().filter_map(|(_, value)| serde_json::from_value(value).ok()).collect())
    }

    /// Asks and waits. The place is given back meanwhile; time runs from when the question is shown.
    pub async fn ask(
        &self,
        asked_in: &AskedIn,
        sink: &dyn QuestionSink,
        question: OpenQuestion,
        timeout: Duration,
    ) -> QuestionEnd {
        let Some(entered) = self.enter(&asked_in.session) else { return QuestionEnd::Busy };
        let paused = asked_in.place.as_ref().map(|place| place.pause());
        let end = tokio::select! {
            biased;
            () = asked_in.cancellation.cancelled() => QuestionEnd::Withdrawn,
            // The gate is never closed.
            _permit = entered.gate.acquire() => match self.count(&asked_in.principal) {
                Some(_counted) => self.ask_now(asked_in, sink, question, timeout).await,
                None => QuestionEnd::Busy,
            },
        };
        drop(entered);
        if let Some(paused) = paused {
            paused.resume().await;
        }
        end
    }

    async fn ask_now(
        &self,
        asked_in: &AskedIn,
        sink: &dyn QuestionSink,
        mut question: OpenQuestion,
        timeout: Duration,
    ) -> QuestionEnd {
        question.asked_at = self.0.clock.now();
        question.expires_at = question.asked_at + timeout;
        let key = Key::new().str(question.session.as_str()).str(&question.id);
        if let Err(e) = self.remember(&key, &question).await {
            return QuestionEnd::Unavailable(e.to_string());
        }
        let (reply, replies) = mpsc::unbounded_channel();
        let open = Open { question: question.clone(), reply };
        if let Some(slot) = self.state().slots.get_mut(&asked_in.session) {
            slot.open = Some(open);
        }
        let shown = Shown { questions: self, session: &asked_in.session };
        self.note("question.asked", asked_in, &question, "").await;
        let end = match sink.show(&question).await {
            Ok(()) => self.wait(asked_in, sink, &question, replies, timeout).await,
            Err(why) => QuestionEnd::Unavailable(why),
        };
        drop(shown);
        sink.closed(&question, &end).await;
        self.note(end.event(), asked_in, &question, end.answer()).await;
        if let Err(e) = self.0.store.batch(vec![Op::delete(Tree::Questions, key)]).await {
            tracing::warn!(code = e.code(), "an answered question stays stored: {e}");
        }
        end
    }

    async fn wait(
        &self,
        asked_in: &AskedIn,
        sink: &dyn QuestionSink,
        question: &OpenQuestion,
        mut replies: mpsc::UnboundedReceiver<Reply>,
        timeout: Duration,
    ) -> QuestionEnd {
        let deadline = self.0.clock.sleep(timeout);
        tokio::pin!(deadline);
        loop {
            tokio::select! {
                biased;
                () = asked_in.cancellation.cancelled() => return QuestionEnd::Withdrawn,
                reply = replies.recv() => match reply {
                    Some(Reply::Value(answer, index)) => {
                        return QuestionEnd::Answered { answer, index, by: question.principal.clone() };
                    }
                    Some(Reply::Cancel) => return QuestionEnd::Cancelled,
                    Some(Reply::Invalid) => sink.invalid(question).await,
                    Some(Reply::Again) => if let Err(why) = sink.show(question).await {
                        return QuestionEnd::Unavailable(why);
                    },
                    None => return QuestionEnd::Withdrawn,
                },
                () = &mut deadline => return QuestionEnd::Expired,
            }
        }
    }

    /// Stored and durable before it is shown: a crash must not leave a card nobody knows of.
    async fn remember(&self, key: &Key, question: &OpenQuestion) -> Result<(), StoreError> {
        let value = serde_json::to_value(question).unwrap_or_default();
        self.0.store.batch(vec![Op::put(Tree::Questions, key.clone(), value)]).await?;
        self.0.store.barrier().await
    }

    async fn note(&self, kind: &'static str, asked_in: &AskedIn, question: &OpenQuestion, answer: &str) {
        let data = json!({"id": question.id, "wanted": question.wanted, "answer": answer});
        let event = Event::new(kind, data).of_turn(asked_in.generation, &asked_in.turn_id, &asked_in.principal);
        if let Err(e) = self.0.journal.append(event).await {
            tracing::warn!("{kind} was not journaled: {e}");
        }
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
    fn count(&self, principal: &str) -> Option<Counted> {
        let mut state = self.state();
        let open = state.open_of.entry(principal.to_owned()).or_default();
        if *open >= PER_PRINCIPAL {
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
