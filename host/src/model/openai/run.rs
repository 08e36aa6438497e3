//! One model step: attempts, pauses between them, and the one repeat without a refused tool.

use super::OpenAiInner;
use super::answer::{Answer, cost};
use super::attempt::{Events, attempt};
use super::body::{body, real_name, within_limit};
use super::failure::{Fault, named_tool};
use crate::model::estimate::estimate_step;
use crate::model::{ModelError, ModelEvent, ModelMessage, ModelRequest, ModelTool, StopReason};
use futures::SinkExt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

const LONGEST_BACK_OFF: u32 = 6;

/// Runs the step; its events and its one error, if any, go out through `events`.
pub(super) async fn run(model: Arc<OpenAiInner>, request: ModelRequest, mut events: Events) {
    let step = Step { model: &model, request: &request };
    if let Err(error) = step.run(&mut events).await {
        // Nobody listens any more: nothing to tell.
        let _ = events.send(Err(error)).await;
    }
}

struct Step<'a> {
    model: &'a OpenAiInner,
    request: &'a ModelRequest,
}

impl<'a> Step<'a> {
    async fn run(&self, events: &mut Events) -> Result<(), ModelError> {
        let mut tools = self.tools(events).await?;
        let mut left_out: Option<(&ModelTool, String)> = None;
        let rests = self.model.health.rests(self.model.http.clock());
        let mut repeats = if rests { 0 } else { self.model.config.retries };
        let mut tried = 0;
        loop {
            let body = body(&self.model.config, self.model.own_service, self.request, &tools, &self.model.cache);
            let fault = match attempt(self.model, &body, &self.request.cancellation, events).await {
                Ok(answer) => {
                    if let Some((tool, reason)) = &left_out {
                        self.model.cache.refuse(tool, reason);
                    }
                    return self.finish(answer, &tools, events).await;
                }
                Err(fault) => fault,
            };
            match fault {
                Fault::Transient { wait, .. } if repeats > 0 => {
                    repeats -= 1;
                    self.pause(wait.unwrap_or_else(|| back_off(tried))).await?;
                    tried += 1;
                }
                Fault::Rejected { reason, param } if left_out.is_none() => {
                    let tool = self.leave_out(&mut tools, &reason, param.as_deref());
                    let Some(tool) = tool else { return Err(ModelError::Rejected(reason)) };
                    tell(events, ModelEvent::ToolRefused(tool.wire.to_string(), reason.clone())).await?;
                    left_out = Some((tool, reason));
                }
                fault => return self.failed(fault, events).await,
            }
            tell(events, ModelEvent::Restart).await?;
        }
    }

    /// The tools of this step, without those this provider is known to refuse and those over its limit; each
    /// that is left out is told.
    async fn tools(&self, events: &mut Events) -> Result<Vec<&'a ModelTool>, ModelError> {
        let max = self.model.config.max_tools;
        let (kept, over) = within_limit(&self.request.tools, max);
        for tool in over {
            let reason = format!("more than {max} tools");
            tell(events, ModelEvent::ToolRefused(tool.wire.to_string(), reason)).await?;
        }
        let mut tools = Vec::with_capacity(kept.len());
        for tool in kept {
            match self.model.cache.refused(tool) {
                Some(reason) => tell(events, ModelEvent::ToolRefused(tool.wire.to_string(), reason)).await?,
                None => tools.push(tool),
            }
        }
        Ok(tools)
    }

    fn leave_out(&self, tools: &mut Vec<&'a ModelTool>, reason: &str, param: Option<&str>) -> Option<&'a ModelTool> {
        let names: Vec<&str> = tools.iter().map(|t| &*t.wire).collect();
        let name = named_tool(reason, param, &names)?;
        let at = tools.iter().position(|t| &*t.wire == name)?;
        Some(tools.remove(at))
    }

    async fn pause(&self, length: Duration) -> Result<(), ModelError> {
        tokio::select! {
            () = self.request.cancellation.cancelled() => Err(ModelError::Cancelled),
            () = self.model.http.clock().sleep(length) => Ok(()),
        }
    }

    async fn finish(&self, answer: Answer, tools: &[&ModelTool], events: &mut Events) -> Result<(), ModelError> {
        self.model.health.worked();
        let stop = answer.stop();
        let mut usage = answer.usage.unwrap_or_else(|| {
            let sent = ModelRequest { tools: tools.iter().copied().cloned().collect(), ..self.request.clone() };
            estimate_step(&sent, &format!("{}{}", answer.said, answer.calls.written()))
        });
        usage.cost_usd = cost(&usage, &self.model.config);
        let name = |written: &str| real_name(written, &self.request.tools);
        for call in answer.calls.finish(self.request.step, |id| self.id_taken(id), name) {
            tell(events, ModelEvent::Call(call)).await?;
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
