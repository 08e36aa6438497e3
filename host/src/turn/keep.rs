//! The turn's records: history entries as they come, one commit at the end, the journal beside them.

use super::TurnReport;
use super::context::TurnContext;
use super::history::Past;
use super::outcome::TurnOutcome;
use super::run::Run;
use super::words::in_words;
use crate::journal::Event;
use crate::model::ModelMessage;
use crate::session::{Commit, Debt, HistoryEntry, Owed, SUMMARY, SessionError, Transcript};
use plugin_sdk::{Message, Principal, Role, Segment};
use serde_json::{Map, Value, json};

/// Newest entries of a long history that a turn reads.
const MAX_ENTRIES: u64 = 2_000;
/// Flag of a session whose person was told that older messages are not shown.
pub(super) const HISTORY_CUT: &str = "history-cut";

/// What is known of a result beside its message.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    /// Code of a failed call.
    pub(super) code: Option<String>,
    /// Where the whole result was saved.
    pub(super) artifact: Option<String>,
}

/// The session as it is, without a turn that runs in it.
pub(super) async fn look(cx: &TurnContext) -> Result<Option<Transcript>, SessionError> {
    cx.ports.sessions.look(&cx.about.session, &cx.about.turn_id, MAX_ENTRIES).await
}

/// Opens the session for this turn.
pub(super) async fn open(cx: &TurnContext) -> Result<Transcript, SessionError> {
    let about = &cx.about;
    cx.ports.sessions.begin(&about.session, &about.turn_id, about.ties.resume.clone(), MAX_ENTRIES).await
}

/// What earlier turns left; an entry nobody can read any more is left out, and said so in the log.
pub(super) fn past_of(transcript: &Transcript) -> Vec<Past> {
    let read = |entry: &HistoryEntry| match serde_json::from_value::<ModelMessage>(entry.message.clone()) {
        Ok(message) => {
            let code = entry.meta.get("code").and_then(Value::as_str).map(str::to_string);
            let (turn_id, author, tool) = (entry.turn_id.clone(), author_of(entry), entry.tool.clone());
            let retry_of = entry.meta.get("retry_of").and_then(Value::as_str).map(str::to_string);
            Some(Past { n: entry.n, turn_id, author, tool, code, message, retry_of })
        }
        Err(error) => {
            tracing::warn!(session = %transcript.session(), n = entry.n, %error, "history entry is unreadable");
            None
        }
    };
    transcript.history().iter().filter(|entry| entry.role() != SUMMARY).filter_map(read).collect()
}

/// One message of this turn as it is stored.
pub(super) fn entry(cx: &TurnContext, message: &ModelMessage, facts: Kept) -> HistoryEntry {
    let who = &cx.about.facts.principal;
    // data and text only: nothing in it that JSON lacks
    let mut value = serde_json::to_value(message).unwrap_or(Value::Null);
    cx.calls.redactor.redact_value(&mut value);
    let mut entry = HistoryEntry::new(cx.about.turn_id.clone(), cx.ports.clock.now(), Some(who.id()), value);
    entry.meta = json!({"name": who.name, "role": who.role});
    if let Some(code) = facts.code {
        entry.meta["code"] = code.into();
    }
    if let Some(artifact) = facts.artifact {
        entry.meta["artifact"] = artifact.into();
    }
    if matches!(message, ModelMessage::User { .. }) {
        heard(cx, &mut entry);
    }
    entry
}

/// What `/retry` and later views need of a person's message beside its words.
fn heard(cx: &TurnContext, entry: &mut HistoryEntry) {
    if let Some(of) = &cx.about.ties.retry_of {
        entry.meta["retry_of"] = of.as_str().into();
    }
    // As it was said, if that is more than one text or names an agent; masked already.
    let said = cx.about.ties.resume.pointer("/message/segments").and_then(Value::as_array);
    let plain = said.is_none_or(|segments| match segments.as_slice() {
        [only] => only.get("text").is_some() && only.get("text") == entry.message.get("text"),
        _ => false,
    });
    if let (false, Some(segments)) = (plain, said) {
        entry.meta["segments"] = Value::Array(segments.clone());
    }
}

