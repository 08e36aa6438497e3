//! Phase 11 around the body: an embedding program's wrappers, first = outermost.

use super::ToolExecutor;
use super::body::Ran;
use super::examine::Examined;
use super::executor::cancelled;
use crate::task::{GuardError, guard};
use async_trait::async_trait;
use futures::future::BoxFuture;
use plugin_sdk::{RunNext, ToolCall, ToolError, ToolExecutionContext, ToolMiddleware, ToolNext, ToolResult};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

impl ToolExecutor {
    /// The body of a call inside its wrappers.
    pub(super) async fn run_wrapped(&self, examined: &Examined<'_>, call_id: &str, cx: &ToolExecutionContext) -> Ran {
        let wrappers = &self.base.fittings.middleware;
        if wrappers.is_empty() {
            return self.run_body(examined, call_id, cx).await;
        }
        let call = ToolCall {
            tool_use_id: call_id.to_string(),
            tool_name: examined.tool.qualified.to_string(),
            arguments: examined.frozen.arguments.clone(),
            agent_id: cx.agent_id.clone(),
            session_id: cx.session_id.clone(),
            run_id: cx.turn_id.clone(),
            activation_id: self.activation(),
            workspace_root: cx.workspace_root.clone(),
        };
        Onion { executor: self, examined, call, cx }.layer(wrappers).await
    }
}

/// One call and the wrappers around it.
struct Onion<'a> {
    executor: &'a ToolExecutor,
    examined: &'a Examined<'a>,
    call: ToolCall,
    cx: &'a ToolExecutionContext,
}

/// What a wrapper came to.
type Wrapped = Result<Result<ToolResult, ToolError>, GuardError>;

impl Onion<'_> {
    fn layer<'s>(&'s self, wrappers: &'s [Arc<dyn ToolMiddleware>]) -> BoxFuture<'s, Ran> {
        Box::pin(async move {
            match wrappers.split_first() {
                None => self.executor.run_body(self.examined, &self.call.tool_use_id, self.cx).await,
                Some((outer, rest)) => self.wrap(outer, rest).await,
            }
        })
    }

    /// Drives one wrapper, and behind it the rest once it is asked for.
    async fn wrap(&self, outer: &Arc<dyn ToolMiddleware>, rest: &[Arc<dyn ToolMiddleware>]) -> Ran {
        let slot = Arc::new(Slot::default());
        let next = ToolNext::new(Arc::clone(&slot) as Arc<dyn RunNext>);
        let work = outer.wrap_tool_call(self.call.clone(), next);
        let mut wrapper = pin!(guard("middleware", None, &self.executor.base.clock, work));
        let mut returned = tokio::select! {
            biased;
            wrapped = &mut wrapper => Some(wrapped),
            () = slot.asked.notified() => None,
            () = self.cx.cancellation.cancelled() => None,
        };
        if !slot.is_asked() {
            slot.close();
            return match returned {
                Some(wrapped) if !self.cx.cancellation.requested() => self.short_circuit(wrapped),
                _ => Ran::refused(cancelled()),
            };
        }
        let mut inner = self.layer(rest);
        let ran = loop {
            tokio::select! {
                biased;
                wrapped = &mut wrapper, if returned.is_none() => returned = Some(wrapped),
                ran = &mut inner => break ran,
            }
        };
        if returned.is_some() {
            slot.close();
            tracing::warn!(tool = %self.call.tool_name, "a middleware returned before the body; its result counts");
            return ran;
        }
        slot.answer(ran.result.clone());
        let last_word = tokio::select! {
            biased;
            wrapped = &mut wrapper => Some(wrapped),
            () = self.cx.cancellation.cancelled() => None,
        };
        slot.close();
        self.after(ran, last_word)
    }

    /// The wrapper answered without the rest: no body ran.
    fn short_circuit(&self, wrapped: Wrapped) -> Ran {
        match wrapped {
            Ok(Ok(result)) => Ran::answered_by_wrapper(result),
            failed => {
                let error = ToolError::new("MIDDLEWARE_ERROR", "code of the host around this tool failed; nothing ran");
                Ran::refused(error.detail("cause", self.cause(&failed)))
            }
        }
    }

    /// The wrapper saw a known result: what it makes of it, or that result when it failed.
    fn after(&self, ran: Ran, last_word: Option<Wrapped>) -> Ran {
        match last_word {
            // A stop, or an end nobody knows, is not a wrapper's to hide.
            _ if !ran.is_known() => ran,
            None => ran,
            Some(Ok(Ok(result))) => ran.replaced(result),
            Some(failed) => {
                let cause = self.cause(&failed);
                tracing::error!(tool = %self.call.tool_name, cause, "a middleware failed after the body; its result stays");
                ran
            }
        }
    }

    fn cause(&self, wrapped: &Wrapped) -> String {
        match wrapped {
            Ok(Ok(_)) => String::new(),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        }
    }
}

/// Where a wrapper asks for the rest and finds its result.
#[derive(Default)]
struct Slot {
    state: Mutex<State>,
    asked: Notify,
    answered: Notify,
}

#[derive(Default)]
struct State {
    asked: bool,
    closed: bool,
    result: Option<ToolResult>,
}

impl Slot {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_asked(&self) -> bool {
        self.state().asked
    }

    fn answer(&self, result: ToolResult) {
        self.state().result = Some(result);
        self.answered.notify_one();
    }

    /// From now on there is no next.
    fn close(&self) {
        self.state().closed = true;
        self.answered.notify_one();
    }

    /// The place of the one use, or why there is none.
    fn ask(&self) -> Result<(), ToolError> {
        let mut state = self.state();
        let refused = |why| Err(ToolError::new("MIDDLEWARE_ERROR", why));
        if state.closed {
            return refused("next was used after its wrapper had ended");
        }
        if state.asked {
            return refused("next works once");
        }
        state.asked = true;
        drop(state);
        self.asked.notify_one();
        Ok(())
    }
}

#[async_trait]
impl RunNext for Slot {
    async fn run_next(&self) -> Result<ToolResult, ToolError> {
        self.ask()?;
        loop {
            {
                let state = self.state();
                if let Some(result) = &state.result {
                    return Ok(result.clone());
                }
                if state.closed {
                    return Err(ToolError::new("MIDDLEWARE_ERROR", "the wrapper of this next has ended"));
                }
            }
            self.answered.notified().await;
        }
    }
}
