//! Which open question a message is meant for, and what it says to it.

use super::open::Reply;
use super::record::{Decision, OpenQuestion, Wanted};
use super::words::{is_cancel, is_session};
use super::{Questions, SessionKey};
use plugin_sdk::{ConversationRef, Scope};

/// A message that may be an answer. Edited and forwarded ones must not be offered.
#[derive(Debug, Clone, Copy)]
pub struct Heard<'a> {
    /// Session of its sender.
    pub session: &'a SessionKey,
    /// Where it was written.
    pub conversation: &'a ConversationRef,
    /// Who wrote it, text form.
    pub principal: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The message it replies to.
    pub reply_to: Option<&'a str>,
    /// It mentions the bot.
    pub mention: bool,
    /// Its writer can say nothing else while a question is open, as in a terminal: whatever is typed there is
    /// typed below the question.
    pub only_answers: bool,
}

/// What a message comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Meant {
    /// An ordinary message.
    Nothing,
    /// It decides this question, if its writer may.
    Decides(Box<OpenQuestion>, Decision),
    /// It is meant for this question and is none of its answers.
    Unfit(Box<OpenQuestion>),
}

impl Questions {
    /// What a message says to an open question.
    pub fn meant(&self, heard: &Heard<'_>) -> Meant {
        let Some((question, replied)) = self.addressed(heard) else { return Meant::Nothing };
        if question.wanted == Wanted::Approval {
            return approval(heard, question, replied);
        }
        // Other people's messages stay ordinary messages.
        if question.principal != heard.principal {
            return Meant::Nothing;
        }
        let private = question.conversation.scope == Scope::Private;
        let spoken = private || replied || heard.mention || heard.only_answers;
        if !spoken && !is_cancel(heard.text) {
            return Meant::Nothing;
        }
        match question.judge(heard.text) {
            Some(decision) => Meant::Decides(Box::new(question), decision),
            None => Meant::Unfit(Box::new(question)),
        }
    }

    /// The question a message replies to, else the open one of its session; whether it is a reply.
    fn addressed(&self, heard: &Heard<'_>) -> Option<(OpenQuestion, bool)> {
        let state = self.state();
        let open = || state.slots.values().filter_map(|slot| slot.open.as_ref()).map(|open| &open.question);
        if let Some(message) = heard.reply_to {
            let copy = |q: &&OpenQuestion| {
                q.conversation == *heard.conversation
                    && q.cards.iter().any(|c| c.message_id == message && c.conversation == *heard.conversation)
            };
            return open().find(copy).map(|q| (q.clone(), true));
        }
        let here = state.slots.get(heard.session)?.open.as_ref()?;
        Some((here.question.clone(), false))
    }

    /// The last text was no valid answer: its person is asked again. `false` when whoever asked has gone.
    pub fn ask_again(&self, question: &OpenQuestion) -> bool {
        self.tell(question, Reply::Invalid)
    }

    /// Shows the question that is open in a session once more: what was said meanwhile hides it.
    pub fn show_again(&self, session: &SessionKey, principal: &str) {
        if let Some(question) = self.open_in(session).filter(|q| q.principal == principal) {
            self.tell(&question, Reply::Again);
        }
    }

    pub(super) fn tell(&self, question: &OpenQuestion, reply: Reply) -> bool {
        let mut state = self.state();
        let Some(slot) = state.slots.get_mut(&question.session) else { return false };
        let Some(open) = slot.open.as_ref().filter(|open| open.question.id == question.id) else { return false };
        let ends = matches!(reply, Reply::Decided(..));
        let told = open.send(reply).is_some();
        if ends {
            slot.open = None;
        }
        drop(state);
        self.0.changed.notify_waiters();
        told
    }
}

/// In private the bare word counts, in a group only a reply to the card; the requester may also end it there with
/// a bare `cancel`.
fn approval(heard: &Heard<'_>, question: OpenQuestion, replied: bool) -> Meant {
    let private = question.conversation.scope == Scope::Private;
    let ends = is_cancel(heard.text) && question.principal == heard.principal;
    if !private && !replied && !heard.only_answers && !ends {
        return Meant::Nothing;
    }
    let rememberable = question.call.as_ref().is_some_and(|c| c.rememberable);
    if heard.only_answers && rememberable && is_session(heard.text) {
        return Meant::Decides(Box::new(question), Decision::session());
    }
    match question.judge(heard.text) {
        Some(decision) => Meant::Decides(Box::new(question), decision),
        None if heard.only_answers => Meant::Unfit(Box::new(question)),
        None => Meant::Nothing,
    }
}
