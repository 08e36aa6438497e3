//! The executor: one call through its phases, several in windows.

use super::artifacts::ToolArtifactStore;
use super::body::{BodyEnd, Ran};
use super::claim::is_conversation;
use super::countdown::Countdown;
use super::examine::{Examined, Stopped};
use super::fittings::{Fittings, ToolObservation};
use super::hooks::HookDispatcher;
use super::ports::{Gates, Offered, Owners};
use super::state::{CallRecord, CallStatus, Ordinal, TurnState};
use super::{arguments, project};
use crate::admission::{Facts, LivePolicy, PolicyCell, PolicyInput, access};
use crate::config::{BotConfig, Redactor};
use crate::index::{Tool, ToolIndex};
use crate::journal::Journal;
use crate::task::{SharedClock, SystemClock};
use futures::StreamExt;
use plugin_sdk::{ToolError, ToolExecutionContext, ToolResult, ToolUse};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What a turn gives its executor.
pub struct TurnPorts {
    /// What the model was sent in this step.
    pub offered: Arc<dyn Offered>,
    /// What the owners may do.
    pub owners: Arc<dyn Owners>,
    /// The live policy.
    pub policy: Arc<PolicyCell>,
    /// Facts of the message.
    pub facts: Facts,
    /// The role in them was given (by a command line), so it is not looked up again before each call.
    pub given_role: bool,
    /// How calls are approved.
    pub gates: Gates,
    /// Where calls are recorded.
    pub journal: Journal,
    /// Where results are saved.
    pub artifacts: ToolArtifactStore,
    /// The data folder of the host.
    pub data_dir: PathBuf,
    /// The clock of the turn.
    pub countdown: Countdown,
    /// Takes secrets out of texts.
    pub redactor: Arc<Redactor>,
    /// The hooks of this turn.
    pub hooks: Arc<HookDispatcher>,
}

/// A turn as its executor sees it.
pub(super) struct TurnScope {
    pub(super) ports: TurnPorts,
    pub(super) state: TurnState,
    /// The person was let in when the turn began, so it must still be; whom the command line speaks for need not.
    pub(super) let_in: bool,
    /// What the last lookup said.
    held: Mutex<Option<Result<Vec<String>, String>>>,
}

impl TurnScope {
    /// The facts of this moment.
    pub(super) fn facts(&self, policy: &LivePolicy) -> Facts {
        let mut facts = self.ports.facts.clone();
        if !self.ports.given_role {
            facts.principal.role = policy.role_of(&facts.principal, &facts.conversation.endpoint_id());
        }
        if let Some(held) = self.held.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            facts.principal.platform_roles = held.clone().unwrap_or_default();
            facts.platform_permissions = Some(held);
        }
        facts
    }

    /// A permission of the platform may have been taken away since the message came.
    pub(super) async fn look_again(&self) {
        if let Some(member) = &self.ports.gates.member {
            let held = member.held().await;
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
        }
    }
}

/// What all handles of an executor share.
#[derive(Clone)]
pub(super) struct Base {
    pub(super) index: ToolIndex,
    pub(super) bot: Arc<BotConfig>,
    /// Judges calls outside a turn.
    pub(super) policy: Arc<LivePolicy>,
    pub(super) clock: SharedClock,
    pub(super) fittings: Fittings,
}

/// Where in a chain of calls a handle stands.
#[derive(Clone, Default)]
pub(super) struct Nest {
    /// 1 for a call of the model.
    pub(super) depth: u32,
    /// Narrows which names may be called.
    pub(super) offered: Option<Arc<dyn Offered>>,
    /// Countdowns of the calls around this one: it ends with them, and a question stops them too.
    pub(super) within: Vec<Countdown>,
}

/// Runs tool calls. Clones share everything.
#[derive(Clone)]
pub struct ToolExecutor {
    pub(super) base: Arc<Base>,
    pub(super) turn: Option<Arc<TurnScope>>,
    pub(super) nest: Nest,
}

impl ToolExecutor {
    /// An executor without a turn: it never asks (`HITL_REQUIRED`), journals nothing and has no limits.
    pub fn new(index: ToolIndex) -> Self {
        Self::with(index, Arc::new(BotConfig::default()), SystemClock::shared())
    }

    /// The executor of a generation.
    pub fn with(index: ToolIndex, bot: Arc<BotConfig>, clock: SharedClock) -> Self {
        let policy = Arc::new(LivePolicy::new(PolicyInput::from(&*bot)));
        let base = Arc::new(Base { index, bot, policy, clock, fittings: Fittings::default() });
        Self { base, turn: None, nest: Nest { depth: 1, ..Nest::default() } }
    }

