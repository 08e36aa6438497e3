//! The loop: request, stream, text or calls, executor, results, and again.

use super::asked::QuestionLog;
use super::context::TurnContext;
use super::hands::Hands;
use super::keep::Kept;
use super::model_step::Answer;
use super::outcome::CallReport;
use super::room::Room;
use super::window::{Line, View};
use super::words::{in_words, spoken};
use super::{Budget, FailCode, TurnReport, keep, moment};
use crate::catalog::{Controller, SentTool};
use crate::exec::Countdown;
use crate::model::{ModelMessage, ModelTool, Opaque, StopReason, Usage, estimate_tokens};
use crate::prompt::Prompt;
use crate::session::{SessionError, Transcript};
use crate::task::guard;
use plugin_sdk::Message;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// How the loop ended, before it is put into words.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    Completed(String),
    Failed(FailCode, bool),
    Cancelled,
    /// Which limit, and the text so far.
    Budget(Budget, String),
}

/// What a turn adds up for its report.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) usage: Usage,
    /// Who answered last, when it was not the model that was asked.
    pub(super) model: Option<String>,
    pub(super) calls: Vec<CallReport>,
    pub(super) questions: QuestionLog,
    /// Used part of the day's tokens in hundredths, when the person is to be told.
    pub(super) near: Option<u64>,
}

/// Where the loop stands.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) step: u32,
    /// Truncated steps in a row.
    pub(super) truncations: u32,
    pub(super) used_ids: HashSet<String>,
    /// The newest text of the model.
    pub(super) last_text: String,
    /// What the maker of the final text wants back with it.
    pub(super) opaque: Vec<Opaque>,
    /// The final text was cut by length.
    pub(super) answer_cut: bool,
}

/// A turn under way.
pub(super) struct Run<'a> {
    pub(super) cx: &'a TurnContext,
    pub(super) catalog: Arc<Controller>,
    pub(super) prompt: Prompt,
    pub(super) view: View,
    pub(super) hands: Hands,
    pub(super) tally: Tally,
    pub(super) steps: Steps,
    /// The session has no answer yet.
    pub(super) first_answer: bool,
    /// `None` when the session could not be opened.
    pub(super) transcript: Option<Transcript>,
    pub(super) room: Room,
}

/// Answers one message. Exactly one outcome, whatever happens.
pub async fn run(cx: TurnContext) -> TurnReport {
    let began = cx.ports.clock.monotonic();
    let seconds = cx.with.bot.agent.turn_timeout_seconds;
    let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let (mut run, failed) = Run::begin(&cx, Countdown::new(cx.ports.clock.clone(), limit)).await;
    let end = match failed {
        Some(end) => end,
        None => {
            run.tell_started().await;
            // A fault of the host's own code ends this turn and nothing else.
            let driven = guard("turn", None, &cx.ports.clock, run.drive()).await;
            driven.unwrap_or(End::Failed(FailCode::Internal, false))
        }
    };
    run.reckon().await;
    let answer = kept_answer(&end, &run.steps);
    let took = cx.ports.clock.monotonic().saturating_sub(began);
    let report = run.report(end, took);
    keep::commit(&mut run, answer, &report).await;
    let finished = json!({"outcome": report.outcome.as_str(), "detail": report.outcome.detail()});
    keep::note(&cx, "turn.finished", finished).await;
    run.finished(&report).tell(cx.ports.background.as_ref()).await;
    report
}

/// The model's last words, as far as the history does not have them yet: a text that was cut off by a limit
/// is new unless it came with calls.
fn kept_answer(end: &End, steps: &Steps) -> Option<ModelMessage> {
    let text = match end {
        End::Completed(text) => text,
        End::Budget(_, text) if *text != steps.last_text => text,
        End::Budget(..) | End::Failed(..) | End::Cancelled => return None,
    };
    let (calls, opaque) = (Vec::new(), steps.opaque.clone());
    (!text.trim().is_empty()).then(|| ModelMessage::Assistant { text: text.clone(), calls, opaque })
}

