//! Phase 11: the body, with its deadline and cancellation.

use super::breaker::Health;
use super::claim::is_conversation;
use super::countdown::{Countdown, Paused};
use super::examine::Examined;
use super::nested::Nested;
use super::project::own_code;
use super::state::CallStatus;
use super::{ToolExecutor, arguments};
use crate::index::Tool;
use crate::runtime::owner_folder;
use crate::task::{GuardError, guard};
use async_trait::async_trait;
use plugin_sdk::ports::{Answer, Ask, Question};
use plugin_sdk::{ToolError, ToolExecutionContext, ToolResult};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// How long a cancelled body may take to end.
const DRAIN: Duration = Duration::from_secs(5);

/// What a call came to.
pub(super) struct Ran {
    pub(super) status: CallStatus,
    pub(super) result: ToolResult,
    /// The end of the body itself; `None` when it was never entered.
    pub(super) body: Option<BodyEnd>,
}

/// How a body ended, whatever was made of its result afterwards.
pub(super) struct BodyEnd {
    pub(super) status: CallStatus,
    pub(super) is_error: bool,
    /// It came to a result by itself.
    pub(super) known: bool,
    pub(super) health: Health,
}

impl Ran {
    /// The result of a body.
    fn of(result: ToolResult) -> Self {
        let status = status_of(&result);
        let health = Health::of(result.error.as_ref());
        let interrupted = result.error.as_ref().is_some_and(|e| e.code == "TOOL_TIMEOUT");
        let known = matches!(status, CallStatus::Completed | CallStatus::Failed) && !interrupted;
        let body = Some(BodyEnd { status, is_error: result.is_error, known, health });
        Self { status, result, body }
    }

    /// A body that failed or was stopped.
    fn failed(error: ToolError) -> Self {
        Self::of(ToolResult::error(error))
    }

    /// A body that did not come to an end of its own because its time ran out.
    fn expired(error: ToolError) -> Self {
        let mut ran = Self::failed(error);
        if let Some(body) = &mut ran.body {
            body.known = false;
            body.health = Health::Failed("TOOL_TIMEOUT".into());
        }
        ran
    }

    /// No body was entered.
    pub(super) fn refused(error: ToolError) -> Self {
        Self { body: None, ..Self::failed(error) }
    }

    /// A wrapper gave the result without the body.
    pub(super) fn answered_by_wrapper(mut result: ToolResult) -> Self {
        own_code(&mut result);
        Self { body: None, ..Self::of(result) }
    }

    /// A wrapper made this of the known result.
    pub(super) fn replaced(self, mut result: ToolResult) -> Self {
        own_code(&mut result);
        Self { status: status_of(&result), result, body: self.body }
    }

    /// Whether its end is known and nobody stopped it.
    pub(super) fn is_known(&self) -> bool {
        matches!(self.status, CallStatus::Completed | CallStatus::Failed)
    }
}

fn status_of(result: &ToolResult) -> CallStatus {
    match &result.error {
        None if !result.is_error => CallStatus::Completed,
        Some(e) if e.code == "CANCELLED" => CallStatus::Cancelled,
        Some(e) if e.code == "OUTCOME_UNKNOWN" => CallStatus::Unknown,
        _ => CallStatus::Failed,
    }
}

/// A running body.
type Work<'a> = Pin<Box<dyn Future<Output = Result<ToolResult, GuardError>> + Send + 'a>>;

/// What ended the wait for a body.
enum Wake {
    Result(Box<Result<ToolResult, GuardError>>),
    Cancelled,
    Expired,
}

impl ToolExecutor {
    /// Runs the body of a claimed call.
    pub(super) async fn run_body(&self, examined: &Examined<'_>, call_id: &str, cx: &ToolExecutionContext) -> Ran {
        let tool = examined.tool;
        let secrets = &self.base.bot.secrets;
        let input = match arguments::with_secrets(tool, &examined.frozen.arguments, secrets) {
            Ok(input) => input,
            Err(error) => return Ran::refused(error),
        };
        let limit = self.time_limit(tool);
        let countdown = Countdown::new(Arc::clone(&self.base.clock), limit);
        let own = self.context_of(examined, call_id, cx, limit, &countdown);
        let owner = tool.owner().to_string();
        let work = guard(&owner, None, &self.base.clock, tool.from.callable.call(input, &own));
        let mut work: Work<'_> = Box::pin(work);
        let times_itself = tool.from.callable.owns_timeout() || is_conversation(tool);
        let wake = tokio::select! {
            biased;
            result = &mut work => Wake::Result(Box::new(result)),
            () = cx.cancellation.cancelled() => Wake::Cancelled,
            () = countdown.expired(), if !times_itself => Wake::Expired,
        };
        let expired = match wake {
            Wake::Result(result) => return self.ended(*result, tool, cx),
            Wake::Cancelled => None,
            Wake::Expired => Some(timed_out(limit)),
        };
        own.cancellation.request();
        self.stopped(work, expired, tool, cx).await
    }

