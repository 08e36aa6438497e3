//! One model step: a request, its stream, what came of it.

use super::events::{TurnEvent, TurnEvents};
use super::run::{End, Run, unopened};
use super::{Budget, FailCode};
use crate::exec::Countdown;
use crate::model::{
    ModelCall, ModelClient, ModelError, ModelEvent, ModelRequest, Opaque, StopReason, ToolChoice, Usage,
};
use crate::session::repair;
use futures::StreamExt;
use plugin_sdk::CancellationSignal;
use std::sync::Arc;

/// Note of the last step.
const LIMIT_NOTE: &str = "[host: limit reached, answer now without calling tools]";

/// Text of one step in bytes; a model that sends more is not listened to any longer.
const MAX_TEXT: usize = 1 << 20;

/// A draft is shown again when this part of it is new.
const DRAFT_GROWTH: usize = 32;

/// What a step gave.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) calls: Vec<ModelCall>,
    pub(super) opaque: Vec<Opaque>,
    /// Who answered, when it was not the model that was asked.
    pub(super) model: Option<String>,
    /// Tools of the request that were left out of it after all.
    pub(super) left_out: Vec<String>,
    pub(super) usage: Usage,
    pub(super) stop: Option<StopReason>,
    /// Bytes of the text that were shown.
    shown: usize,
}

impl Answer {
    /// Cut by length so that nothing of it can be used: its calls may be cut, or there is nothing.
    pub(super) fn is_truncated(&self) -> bool {
        self.stop == Some(StopReason::Length) && (!self.calls.is_empty() || self.text.trim().is_empty())
    }

    fn take(&mut self, event: ModelEvent, events: &dyn TurnEvents) {
        match event {
            ModelEvent::Text(part) => {
                let room = MAX_TEXT.saturating_sub(self.text.len());
                self.text.push_str(&part[..part.floor_char_boundary(room.min(part.len()))]);
                if part.len() > room {
                    self.stop = Some(StopReason::Length);
                }
                self.draft(DRAFT_GROWTH, events);
            }
            ModelEvent::Call(call) => self.calls.push(call),
            ModelEvent::Opaque(part) => self.opaque.push(part),
            ModelEvent::Answering(name) => {
                self.model = Some(name);
                // what the one before it was not sent, this one is
                self.left_out.clear();
            }
            ModelEvent::Usage(usage) => self.usage = usage,
            ModelEvent::Restart => {
                *self = Self { left_out: std::mem::take(&mut self.left_out), ..Self::default() };
                events.show(TurnEvent::Draft(String::new()));
            }
            ModelEvent::ToolRefused(tool, reason) => {
                tracing::warn!(code = "model::tool-refused", tool, reason, "the provider refused a tool");
                self.left_out.push(tool);
            }
            ModelEvent::Stop(stop) => {
                self.draft(usize::MAX, events);
                self.stop = Some(stop);
            }
        }
    }

    /// Shows the text when it has grown by a part of what was shown: a draft is a copy of the whole, and a copy
    /// for each token of a long text costs its length squared.
    fn draft(&mut self, part: usize, events: &dyn TurnEvents) {
        let grown = self.text.len() - self.shown;
        if grown > self.shown / part {
            self.shown = self.text.len();
            events.show(TurnEvent::Draft(self.text.clone()));
        }
    }
}