impl Run<'_> {
    /// Keeps the person's message and heads it with what belongs to the moment.
    async fn hear(&mut self) -> Result<(), End> {
        for message in &self.cx.about.earlier {
            self.hear_earlier(message).await?;
        }
        let images = self.cx.about.images.clone();
        let text = in_words(&self.cx.about.message, images.len());
        let kept = ModelMessage::User { text: text.clone(), images: images.clone() };
        let n = self.store(&kept, Kept::default()).await?;
        self.safe().await?;
        let head = moment::head(self.cx, &self.catalog, self.prompt.dropped.as_deref());
        let facts = &self.cx.about.facts;
        let spoken = spoken(&text, &facts.principal, &facts.principal, facts.conversation.scope);
        self.view.running.push(Line::new(n, ModelMessage::User { text: format!("{head}\n{spoken}"), images }));
        Ok(())
    }

    /// What a superseded turn did not answer stays a message of its sender.
    async fn hear_earlier(&mut self, message: &Message) -> Result<(), End> {
        let entry = keep::earlier(self.cx, message);
        let n = match self.transcript.as_mut() {
            Some(transcript) => transcript.append(vec![entry]).await.map_err(|e| unopened(self.cx, &e))?,
            None => 0,
        };
        let facts = &self.cx.about.facts;
        let said = spoken(&in_words(message, 0), &message.principal, &facts.principal, facts.conversation.scope);
        self.view.running.push(Line::new(n, ModelMessage::user(said)));
        Ok(())
    }

    /// A message that nobody else keeps is durable before the model is asked: after a crash it is answered.
    async fn safe(&self) -> Result<(), End> {
        if self.cx.about.ties.over.is_none() {
            return Ok(());
        }
        self.cx.ports.sessions.barrier().await.map_err(|error| unopened(self.cx, &error))
    }

    async fn drive(&mut self) -> End {
        let heard = self.hear().await;
        let answered = match heard {
            Ok(()) => self.answer().await,
            Err(end) => Err(end),
        };
        match answered {
            Ok(text) => End::Completed(text),
            Err(end) => end,
        }
    }

    /// Steps until there is an answer.
    async fn answer(&mut self) -> Result<String, End> {
        let most = self.cx.max_steps();
        loop {
            self.steps.step += 1;
            let last = self.steps.step >= most;
            let answer = self.model_step(last).await?;
            keep::note(self.cx, "turn.step", step_note(self.steps.step, &answer)).await;
            if !answer.text.trim().is_empty() {
                self.steps.last_text.clone_from(&answer.text);
            }
            if let Some(text) = self.settled(&answer, last)? {
                self.steps.answer_cut = answer.stop == Some(StopReason::Length);
                self.steps.opaque = answer.opaque;
                return Ok(text);
            }
            if answer.is_truncated() {
                self.truncated(answer).await?;
            } else {
                self.run_calls(answer).await?;
            }
        }
    }

    /// The final text, when this step ends the turn.
    fn settled(&self, answer: &Answer, last: bool) -> Result<Option<String>, End> {
        let blank = answer.text.trim().is_empty();
        if answer.stop == Some(StopReason::Refusal) {
            return if blank { Err(End::Failed(FailCode::ModelRefused, false)) } else { Ok(Some(answer.text.clone())) };
        }
        if last {
            let spent = End::Budget(Budget::Steps, self.steps.last_text.clone());
            return if blank { Err(spent) } else { Ok(Some(answer.text.clone())) };
        }
        let goes_on = !answer.calls.is_empty() || answer.is_truncated();
        Ok((!goes_on).then(|| answer.text.clone()))
    }

    /// The text to show when the turn ends early: that of the running step, else the newest before it.
    pub(super) fn text_so_far(&self, running: String) -> String {
        if running.trim().is_empty() { self.steps.last_text.clone() } else { running }
    }

    pub(super) fn tool_list(&self) -> Vec<ModelTool> {
        self.catalog.begin_step().into_iter().map(as_sent).collect()
    }

    /// What of the catalog is not in the model's hands, for one that is told of it.
    pub(super) fn deferred_list(&self) -> Vec<ModelTool> {
        self.catalog.deferred().into_iter().map(as_sent).collect()
    }

    pub(super) fn fixed_tokens(&self, tools: &[ModelTool]) -> u64 {
        let tool = |t: &ModelTool| estimate_tokens(&t.description) + estimate_tokens(&t.schema.to_string());
        estimate_tokens(&self.prompt.text) + tools.iter().map(tool).sum::<u64>()
    }

    /// Stores one message of the running turn and adds it to the view.
    pub(super) async fn keep(&mut self, message: ModelMessage, facts: Kept) -> Result<(), End> {
        let n = self.store(&message, facts).await?;
        self.view.running.push(Line::new(n, message));
        Ok(())
    }

    /// The position it is stored at, 0 when there is no session.
    async fn store(&mut self, message: &ModelMessage, facts: Kept) -> Result<u64, End> {
        let entry = keep::entry(self.cx, message, facts);
        let Some(transcript) = self.transcript.as_mut() else { return Ok(0) };
        transcript.append(vec![entry]).await.map_err(|error| unopened(self.cx, &error))
    }
}

/// What the journal keeps of a model step: counts, no text.
fn step_note(step: u32, answer: &Answer) -> Value {
    json!({"step": step, "calls": answer.calls.len(), "usage": answer.usage})
}

/// The session cannot be read or written.
pub(super) fn unopened(cx: &TurnContext, error: &SessionError) -> End {
    tracing::error!(turn = %cx.about.turn_id, %error, "the session cannot be used");
    End::Failed(FailCode::JournalUnavailable, true)
}

fn as_sent(tool: SentTool) -> ModelTool {
    ModelTool {
        wire: tool.wire,
        qualified: tool.qualified,
        description: tool.description,
        schema: tool.schema,
        words: tool.words,
        meta: tool.meta,
        loaded: tool.loaded,
    }
}
