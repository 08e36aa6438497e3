//! One model step: attempts, pauses between them, and the repeats of a request that something was taken out of.

use super::attempt::{Events, attempt};
use super::cost::cost;
use super::failure::{Fault, named_tool};
use super::offer::real_name;
use super::{Answer, Offer, Remote, Sending, Tools};
use crate::model::estimate::estimate_step;
use crate::model::{ModelCall, ModelError, ModelEvent, ModelMessage, ModelRequest, ModelTool, StopReason};
use futures::SinkExt;
use serde_json::Value;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

const LONGEST_BACK_OFF: u32 = 6;
/// How often an answer that paused goes on.
const MAX_PAUSES: u32 = 8;

/// Runs the step; its events and its one error, if any, go out through `events`.
pub(super) async fn run(model: Arc<Remote>, request: ModelRequest, mut events: Events) {
    let step = Step { model: &model, request: &request };
    if let Err(error) = step.run(&mut events).await {
        // Nobody listens any more: nothing to tell.
        let _ = events.send(Err(error)).await;
    }
}

struct Step<'a> {
    model: &'a Remote,
    request: &'a ModelRequest,
}

/// Where the attempts of a step stand.
struct Course<'a> {
    tools: Tools<'a>,
    refused: Option<(&'a ModelTool, String)>,
    gave_up_deferral: bool,
    repeats: u32,
    tried: u32,
    pauses: u32,
    /// What a paused answer came to.
    so_far: Answer,
    continued: Vec<Value>,
}

impl<'a> Step<'a> {
    async fn run(&self, events: &mut Events) -> Result<(), ModelError> {
        let Offer { tools, left_out } = self.model.offer(self.request);
        for (tool, reason) in left_out {
            tell(events, ModelEvent::ToolRefused(tool.wire.to_string(), reason)).await?;
        }
        let rests = self.model.health.rests(self.model.http.clock());
        let repeats = if rests { 0 } else { self.model.config.retries };
        let mut course = Course {
            tools,
            repeats,
            refused: None,
            gave_up_deferral: false,
            tried: 0,
            pauses: 0,
            so_far: Answer::default(),
            continued: Vec::new(),
        };
        loop {
            match self.attempt(&mut course, events).await {
                Ok(None) => continue,
                Ok(Some(answer)) => return self.finish(answer, &course, events).await,
                Err(fault) => {
                    if !self.again(fault.clone(), &mut course, events).await? {
                        return self.failed(fault, events).await;
                    }
                }
            }
            course.so_far = Answer::default();
            course.continued.clear();
            tell(events, ModelEvent::Restart).await?;
        }
    }

    /// One exchange; `None` when the answer only paused and goes on.
    async fn attempt(&self, course: &mut Course<'a>, events: &mut Events) -> Result<Option<Answer>, Fault> {
        let sending =
            Sending { model: self.model, request: self.request, tools: &course.tools, continued: &course.continued };
        let body = self.model.wire.body(&sending);
        let reader = attempt(self.model, &body, &self.request.cancellation, events).await?;
        let taken = |id: &str| self.id_taken(id) || course.so_far.calls.iter().any(|c| c.id == id);
        let answer = reader.answer(self.request.step, &taken);
        if course.pauses == 0 {
            course.so_far = answer;
        } else {
            course.so_far.go_on(answer);
        }
        match course.so_far.paused.take() {
            Some(content) if !content.is_empty() && course.pauses < MAX_PAUSES => {
                course.pauses += 1;
                course.continued.extend(content);
                Ok(None)
            }
            _ => Ok(Some(std::mem::take(&mut course.so_far))),
        }
    }