impl Run<'_> {
    /// Asks the model once. `last`: no calls any more.
    pub(super) async fn model_step(&mut self, last: bool) -> Result<Answer, End> {
        let mut repeated = false;
        self.afford().await?;
        loop {
            let request = self.request(last).await?;
            let (stop, countdown) = (self.cx.ports.stop.signal(), &self.hands.countdown);
            match listen(&self.cx.ports.model, request, (stop, countdown), &*self.cx.ports.events).await {
                Err(StepError::Model(ModelError::TooLong | ModelError::TooLarge(_)))
                    if !repeated && self.too_long().await? =>
                {
                    repeated = true;
                }
                Err(StepError::Model(error)) => return Err(self.model_failed(&error)),
                Err(StepError::Stopped) => return Err(End::Cancelled),
                Err(StepError::Time(text)) => return Err(End::Budget(Budget::Time, self.text_so_far(text))),
                Ok(answer) => {
                    self.account(&answer.usage);
                    self.catalog.left_out(&answer.left_out);
                    self.spend(&answer.usage).await;
                    if let Some(model) = &answer.model {
                        self.tally.model = Some(model.clone());
                    }
                    return Ok(answer);
                }
            }
        }
    }

    async fn request(&mut self, last: bool) -> Result<ModelRequest, End> {
        let tools = self.tool_list();
        self.make_room(self.fixed_tokens(&tools)).await?;
        self.mend().await?;
        let (mut messages, repaired) = repair(self.view.messages());
        if !repaired.is_nothing() {
            let turn = &self.cx.about.turn_id;
            tracing::info!(code = "session::repaired", ?repaired, turn, "transcript repaired");
        }
        if last {
            messages.push(crate::model::ModelMessage::user(LIMIT_NOTE));
        }
        Ok(ModelRequest {
            system: self.prompt.text.as_str().into(),
            messages,
            tools,
            deferred: if self.cx.ports.model.wants_catalog() { self.deferred_list() } else { Vec::new() },
            tool_choice: if last { ToolChoice::None } else { ToolChoice::Auto },
            step: self.steps.step,
            user_text: self.cx.about.message.text().trim().to_string(),
            help_text: self.cx.about.help_text.clone(),
            language: self.cx.with.bot.bot.language,
            cancellation: self.hands.cancel.clone(),
        })
    }

    /// What this turn stored is sound, whatever came between its steps.
    async fn mend(&mut self) -> Result<(), End> {
        let Some(transcript) = self.transcript.as_mut() else { return Ok(()) };
        transcript.mend().await.map(drop).map_err(|error| unopened(self.cx, &error))
    }

    fn model_failed(&self, error: &ModelError) -> End {
        tracing::warn!(turn = %self.cx.about.turn_id, %error, "model step failed");
        match error {
            ModelError::Unavailable(_) => End::Failed(FailCode::ModelUnavailable, true),
            ModelError::Rejected(_) | ModelError::TooLarge(_) => End::Failed(FailCode::ModelRejected, false),
            ModelError::TooLong => End::Failed(FailCode::ContextOverflow, false),
            ModelError::Cancelled => End::Cancelled,
        }
    }

    fn account(&mut self, usage: &Usage) {
        self.tally.usage.add(usage);
        if !usage.estimated && usage.input > 0 {
            self.view.count(usage.input);
        }
    }
}

/// Why a step gave no answer.
pub(super) enum StepError {
    Model(ModelError),
    Stopped,
    /// The turn's clock ran out; text so far.
    Time(String),
}

/// One request and its stream, until it ends, the turn is stopped or its clock runs out.
pub(super) async fn listen(
    model: &Arc<dyn ModelClient>,
    request: ModelRequest,
    (stopped, countdown): (&CancellationSignal, &Countdown),
    events: &dyn TurnEvents,
) -> Result<Answer, StepError> {
    let mut answer = Answer::default();
    let opened = tokio::select! {
        biased;
        () = stopped.cancelled() => return Err(StepError::Stopped),
        () = countdown.expired() => return Err(StepError::Time(String::new())),
        opened = model.complete(request) => opened,
    };
    let mut stream = opened.map_err(StepError::Model)?;
    loop {
        let event = tokio::select! {
            biased;
            () = stopped.cancelled() => return Err(StepError::Stopped),
            () = countdown.expired() => return Err(StepError::Time(answer.text)),
            event = stream.next() => event,
        };
        match event {
            Some(Ok(event)) => {
                answer.take(event, events);
                if answer.stop == Some(StopReason::Length) {
                    return Ok(answer);
                }
            }
            Some(Err(error)) => return Err(StepError::Model(error)),
            None => return Ok(answer),
        }
    }
}
