//! The end of a turn: one outcome, the sentence a person sees, the report.

use super::keep::HISTORY_CUT;
use super::run::{End, Run};
use super::words::has_unusable;
use super::{Budget, CancelledBy, FailCode, TurnOutcome, TurnReport};
use crate::config::Texts;
use plugin_sdk::Segment;
use std::time::Duration;

/// Name of the built-in model.
const OFFLINE: &str = "offline";

/// Outcome and text of an end. `turn_id` stands in the sentence of a failure.
fn judged(end: End, by: CancelledBy, turn_id: &str, texts: &Texts) -> (TurnOutcome, String) {
    match end {
        End::Completed(text) if text.trim().is_empty() => (TurnOutcome::Completed, texts.get("turn-empty", &[])),
        End::Completed(text) => (TurnOutcome::Completed, text),
        End::Failed(code, retryable) => {
            (TurnOutcome::Failed { code, retryable }, texts.get(failed_text(code), &[("turn", turn_id)]))
        }
        End::Cancelled => (TurnOutcome::Cancelled { by }, stopped_text(by, texts)),
        End::Budget(what, so_far) => {
            let sentence = texts.get(budget_text(what), &[]);
            let text = if so_far.trim().is_empty() { sentence } else { format!("{so_far}\n\n{sentence}") };
            (TurnOutcome::BudgetExceeded { what }, text)
        }
    }
}

fn stopped_text(by: CancelledBy, texts: &Texts) -> String {
    match by {
        CancelledBy::Superseded => String::new(),
        CancelledBy::Shutdown => texts.get("turn-shutdown", &[]),
        CancelledBy::LeaseDeadline => texts.get("turn-lease-deadline", &[]),
        CancelledBy::Person => texts.get("turn-stopped", &[]),
    }
}

fn budget_text(what: Budget) -> &'static str {
    match what {
        Budget::Steps => "turn-budget-steps",
        Budget::Time => "turn-budget-time",
        Budget::Tokens => "turn-budget-tokens",
        Budget::Cost => "turn-budget-cost",
    }
}

fn failed_text(code: FailCode) -> &'static str {
    match code {
        FailCode::ModelUnavailable => "turn-failed-model-unavailable",
        FailCode::ModelRejected => "turn-failed-model-rejected",
        FailCode::ModelTruncated => "turn-failed-model-truncated",
        FailCode::ModelRefused => "turn-failed-model-refused",
        FailCode::ContextOverflow => "turn-failed-context-overflow",
        FailCode::PromptOverflow => "turn-failed-prompt-overflow",
        FailCode::LoopGuard => "turn-failed-loop-guard",
        FailCode::Interrupted => "turn-failed-interrupted",
        FailCode::JournalUnavailable => "turn-failed-journal-unavailable",
        FailCode::Internal => "turn-failed-internal",
    }
}

impl Run<'_> {
    /// The sentences that follow the text once: history cut, answer cut, a file nobody can use.
    fn further(&self, outcome: &TurnOutcome) -> Vec<String> {
        let texts = &self.cx.with.texts;
        let told = self.transcript.as_ref().is_some_and(|t| t.head().flags.contains_key(HISTORY_CUT));
        let mut out = Vec::new();
        if self.steps.answer_cut && *outcome == TurnOutcome::Completed {
            out.push(texts.get("turn-answer-cut", &[]));
        }
        let seen = if self.cx.ports.model.sees_images() { self.cx.about.images.len() } else { 0 };
        if has_unusable(&self.cx.about.message, seen) && *outcome == TurnOutcome::Completed {
            out.push(texts.get("media-unusable", &[]));
        }
        if self.view.was_limited() && !told {
            out.push(texts.get("history-cut", &[]));
        }
        if let Some(percent) = self.tally.near {
            out.push(texts.get("budget-near", &[("percent", &percent.to_string())]));
        }
        if self.room.summed_up {
            out.push(texts.get("history-summed-up", &[]));
        }
        out
    }

    /// The report of an ended turn.
    pub(super) fn report(&self, end: End, took: Duration) -> TurnReport {
        let texts = &self.cx.with.texts;
        let (outcome, mut text) = judged(end, self.cx.ports.stop.by(), &self.cx.about.turn_id, texts);
        for sentence in self.further(&outcome) {
            text = if text.is_empty() { sentence } else { format!("{text}\n\n{sentence}") };
        }
        let model = self.tally.model.clone().unwrap_or_else(|| self.cx.ports.model.name().to_string());
        let first = self.first_answer && outcome == TurnOutcome::Completed && model == OFFLINE;
        let segments = if text.is_empty() { Vec::new() } else { vec![Segment::markdown(text.clone())] };
        TurnReport {
            turn_id: self.cx.about.turn_id.clone(),
            session_id: self.cx.about.session.to_string(),
            generation: self.cx.with.generation,
            outcome,
            text,
            footer: first.then(|| texts.get("offline-footer", &[])),
            segments,
            model,
            tool_calls: self.tally.calls.clone(),
            questions: self.tally.questions.taken(),
            usage: self.tally.usage,
            prompt: self.prompt.report.clone(),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        }
    }
}
