//! Cards of questions: shown, shown again, closed.

use super::actions::{Act, Action, KEPT};
use super::record::{CallRecord, Decision, OpenQuestion, QuestionState, Wanted};
use super::{AskedIn, QuestionEnd, Questions};
use crate::config::Texts;
use crate::store::{Tree, update};
use chrono::DateTime;
use plugin_sdk::ports::{Card, CardCopy, CardEnd, CardFile};
use plugin_sdk::{Button, ButtonStyle, ConversationRef};
use std::time::Duration;

/// What is to be asked.
#[derive(Debug, Clone)]
pub struct Asking {
    /// Id of the record.
    pub id: String,
    /// Kind of answer.
    pub wanted: Wanted,
    /// The text, Markdown.
    pub text: String,
    /// Labels for `pick`.
    pub options: Vec<String>,
    /// Owner or server that asks; `None` = the model or the host.
    pub asker: Option<String>,
    /// Which call may run, for an approval.
    pub call: Option<CallRecord>,
    /// Arguments too long for the text.
    pub attachment: Option<CardFile>,
    /// Further conversations that get the card.
    pub notify: Vec<ConversationRef>,
    /// How long it stays open.
    pub timeout: Duration,
}

impl Asking {
    pub(super) fn question(&self, asked_in: &AskedIn) -> OpenQuestion {
        OpenQuestion {
            id: self.id.clone(),
            session: asked_in.session.clone(),
            turn_id: asked_in.turn_id.clone(),
            principal: asked_in.principal.clone(),
            conversation: asked_in.conversation.clone(),
            wanted: self.wanted,
            text: self.text.clone(),
            options: self.options.clone(),
            asker: self.asker.clone(),
            asked_at: DateTime::UNIX_EPOCH,
            expires_at: DateTime::UNIX_EPOCH,
            state: QuestionState::Pending,
            answered_by: None,
            result: None,
            cards: Vec::new(),
            call: self.call.clone(),
        }
    }
}

impl Questions {
    /// Shows it where it is asked, and to everybody who is notified. It is shown when one copy is; since when.
    pub(super) async fn show(
        &self,
        asked_in: &AskedIn,
        asking: &Asking,
        question: &mut OpenQuestion,
    ) -> Result<Duration, String> {
        let mut failed = String::new();
        let mut shown = None;
        for (n, place) in std::iter::once(&asked_in.conversation).chain(&asking.notify).enumerate() {
            let reply_to = asked_in.message_id.clone().filter(|_| n == 0);
            let text = question.text.clone();
            match self.show_in(asked_in, (asking, &*question), place, (text, reply_to)).await {
                Ok(copy) => {
                    shown.get_or_insert(self.0.clock.monotonic());
                    self.note_copy(question, copy).await;
                }
                Err(why) => {
                    tracing::warn!(why, place = %place, "a card was not shown");
                    failed = why;
                }
            }
        }
        shown.ok_or(failed)
    }

    /// The last text was no valid answer.
    pub(super) async fn show_invalid(&self, asked_in: &AskedIn, asking: &Asking, question: &mut OpenQuestion) {
        let texts = &asked_in.showing.texts;
        let text = match question.wanted {
            // What may be typed, or the buttons, stand below it again.
            Wanted::Approval | Wanted::Confirm => texts.get("question-unfit", &[]),
            _ => texts.get("question-invalid", &[("reason", &question.text)]),
        };
        match self.show_in(asked_in, (asking, &*question), &asked_in.conversation, (text, None)).await {
            Ok(copy) => self.note_copy(question, copy).await,
            Err(why) => tracing::debug!(why, "a question was not asked again"),
        }
    }

    async fn show_in(
        &self,
        asked_in: &AskedIn,
        (asking, question): (&Asking, &OpenQuestion),
        place: &ConversationRef,
        (text, reply_to): (String, Option<String>),
    ) -> Result<CardCopy, String> {
        let texts = &asked_in.showing.texts;
        let wanted = buttons(texts, question);
        let actions = wanted.iter().map(|(act, ..)| Action {
            action: act.clone(),
            session: question.session.clone(),
            record: question.id.clone(),
            conversation: place.clone(),
            expires_at: question.expires_at + KEPT,
        });
        let time = asking.timeout.saturating_add(KEPT);
        let ids = self.new_actions(actions.collect(), time).await.map_err(|e| e.to_string())?;
        let button = |((_, label, style), id)| Button { id, label, style, url: None };
        let card = Card {
            text,
            buttons: wanted.into_iter().zip(ids).map(button).collect(),
            typed: match question.wanted {
                Wanted::Approval => Some(typed_approval(texts, question)),
                Wanted::Confirm => Some(texts.get("approval-prompt", &[])),
                _ => None,
            },
            attachment: asking.attachment.clone(),
            reply_to,
            end: None,
        };
        asked_in.showing.sink.show(place, &card).await
    }