    /// A handle for one turn, with its own limits and memory.
    pub fn for_turn(&self, ports: TurnPorts) -> Self {
        let let_in = access(&ports.facts, &ports.policy.read()).is_granted();
        let scope = TurnScope { ports, state: TurnState::default(), let_in, held: Mutex::default() };
        Self { base: Arc::clone(&self.base), turn: Some(Arc::new(scope)), nest: self.nest.clone() }
    }

    /// A handle of the same executor on which only what `offered` allows may be called.
    pub fn callable(&self, offered: Arc<dyn Offered>) -> Self {
        Self { nest: Nest { offered: Some(offered), ..self.nest.clone() }, ..self.clone() }
    }

    /// Whether the guard against repeats ends the turn (`failed {LOOP_GUARD}`).
    pub fn loop_guard_tripped(&self) -> bool {
        self.turn.as_ref().is_some_and(|t| t.state.must_end())
    }

    /// The calls that ended since the last time, in call order.
    pub fn take_records(&self) -> Vec<CallRecord> {
        self.turn.as_ref().map(|t| t.state.take_records()).unwrap_or_default()
    }

    /// One call. The approval counts for the call of that id only and never beats a present deny.
    pub async fn execute_one(
        &self,
        call: ToolUse,
        cx: &ToolExecutionContext,
        approved_call_id: Option<&str>,
    ) -> ToolResult {
        let place = self.places(1).into_iter().next().unwrap_or(Ordinal { in_turn: 1, in_step: 1 });
        let approved = approved_call_id == Some(call.id.as_str());
        self.run(&call, place, cx, approved).await
    }

    /// The calls of one step: one result each, in their order.
    pub async fn execute_many(&self, calls: Vec<ToolUse>, cx: &ToolExecutionContext) -> Vec<ToolResult> {
        self.execute_each(calls, cx, |_| {}).await
    }

    /// The same; `each` is shown every result as soon as it and those before it are there, so that a caller
    /// can keep them while later calls still run.
    pub async fn execute_each(
        &self,
        calls: Vec<ToolUse>,
        cx: &ToolExecutionContext,
        mut each: impl FnMut(&ToolResult) + Send,
    ) -> Vec<ToolResult> {
        let places = self.places(calls.len());
        let windows = self.windows(&calls, &places, cx);
        let mut results = Vec::with_capacity(calls.len());
        for window in windows {
            let width = self.base.bot.agent.max_parallel_tools.max(1);
            let runs = calls[window.clone()]
                .iter()
                .zip(&places[window])
                .map(|(call, place)| self.run(call, *place, cx, false));
            let mut window = futures::stream::iter(runs.collect::<Vec<_>>()).buffered(width);
            while let Some(result) = window.next().await {
                each(&result);
                results.push(result);
            }
        }
        results
    }