    /// Makes ready for a repeat, if one is due after this fault.
    async fn again(&self, fault: Fault, course: &mut Course<'a>, events: &mut Events) -> Result<bool, ModelError> {
        course.pauses = 0;
        match fault {
            Fault::Transient { wait, .. } if course.repeats > 0 => {
                course.repeats -= 1;
                self.pause(wait.unwrap_or_else(|| back_off(course.tried))).await?;
                course.tried += 1;
                Ok(true)
            }
            Fault::Rejected { reason, .. }
                if !course.gave_up_deferral && self.model.gives_up_deferral(&reason, course.tools.deferral) =>
            {
                let model = &self.model.config.model;
                tracing::warn!(code = "model::no-deferral", model, reason, "the server takes no tools found later");
                course.gave_up_deferral = true;
                course.tools.plain();
                Ok(true)
            }
            Fault::Rejected { reason, param } if course.refused.is_none() => {
                let names: Vec<&str> = course.tools.listed().iter().map(|(t, _)| &*t.wire).collect();
                let named = named_tool(&reason, param.as_deref(), &names);
                let Some(tool) = named.and_then(|name| course.tools.take(name)) else { return Ok(false) };
                tell(events, ModelEvent::ToolRefused(tool.wire.to_string(), reason.clone())).await?;
                course.refused = Some((tool, reason));
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    async fn pause(&self, length: Duration) -> Result<(), ModelError> {
        tokio::select! {
            () = self.request.cancellation.cancelled() => Err(ModelError::Cancelled),
            () = self.model.http.clock().sleep(length) => Ok(()),
        }
    }

    async fn finish(&self, answer: Answer, course: &Course<'a>, events: &mut Events) -> Result<(), ModelError> {
        self.model.health.worked();
        if let Some((tool, reason)) = &course.refused {
            self.model.refuse(tool, reason);
        }
        let mut usage = answer.usage.unwrap_or_else(|| {
            let tools = course.tools.sent.iter().copied().cloned().collect();
            let sent = ModelRequest { tools, ..self.request.clone() };
            let written: String = answer.calls.iter().map(|c| format!("{} {}", c.name, c.arguments)).collect();
            estimate_step(&sent, &format!("{}{written}", answer.said))
        });
        usage.cost_usd = cost(&usage, &self.model.config);
        let stop = answer.stop.unwrap_or(StopReason::End);
        for part in answer.kept(&self.model.maker) {
            tell(events, ModelEvent::Opaque(part)).await?;
        }
        for call in answer.calls {
            let name = real_name(&call.name, self.request);
            tell(events, ModelEvent::Call(ModelCall { id: call.id, name, arguments: call.arguments })).await?;
        }
        tell(events, ModelEvent::Usage(usage)).await?;
        tell(events, ModelEvent::Stop(stop)).await
    }

    fn id_taken(&self, id: &str) -> bool {
        self.request.messages.iter().any(|m| match m {
            ModelMessage::Assistant { calls, .. } => calls.iter().any(|c| c.id == id),
            _ => false,
        })
    }

    async fn failed(&self, fault: Fault, events: &mut Events) -> Result<(), ModelError> {
        if let Fault::Transient { reason, .. } | Fault::Busy { reason } | Fault::Down { reason } = &fault {
            tracing::warn!(code = "model::down", model = self.model.config.model, reason, "the model gave no answer");
        }
        Err(match fault {
            Fault::Transient { reason, .. } | Fault::Busy { reason } => {
                self.model.health.failed(self.model.http.clock());
                ModelError::Unavailable(reason)
            }
            Fault::Down { reason } => {
                self.model.health.refused();
                ModelError::Unavailable(reason)
            }
            Fault::Rejected { reason, .. } => ModelError::Rejected(reason),
            Fault::TooLarge { reason } => ModelError::TooLarge(reason),
            Fault::TooLong => ModelError::TooLong,
            Fault::Cancelled => ModelError::Cancelled,
            Fault::Filtered => return tell(events, ModelEvent::Stop(StopReason::Refusal)).await,
        })
    }
}

async fn tell(events: &mut Events, event: ModelEvent) -> Result<(), ModelError> {
    events.send(Ok(event)).await.map_err(|_| ModelError::Cancelled)
}

/// 1 s, 2 s, 4 s and so on, a fifth more or less, so that many turns do not come back at the same moment.
fn back_off(tried: u32) -> Duration {
    let base = 1000u64 << tried.min(LONGEST_BACK_OFF);
    let spread = base * 2 / 5;
    let random = RandomState::new().build_hasher().finish();
    Duration::from_millis(base - spread / 2 + random % (spread + 1))
}