    /// A reply to this copy is one to the question.
    async fn note_copy(&self, question: &mut OpenQuestion, copy: CardCopy) {
        question.cards.push(copy);
        if let Some(slot) = self.state().slots.get_mut(&question.session)
            && let Some(open) = slot.open.as_mut().filter(|open| open.question.id == question.id)
        {
            open.question.cards.clone_from(&question.cards);
        }
        self.0.changed.notify_waiters();
        let cards = question.cards.clone();
        let key = question.key();
        let noted = update(&*self.0.store, Tree::Questions, &key, |old| {
            let mut record: OpenQuestion = serde_json::from_value(old?).ok()?;
            record.cards.clone_from(&cards);
            Some(super::written(&record))
        });
        // Without it the card cannot be closed after a restart; what is decided does not depend on it.
        if let Err(e) = noted.await {
            tracing::warn!(code = e.code(), "where a card stands is not stored: {e}");
        }
    }

    /// All copies lose their buttons and say how it ended.
    pub(super) async fn close(&self, asked_in: &AskedIn, asking: &Asking, question: &OpenQuestion, end: &QuestionEnd) {
        let texts = &asked_in.showing.texts;
        let kept = match self.question(&question.session, &question.id).await {
            Ok(record) => record.and_then(|r| r.result),
            Err(_) => None,
        };
        let text = kept.unwrap_or_else(|| sentence(texts, question, end));
        let mut told = false;
        for copy in &question.cards {
            // Where a card cannot be changed only an end that nobody there brought about is worth a message.
            let tell = *end == QuestionEnd::Expired && copy.conversation == asked_in.conversation && !told;
            told |= tell;
            let card = Card {
                text: question.text.clone(),
                buttons: Vec::new(),
                typed: None,
                attachment: asking.attachment.clone(),
                reply_to: None,
                end: Some(CardEnd { text: text.clone(), tell }),
            };
            asked_in.showing.sink.edit(copy, &card).await;
        }
    }
}

/// What a person may press, with its label.
fn buttons(texts: &Texts, question: &OpenQuestion) -> Vec<(Act, String, ButtonStyle)> {
    let answer = |value: &str, index| Act::Answer { value: value.to_string(), index };
    match question.wanted {
        Wanted::Approval => {
            let session = question.call.as_ref().is_some_and(|c| c.rememberable);
            let mut all = vec![
                (Act::Once, texts.get("approval-button-once", &[]), ButtonStyle::Primary),
                (Act::Deny, texts.get("approval-button-deny", &[]), ButtonStyle::Danger),
            ];
            if session {
                all.push((Act::Session, texts.get("approval-button-session", &[]), ButtonStyle::Plain));
            }
            all
        }
        Wanted::Confirm => vec![
            (answer("yes", None), texts.get("question-button-yes", &[]), ButtonStyle::Plain),
            (answer("no", None), texts.get("question-button-no", &[]), ButtonStyle::Plain),
        ],
        Wanted::Pick => {
            let label = |text: &str| text.chars().take(64).collect::<String>();
            let options = question.options.iter().enumerate();
            options.map(|(n, o)| (answer(o, Some(n)), label(o), ButtonStyle::Plain)).collect()
        }
        Wanted::Text | Wanted::Number => Vec::new(),
    }
}

fn typed_approval(texts: &Texts, question: &OpenQuestion) -> String {
    let session = question.call.as_ref().is_some_and(|c| c.rememberable);
    texts.get(if session { "approval-prompt-session" } else { "approval-typed" }, &[])
}

/// What people read about a decision; `name` is who made it.
pub fn outcome_text(texts: &Texts, question: &OpenQuestion, decision: &Decision, name: &str) -> String {
    sentence(texts, question, &QuestionEnd::of(decision.clone(), name.to_string()))
}

/// How it ended, in words.
fn sentence(texts: &Texts, question: &OpenQuestion, end: &QuestionEnd) -> String {
    let approval = question.wanted == Wanted::Approval;
    let key = match end {
        QuestionEnd::Answered { answer, .. } if approval && answer == "no" => "approval-declined",
        QuestionEnd::Answered { answer, .. } if approval && answer == "session" => "approval-approved-session",
        QuestionEnd::Answered { .. } if approval => "approval-approved",
        QuestionEnd::Answered { .. } => "question-answered",
        QuestionEnd::Expired if approval => "approval-expired",
        QuestionEnd::Expired => "question-expired",
        _ if approval => "approval-withdrawn",
        _ => "question-withdrawn",
    };
    let by = match end {
        QuestionEnd::Answered { by, .. } => by.as_str(),
        _ => "",
    };
    texts.get(key, &[("name", by)])
}
