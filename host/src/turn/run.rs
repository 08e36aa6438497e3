//! The loop: request, stream, text or calls, executor, results, and again.

use super::asked::QuestionLog;
use super::context::TurnContext;
use super::hands::Hands;
use super::history::{self, Viewer};
use super::model_step::Answer;
use super::outcome::CallReport;
use super::window::View;
use super::words::{in_words, spoken};
use super::{Budget, FailCode, TurnReport};
use super::{keep, moment};
use crate::catalog::{Admitted, CatalogInput, Controller, SentTool};
use crate::exec::Countdown;
use crate::model::{ModelMessage, ModelTool, StopReason, Usage, estimate_tokens};
use crate::prompt::{self, Prompt, PromptInput, PromptOverflow};
use crate::session::{SessionError, Transcript};
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
    pub(super) calls: Vec<CallReport>,
    pub(super) questions: QuestionLog,
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
}

/// Answers one message. Exactly one outcome, whatever happens.
pub async fn run(cx: TurnContext) -> TurnReport {
    let began = cx.ports.clock.monotonic();
    let seconds = cx.with.bot.agent.turn_timeout_seconds;
    let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let (mut run, failed) = Run::begin(&cx, Countdown::new(cx.ports.clock.clone(), limit)).await;
    let end = match failed {
        Some(end) => end,
        None => run.drive().await,
    };
    let answer = kept_answer(&end, &run.steps.last_text);
    let took = cx.ports.clock.monotonic().saturating_sub(began);
    let report = run.report(end, took);
    keep::commit(&mut run, answer, &report).await;
    let finished = json!({"outcome": report.outcome.as_str(), "detail": report.outcome.detail()});
    keep::note(&cx, "turn.finished", finished).await;
    report
}

/// The model's last words, as far as the history does not have them yet: a text that was cut off by a limit
/// is new unless it came with calls.
fn kept_answer(end: &End, kept: &str) -> Option<ModelMessage> {
    let text = match end {
        End::Completed(text) => text,
        End::Budget(_, text) if text != kept => text,
        End::Budget(..) | End::Failed(..) | End::Cancelled => return None,
    };
    let calls = Vec::new();
    (!text.trim().is_empty()).then(|| ModelMessage::Assistant { text: text.clone(), calls })
}

impl<'a> Run<'a> {
    /// Everything a turn fixes at its start: what this person may see, the prompt, the view.
    async fn begin(cx: &'a TurnContext, countdown: Countdown) -> (Self, Option<End>) {
        let opened = keep::open(cx).await;
        let failed = opened.as_ref().err().map(|error| unopened(cx, error));
        let transcript = opened.ok();
        let past = transcript.as_ref().map(keep::past_of).unwrap_or_default();
        let snapshot = transcript.as_ref().map(|t| t.loaded().clone()).unwrap_or_default();
        let admitted = Admitted::judge(&cx.with.indexes, &cx.about.facts, &cx.calls.policy.read());
        let viewer = Viewer {
            indexes: &cx.with.indexes,
            admitted: &admitted,
            present: &cx.about.facts.principal,
            scope: cx.about.facts.conversation.scope,
            retry_of: cx.about.retry_of.as_deref(),
        };
        let (mentioned, answered) = (history::mentioned(&past), history::has_answer(&past));
        let view = View::new(viewer.view(past));
        let catalog = Arc::new(Controller::new(CatalogInput {
            indexes: cx.with.indexes.clone(),
            admitted,
            bot: &cx.with.bot,
            snapshot: &snapshot,
            mentioned,
            can_ask: cx.ports.question.is_some(),
        }));
        let prompt = compose(cx, &catalog);
        let overflow = prompt.as_ref().err().map(|e| overflowed(cx, e));
        let tally = Tally::default();
        let run = Self {
            cx,
            hands: Hands::of(cx, &catalog, countdown, &tally.questions),
            catalog,
            prompt: prompt.unwrap_or_else(|e| no_prompt(&e)),
            view,
            tally,
            steps: Steps::default(),
            first_answer: !answered,
            transcript,
        };
        keep::note(cx, "turn.started", json!({"session": cx.about.session, "model": cx.ports.model.name()})).await;
        (run, failed.or(overflow))
    }

    /// Keeps the person's message and heads it with what belongs to the moment.
    async fn hear(&mut self) -> Result<(), End> {
        let text = in_words(&self.cx.about.message);
        self.store(&ModelMessage::User { text: text.clone() }, None).await?;
        let head = moment::head(self.cx, &self.catalog, self.prompt.dropped.as_deref());
        let facts = &self.cx.about.facts;
        let spoken = spoken(&text, &facts.principal, &facts.principal, facts.conversation.scope);
        self.view.running.push(ModelMessage::User { text: format!("{head}\n{spoken}") });
        Ok(())
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
        let most = self.cx.with.bot.agent.max_iterations;
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

    pub(super) fn fixed_tokens(&self, tools: &[ModelTool]) -> u64 {
        let tool = |t: &ModelTool| estimate_tokens(&t.description) + estimate_tokens(&t.schema.to_string());
        estimate_tokens(&self.prompt.text) + tools.iter().map(tool).sum::<u64>()
    }

    /// Stores one message of the running turn and adds it to the view; `code` is that of a failed call.
    pub(super) async fn keep(&mut self, message: ModelMessage, code: Option<String>) -> Result<(), End> {
        self.store(&message, code).await?;
        self.view.running.push(message);
        Ok(())
    }

    async fn store(&mut self, message: &ModelMessage, code: Option<String>) -> Result<(), End> {
        let entry = keep::entry(self.cx, message, code);
        let Some(transcript) = self.transcript.as_mut() else { return Ok(()) };
        transcript.append(vec![entry]).await.map_err(|error| unopened(self.cx, &error))
    }
}

/// What the journal keeps of a model step: counts, no text.
fn step_note(step: u32, answer: &Answer) -> Value {
    json!({"step": step, "calls": answer.calls.len(), "usage": answer.usage})
}

/// The session cannot be read or written.
fn unopened(cx: &TurnContext, error: &SessionError) -> End {
    tracing::error!(turn = %cx.about.turn_id, %error, "the session cannot be used");
    End::Failed(FailCode::JournalUnavailable, true)
}

fn compose(cx: &TurnContext, catalog: &Controller) -> Result<Prompt, PromptOverflow> {
    prompt::build(&PromptInput {
        indexes: &cx.with.indexes,
        catalog,
        bot_name: &cx.with.bot_name,
        platform: &cx.about.facts.conversation.platform,
        profile: cx.about.profile,
        form: cx.with.bot.agent.deferred_tools.form,
        budget: cx.with.bot.agent.system_prompt_max_chars,
    })
}

fn overflowed(cx: &TurnContext, error: &PromptOverflow) -> End {
    let blocks: Vec<String> = error.blocks.iter().map(|b| format!("{} {}", b.id, b.chars)).collect();
    tracing::error!(turn = %cx.about.turn_id, %error, blocks = blocks.join(", "), "prompt overflow");
    End::Failed(FailCode::PromptOverflow, false)
}

/// What the report shows of a prompt that was never sent.
fn no_prompt(error: &PromptOverflow) -> Prompt {
    let blocks: Vec<Value> =
        error.blocks.iter().map(|b| json!({"id": b.id, "retention": "required", "chars": b.chars})).collect();
    let report = json!({"budget": error.budget, "total": error.total, "blocks": blocks});
    Prompt { text: String::new(), report, dropped: None }
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
