//! What a restart does: everything that waited is lost, nothing of it runs.

use super::actions::{Act, Action, KEPT};
use super::record::{OpenQuestion, QuestionState};
use super::{Questions, written};
use crate::config::Texts;
use crate::journal::Event;
use crate::store::{Key, Op, StoreError, Tree};
use plugin_sdk::ports::{Card, CardEnd, CardSink};
use plugin_sdk::{Button, ButtonStyle, ConversationRef};
use serde_json::json;

impl Questions {
    /// Marks everything that was open when the process ended as lost and gives it. Asked once, at the start.
    pub async fn take_lost(&self) -> Result<Vec<OpenQuestion>, StoreError> {
        let mut lost = Vec::new();
        for (key, value) in self.0.store.scan_prefix(Tree::Questions, &Key::new(), None, usize::MAX).await? {
            let Ok(mut question) = serde_json::from_value::<OpenQuestion>(value) else {
                self.0.store.batch(vec![Op::delete(Tree::Questions, key)]).await?;
                continue;
            };
            if question.state != QuestionState::Pending {
                continue;
            }
            question.state = QuestionState::Lost;
            self.0.store.batch(vec![Op::put_for(Tree::Questions, key, written(&question), KEPT)]).await?;
            self.note_lost(&question).await;
            lost.push(question);
        }
        self.0.store.barrier().await?;
        lost.sort_by_key(|q| q.asked_at);
        Ok(lost)
    }

    async fn note_lost(&self, question: &OpenQuestion) {
        let call = question.call.as_ref().map(|c| &c.identity);
        let data = json!({
            "record_id": question.id, "wanted": question.wanted, "effect": "lost",
            "conversation": question.conversation.to_string(),
            "call_id": call.map(|c| &c.call_id), "tool": call.map(|c| &c.tool), "owner": call.map(|c| &c.owner),
            "args_hash": call.map(|c| &c.args_hash),
        });
        let event = Event::new("question.lost", data).of_turn(0, &question.turn_id, &question.principal);
        if let Err(e) = self.0.journal.append(event).await {
            tracing::warn!(error = %e, "a lost question is not journaled");
        }
    }

    /// Lost questions whose cards still look as if they waited.
    pub async fn lost(&self) -> Result<Vec<OpenQuestion>, StoreError> {
        let found = self.0.store.scan_prefix(Tree::Questions, &Key::new(), None, usize::MAX).await?;
        let questions = found.into_iter().filter_map(|(_, v)| serde_json::from_value::<OpenQuestion>(v).ok());
        Ok(questions.filter(|q| q.state == QuestionState::Lost && q.result.is_none()).collect())
    }

    /// Edits the copies of a lost question that can be `reached`; the one where it was asked gets **Ask again**.
    /// Copies elsewhere wait until theirs can be.
    pub async fn show_lost(
        &self,
        question: &OpenQuestion,
        reached: impl Fn(&ConversationRef) -> bool + Send,
        sink: &dyn CardSink,
        texts: &Texts,
    ) -> Result<(), StoreError> {
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            question.cards.iter().cloned().partition(|copy| reached(&copy.conversation));
        if here.is_empty() && !elsewhere.is_empty() {
            return Ok(());
        }
        let text = texts.get("question-lost", &[]);
        let again = Action {
            action: Act::Again,
            session: question.session.clone(),
            record: question.turn_id.clone(),
            conversation: question.conversation.clone(),
            expires_at: self.0.clock.now() + KEPT,
        };
        let id = self.new_actions(vec![again], KEPT).await?.pop().unwrap_or_default();
        let button = Button { id, label: texts.get("question-ask-again", &[]), style: ButtonStyle::Primary, url: None };
        let mut offered = false;
        for copy in &here {
            let asked_here = copy.conversation == question.conversation && !offered;
            offered |= asked_here;
            let card = Card {
                text: question.text.clone(),
                buttons: if asked_here { vec![button.clone()] } else { Vec::new() },
                typed: None,
                attachment: None,
                reply_to: None,
                end: Some(CardEnd { text: text.clone(), tell: false }),
            };
            sink.edit(copy, &card).await;
        }
        let mut told = question.clone();
        told.result = elsewhere.is_empty().then_some(text);
        told.cards = elsewhere;
        self.0.store.batch(vec![Op::put_for(Tree::Questions, question.key(), written(&told), KEPT)]).await
    }
}