/// A message that waited and that a newer one stands for: it stays in the history as one of its sender.
pub(super) fn earlier(cx: &TurnContext, message: &Message) -> HistoryEntry {
    let who = &message.principal;
    // data and text only: nothing in it that JSON lacks
    let mut value = serde_json::to_value(ModelMessage::user(in_words(message, 0))).unwrap_or(Value::Null);
    cx.calls.redactor.redact_value(&mut value);
    let mut entry = HistoryEntry::new(cx.about.turn_id.clone(), cx.ports.clock.now(), Some(who.id()), value);
    entry.meta = json!({"name": who.name, "role": who.role});
    entry
}

fn author_of(entry: &HistoryEntry) -> Principal {
    let id = entry.principal.as_deref().unwrap_or_default();
    let (platform, user) = id.split_once(':').unwrap_or(("", id));
    let role = entry.meta.get("role").cloned().and_then(|r| serde_json::from_value::<Option<Role>>(r).ok()).flatten();
    let mut author = Principal::person(platform, user, role);
    if let Some(name) = entry.meta.get("name").and_then(Value::as_str) {
        author.name = name.to_string();
    }
    author
}

/// The one batch that ends a turn. A failure is the admin's to see; the person has the answer.
pub(super) async fn commit(run: &mut Run<'_>, answer: Option<ModelMessage>, report: &TurnReport) {
    let cx = run.cx;
    let (loaded, dropped) = run.catalog.snapshot();
    let mut flags = Map::new();
    if run.view.was_limited() {
        flags.insert(HISTORY_CUT.into(), Value::Bool(true));
    }
    let payer = run.payer();
    let (counted, number) = cx.ports.ledger.record(&payer);
    let mut extra = cx.ports.records.as_ref().map(|records| records(report)).unwrap_or_default();
    extra.push(counted);
    let commit = Commit {
        entries: answer.iter().map(|m| entry(cx, m, Kept::default())).collect(),
        loaded: Some(loaded),
        dropped,
        outcome: outcome_of(report),
        failed: match report.outcome {
            TurnOutcome::Failed { code, .. } => Some(code.as_str().to_string()),
            _ => None,
        },
        flags,
        owed: owed(cx, report),
        extra,
    };
    let Some(transcript) = run.transcript.as_mut() else { return };
    if let Err(error) = transcript.commit(commit).await {
        tracing::error!(turn = %cx.about.turn_id, %error, "the end of a turn is not stored");
    } else if let Err(error) = cx.ports.ledger.recorded(&payer, number).await {
        tracing::error!(turn = %cx.about.turn_id, %error, "what a turn used is not stored");
    }
}

/// The answer, until the person has it.
fn owed(cx: &TurnContext, report: &TurnReport) -> Option<Owed> {
    let over = cx.about.ties.over.clone()?;
    let mut segments = report.segments.clone();
    segments.extend(report.footer.iter().map(|f| Segment::plain(format!("\n\n{f}"))));
    let mut kept = serde_json::to_value(&segments).ok()?;
    cx.calls.redactor.redact_value(&mut kept);
    let segments: Vec<Segment> = serde_json::from_value(kept).ok()?;
    let conversation = cx.about.message.conversation.clone();
    let (turn_id, what) = (report.turn_id.clone(), Debt::Answer { segments });
    (!report.segments.is_empty()).then_some(Owed { turn_id, conversation, over, what })
}

fn outcome_of(report: &TurnReport) -> Value {
    let retryable = matches!(report.outcome, TurnOutcome::Failed { retryable: true, .. });
    json!({
        "outcome": report.outcome.as_str(),
        "detail": report.outcome.detail(),
        "retryable": retryable,
        "model": report.model,
        "usage": report.usage,
        "prompt": report.prompt,
        "duration_ms": report.duration_ms,
    })
}

/// Notes a stage of the turn. Calls have their own claims; a lost note here stops nothing.
pub(super) async fn note(cx: &TurnContext, kind: &'static str, data: Value) {
    let who = cx.about.facts.principal.id();
    let event = Event::new(kind, data).of_turn(cx.with.generation, cx.about.turn_id.clone(), who);
    if let Err(error) = cx.calls.journal.append(event).await {
        tracing::error!(turn = %cx.about.turn_id, kind, %error, "a turn's event is not journaled");
    }
}
