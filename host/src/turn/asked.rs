//! The turn's question port: shows the question and keeps it for the report. The executor stops the clocks.

use super::events::{TurnEvent, TurnEvents};
use super::outcome::QuestionReport;
use crate::exec::{ApprovalAnswer, ApprovalPort, ApprovalRequest};
use async_trait::async_trait;
use plugin_sdk::ToolError;
use plugin_sdk::ports::{Answer, Ask, Question, QuestionKind};
use std::sync::{Arc, Mutex, PoisonError};

/// Questions of a turn so far.
#[derive(Clone, Default)]
pub(super) struct QuestionLog(Arc<Mutex<Vec<QuestionReport>>>);

impl QuestionLog {
    /// Adds one.
    pub(super) fn push(&self, report: QuestionReport) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(report);
    }

    /// All of them, in order of their answers.
    pub(super) fn taken(&self) -> Vec<QuestionReport> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn next_id(&self) -> String {
        format!("q{}", self.0.lock().unwrap_or_else(PoisonError::into_inner).len() + 1)
    }
}

/// Wraps the session's port for one turn.
pub(super) struct TurnAsk {
    /// The session's port.
    pub(super) port: Arc<dyn Ask>,
    /// Where the turn shows itself.
    pub(super) events: Arc<dyn TurnEvents>,
    /// For the report.
    pub(super) log: QuestionLog,
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

    fn for_owner(&self, owner: &str) -> Option<Arc<dyn Ask>> {
        let port = self.port.for_owner(owner)?;
        Some(Arc::new(Self { port, events: self.events.clone(), log: self.log.clone() }))
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

/// Wraps the approval port for one turn.
pub(super) struct TurnApproval {
    pub(super) port: Arc<dyn ApprovalPort>,
    pub(super) events: Arc<dyn TurnEvents>,
    pub(super) log: QuestionLog,
}

#[async_trait]
impl ApprovalPort for TurnApproval {
    async fn ask(&self, request: ApprovalRequest) -> ApprovalAnswer {
        let text = format!("{} {{{}}}", request.call.tool, request.shown.join(", "));
        let answer = self.port.ask(request).await;
        let said = match &answer {
            ApprovalAnswer::Allowed(_) | ApprovalAnswer::AllowedSession(_) => Some("yes".to_string()),
            ApprovalAnswer::Rejected(_) => Some("no".to_string()),
            _ => None,
        };
        self.events.show(TurnEvent::Answered);
        self.log.push(QuestionReport { id: self.log.next_id(), kind: "approval".into(), text, answer: said });
        answer
    }
    async fn grant_dropped(&self, tool: &str) {
        self.port.grant_dropped(tool).await;
    }
}