    /// A body that was told to stop: what can still be known of it. `expired` is set when its time ran out.
    async fn stopped(
        &self,
        mut work: Work<'_>,
        expired: Option<ToolError>,
        tool: &Tool,
        cx: &ToolExecutionContext,
    ) -> Ran {
        let read_only = tool.def().is_read_only();
        if let (true, Some(error)) = (read_only, &expired) {
            return Ran::expired(error.clone());
        }
        // A result that is real after all is kept; a body that says it stopped has stopped.
        let late = tokio::select! {
            biased;
            result = &mut work => Some(result),
            () = self.base.clock.sleep(DRAIN) => None,
        };
        match late {
            Some(Ok(result)) if is_cancelled(&result) => expired.map_or_else(|| Ran::of(result), Ran::expired),
            Some(result) => self.ended(result, tool, cx),
            None if read_only => {
                Ran::failed(ToolError::new("CANCELLED", "the turn was stopped; the call only reads").retryable())
            }
            None => {
                let message =
                    "the call was stopped but did not end; it may or may not have had its effect, do not repeat it";
                let error = ToolError::new("OUTCOME_UNKNOWN", message);
                if expired.is_some() { Ran::expired(error) } else { Ran::failed(error) }
            }
        }
    }

    fn ended(&self, result: Result<ToolResult, GuardError>, tool: &Tool, cx: &ToolExecutionContext) -> Ran {
        match result {
            Ok(mut result) => {
                // The runtime of a plugin may say that it stopped a call; only a real stop makes that true.
                let stopped = is_cancelled(&result) && cx.cancellation.requested();
                if !tool.is_builtin() && !stopped {
                    own_code(&mut result);
                }
                Ran::of(result)
            }
            Err(GuardError::Panicked(text)) => Ran::failed(
                ToolError::new("EXECUTION_ERROR", "the host's own code failed in this call").detail("panic", text),
            ),
            Err(GuardError::Timeout) => Ran::failed(ToolError::new("TOOL_TIMEOUT", "no result in time").retryable()),
        }
    }

    /// The least of the tool's own limit, the rest of the turn, and the rest of every call around it.
    fn time_limit(&self, tool: &Tool) -> Duration {
        let seconds = tool.def().options.timeout_seconds.unwrap_or(self.base.bot.tools.timeout_seconds);
        let own = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(60));
        let turn = self.turn.as_ref().map(|t| t.ports.countdown.left());
        self.nest.within.iter().map(Countdown::left).chain(turn).fold(own, Duration::min)
    }

    /// The context of the declaring owner, whoever calls.
    fn context_of(
        &self,
        examined: &Examined<'_>,
        call_id: &str,
        cx: &ToolExecutionContext,
        limit: Duration,
        countdown: &Countdown,
    ) -> ToolExecutionContext {
        let tool = examined.tool;
        let mut own = cx.clone();
        own.owner = tool.owner().to_string();
        own.config = (*tool.from.config).clone();
        own.call_id = call_id.to_string();
        own.tool_name = tool.qualified.to_string();
        own.tool_timeout_seconds = Some(limit.as_secs_f64());
        own.cancellation = cx.cancellation.child();
        let Some(turn) = &self.turn else { return own };
        own.policy = turn.ports.owners.policy(tool.owner());
        own.policy.unattended = !turn.ports.facts.attended;
        own.data_dir = Some(owner_folder(&turn.ports.data_dir, tool.owner()));
        let mut clocks = self.nest.within.clone();
        clocks.push(countdown.clone());
        own.call_tool = Some(Arc::new(Nested::new(self, tool.owner().clone(), own.clone(), clocks.clone())));
        clocks.push(turn.ports.countdown.clone());
        let port = cx.question.clone().map(|port| match tool.is_builtin() {
            true => port,
            false => port.for_owner(tool.owner().as_str()).unwrap_or(port),
        });
        own.question = port.map(|port| Arc::new(PausingAsk { port, clocks }) as Arc<dyn Ask>);
        own
    }
}

fn timed_out(limit: Duration) -> ToolError {
    let seconds = (limit.as_secs_f64() * 1000.0).round() / 1000.0;
    ToolError::new("TOOL_TIMEOUT", format!("no result within {seconds} s")).retryable()
}

fn is_cancelled(result: &ToolResult) -> bool {
    result.error.as_ref().is_some_and(|e| e.code == "CANCELLED")
}

/// Asks with every clock around it stopped.
struct PausingAsk {
    port: Arc<dyn Ask>,
    clocks: Vec<Countdown>,
}

#[async_trait]
impl Ask for PausingAsk {
    async fn ask(&self, question: Question) -> Result<Answer, ToolError> {
        let _paused: Vec<Paused> = self.clocks.iter().map(Countdown::pause).collect();
        self.port.ask(question).await
    }

    fn for_owner(&self, owner: &str) -> Option<Arc<dyn Ask>> {
        let port = self.port.for_owner(owner)?;
        Some(Arc::new(Self { port, clocks: self.clocks.clone() }))
    }
}
