//! The built-in model: no network, no randomness, no language model. It finds a tool by words, fills its
//! arguments from the person's message and says what came back.

mod done;
mod fill;
mod plan;

use super::estimate::estimate_step;
use super::{ModelCall, ModelClient, ModelError, ModelEvent, ModelRequest, StopReason};
use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use plan::{Act, Plan};

/// The offline model. It keeps nothing: equal requests give equal events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

impl Offline {
    /// The model.
    pub fn new() -> Self {
        Self
    }

    /// The events of one step.
    pub fn answer(request: &ModelRequest) -> Vec<ModelEvent> {
        let (event, written, stop) = match Plan::of(request).next() {
            Act::Say(text) => (ModelEvent::Text(text.clone()), text, StopReason::End),
            Act::Call { name, arguments } => {
                let arguments = arguments.to_string();
                let written = format!("{name} {arguments}");
                let call = ModelCall { id: format!("call_{}_1", request.step), name, arguments };
                (ModelEvent::Call(call), written, StopReason::ToolUse)
            }
        };
        vec![event, ModelEvent::Usage(estimate_step(request, &written)), ModelEvent::Stop(stop)]
    }
}

#[async_trait]
impl ModelClient for Offline {
    fn name(&self) -> &str {
        super::OFFLINE
    }

    async fn complete(
        &self,
        request: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError> {
        if request.cancellation.requested() {
            return Err(ModelError::Cancelled);
        }
        Ok(stream::iter(Self::answer(&request).into_iter().map(Ok)).boxed())
    }
}

#[cfg(test)]
mod tests;
