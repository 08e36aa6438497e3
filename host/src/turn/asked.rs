//! The turn's question port: shows the question and keeps it for the report. The executor stops the clocks.

use super::events::{TurnEvent, TurnEvents};
use super::outcome::QuestionReport;
use async_trait::async_trait;
use plugin_sdk::ToolError;
use plugin_sdk::ports::{Answer, Ask, Question, QuestionKind};
use std::sync::{Arc, Mutex, PoisonError};

/// Questions of a turn so far.
#[derive(Clone, Default)]
pub struct QuestionLog(Arc<Mutex<Vec<QuestionReport>>>);

impl QuestionLog {
    /// Adds one.
    pub fn push(&self, report: QuestionReport) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(report);
    }

    /// All of them, in order of their answers.
    pub fn taken(&self) -> Vec<QuestionReport> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn next_id(&self) -> String {
        format!("q{}", self.0.lock().unwrap_or_else(PoisonError::into_inner).len() + 1)
    }
}

/// Wraps the session's port for one turn.
pub struct TurnAsk {
    /// The session's port.
    pub port: Arc<dyn Ask>,
    /// Where the turn shows itself.
    pub events: Arc<dyn TurnEvents>,
    /// For the report.
    pub log: QuestionLog,
}

#[async_trait]
impl Ask for TurnAsk {
    async fn ask(&self, question: Question) -> Result<Answer, ToolError> {
        self.events.show(TurnEvent::Asked(question.clone()));
        let kind = kind_name(question.kind);
        let text = question.question.clone();
        let answer = self.port.ask(question).await;
        self.events.show(TurnEvent::Answered);
        let given = answer.as_ref().ok().map(|a| a.answer.clone());
        self.log.push(QuestionReport { id: self.log.next_id(), kind: kind.into(), text, answer: given });
        answer
    }
}

fn kind_name(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Text => "text",
        QuestionKind::Number => "number",
        QuestionKind::Confirm => "confirm",
        QuestionKind::Pick => "pick",
    }
}