    fn places(&self, count: usize) -> Vec<Ordinal> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        match &self.turn {
            Some(turn) => turn.state.take_places(count),
            None => TurnState::default().next_places(count),
        }
    }

    /// All phases of one call, and everything that is noted about it.
    pub(super) async fn run(
        &self,
        call: &ToolUse,
        place: Ordinal,
        cx: &ToolExecutionContext,
        approved: bool,
    ) -> ToolResult {
        let started = self.base.clock.monotonic();
        let done = self.phases(call, place, cx, approved).await;
        let elapsed = self.base.clock.monotonic().saturating_sub(started);
        self.settle(call, place, cx, done, elapsed).await
    }

    async fn phases<'a>(
        &'a self,
        call: &ToolUse,
        place: Ordinal,
        cx: &ToolExecutionContext,
        approved: bool,
    ) -> Done<'a> {
        if let Some(turn) = &self.turn {
            turn.look_again().await;
        }
        let examined = match self.examine(call, place, cx) {
            Ok(examined) => examined,
            Err(stopped) => return Done::stopped(stopped),
        };
        let answered = match self.approve(&examined, &call.id, cx, approved).await {
            Ok(answered) => answered,
            Err(error) => return Done::refused(examined, error),
        };
        if cx.cancellation.requested() {
            return Done::refused(examined, cancelled());
        }
        if is_conversation(examined.tool) {
            let ran = self.run_body(&examined, &call.id, cx).await;
            return Done::ran(examined, ran);
        }
        let pass = match self.pass(&examined) {
            Ok(pass) => pass,
            Err(error) => return Done::refused(examined, error),
        };
        if let Err(error) = self.claim(&examined, &call.id, cx, &answered).await {
            return Done::refused(examined, error);
        }
        if cx.cancellation.requested() {
            return Done::refused(examined, cancelled()).claimed();
        }
        match self.run_guarded(&examined, &call.id, cx, pass).await {
            Ok(ran) => Done::ran(examined, ran).claimed(),
            Err(error) => Done::refused(examined, error).claimed(),
        }
    }

    /// Phases 13 and 14: the result as the caller gets it, and the notes of the turn.
    async fn settle(
        &self,
        call: &ToolUse,
        place: Ordinal,
        cx: &ToolExecutionContext,
        done: Done<'_>,
        elapsed: Duration,
    ) -> ToolResult {
        let name = done.tool.map_or_else(|| call.name.clone(), |t| t.qualified.to_string());
        let started = done.claimed || matches!(done.end, End::Ran(_));
        let (status, raw, body) = done.end.parts();
        let print = project::fingerprint(&raw);
        let stderr = raw.metadata.get("stderr").cloned();
        let mut result = self.present(raw, &call.id, &name, done.tool);
        let feedback = match (&body, &done.frozen) {
            (Some(body), Some(frozen)) if body.known && done.claimed => {
                self.hooks_after(&result, body.is_error, &frozen.arguments, cx).await
            }
            _ => Vec::new(),
        };
        if let Some(tool) = done.tool {
            result = self.keep(result, tool, cx).await;
        }
        result.hook_feedback = self.redacted(feedback);
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        result.stats.insert("elapsed_ms".into(), elapsed_ms.into());
        let status = if result.is_error && status == CallStatus::Completed { CallStatus::Failed } else { status };
        self.observe(&result, status, elapsed);
        let Some(turn) = &self.turn else { return result };
        if is_loop_block(&result) {
            turn.state.note_block();
        } else if let Some(key) = done.key {
            turn.state.note_result(key, print);
        }
        let record = CallRecord {
            number: place.in_turn,
            call_id: call.id.clone(),
            tool: name,
            owner: done.tool.map(|t| t.owner().to_string()),
            arguments: match &done.frozen {
                Some(frozen) => Value::Object(frozen.arguments.clone()),
                None => arguments::as_sent(call),
            },
            status,
            error: result.error.clone(),
            duration_ms: elapsed_ms,
        };
        let hash = done.frozen.as_ref().map(|f| f.args_hash.as_str());
        self.note_end(
            turn,
            &record,
            cx,
            super::claim::Facts { args_hash: hash, body: project::body_word(body.as_ref()), stderr, started },
        )
        .await;
        turn.state.note_record(record);
        result
    }
}

impl ToolExecutor {
    fn observe(&self, result: &ToolResult, status: CallStatus, took: Duration) {
        let Some(observer) = &self.base.fittings.observer else { return };
        observer.finished(&ToolObservation {
            tool: result.tool_name.clone(),
            call_id: result.tool_use_id.clone(),
            code: result.error.as_ref().map(|e| e.code.clone()),
            status,
            took,
        });
    }
}

/// What the phases gave.
struct Done<'a> {
    tool: Option<&'a Tool>,
    key: Option<String>,
    frozen: Option<arguments::Frozen>,
    end: End,
    /// Whether `tool.started` is in the journal.
    claimed: bool,
}

enum End {
    Refused(ToolError),
    Ran(Box<Ran>),
}

impl End {
    fn parts(self) -> (CallStatus, ToolResult, Option<BodyEnd>) {
        match self {
            End::Refused(error) => {
                let status = match error.code.as_str() {
                    "CANCELLED" => CallStatus::Cancelled,
                    "OUTCOME_UNKNOWN" => CallStatus::Unknown,
                    _ => CallStatus::Denied,
                };
                (status, ToolResult::error(error), None)
            }
            End::Ran(ran) => (ran.status, ran.result, ran.body),
        }
    }
}

impl<'a> Done<'a> {
    fn stopped(s: Box<Stopped<'a>>) -> Self {
        Self { tool: s.tool, key: s.key, frozen: s.frozen, end: End::Refused(s.error), claimed: false }
    }

    fn refused(examined: Examined<'a>, error: ToolError) -> Self {
        let key = Some(examined.key());
        Self { tool: Some(examined.tool), key, frozen: Some(examined.frozen), end: End::Refused(error), claimed: false }
    }

    fn ran(examined: Examined<'a>, ran: Ran) -> Self {
        let key = Some(examined.key());
        let end = End::Ran(Box::new(ran));
        Self { tool: Some(examined.tool), key, frozen: Some(examined.frozen), end, claimed: false }
    }

    fn claimed(self) -> Self {
        Self { claimed: true, ..self }
    }
}

fn is_loop_block(result: &ToolResult) -> bool {
    result.error.as_ref().is_some_and(|e| e.code == "LOOP_BLOCKED")
}

/// Known not to have started.
pub(super) fn cancelled() -> ToolError {
    ToolError::new("CANCELLED", "the turn was stopped before this call started").retryable()
}
