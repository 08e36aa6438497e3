//! What the calls of a turn run with: the executor's handle, its context, the clock and the way to stop it.

use super::asked::{QuestionLog, TurnApproval, TurnAsk};
use super::context::TurnContext;
use super::hooks;
use super::offered::OfferedStep;
use crate::config::Language;
use crate::exec::{self, ApprovalPort, Countdown, HookDispatcher, ToolExecutor};
use crate::tools::InTurn;
use plugin_sdk::ports::Ask;
use plugin_sdk::{CancellationSignal, HostSlot, Origin, ToolExecutionContext};
use std::sync::Arc;

/// Everything a call needs.
pub(super) struct Hands {
    pub(super) executor: ToolExecutor,
    pub(super) hooks: Arc<HookDispatcher>,
    pub(super) call_cx: ToolExecutionContext,
    pub(super) countdown: Countdown,
    /// Ends with the turn's stop, and when the turn's clock runs out.
    pub(super) cancel: CancellationSignal,
}

impl Hands {
    pub(super) fn of(cx: &TurnContext, turn: Arc<InTurn>, countdown: Countdown, log: &QuestionLog) -> Self {
        let cancel = cx.ports.stop.signal().child();
        let mut gates = cx.calls.gates.clone();
        gates.approval = gates.approval.map(|port| {
            Arc::new(TurnApproval { port, events: cx.ports.events.clone(), log: log.clone() }) as Arc<dyn ApprovalPort>
        });
        let hooks = hooks::of_turn(cx, &turn.catalog);
        let executor = cx.calls.executor.for_turn(exec::TurnPorts {
            offered: Arc::new(OfferedStep(turn.catalog.clone())),
            owners: cx.calls.owners.clone(),
            policy: cx.calls.policy.clone(),
            facts: cx.about.facts.clone(),
            given_role: cx.about.given_role,
            gates,
            journal: cx.calls.journal.clone(),
            artifacts: cx.calls.artifacts.clone(),
            data_dir: cx.calls.data_dir.clone(),
            countdown: countdown.clone(),
            redactor: cx.calls.redactor.clone(),
            hooks: hooks.clone(),
        });
        Self { executor, hooks, call_cx: call_context(cx, turn, &cancel, log), countdown, cancel }
    }
}

/// The part of a call's context that every call of the turn shares.
fn call_context(
    cx: &TurnContext,
    turn: Arc<InTurn>,
    cancel: &CancellationSignal,
    log: &QuestionLog,
) -> ToolExecutionContext {
    let facts = &cx.about.facts;
    let message_id = &cx.about.message.id;
    let mut call = ToolExecutionContext::new(cx.about.workspace_root.clone());
    call.generation = cx.with.generation;
    call.origin = Origin {
        kind: cx.about.origin,
        conversation: facts.conversation.clone(),
        message_id: (!message_id.is_empty()).then(|| message_id.clone()),
    };
    call.principal = facts.principal.clone();
    call.policy.unattended = !facts.attended;
    call.question = cx
        .ports
        .question
        .clone()
        .map(|port| Arc::new(TurnAsk { port, events: cx.ports.events.clone(), log: log.clone() }) as Arc<dyn Ask>);
    call.turn_id.clone_from(&cx.about.turn_id);
    call.agent_id = cx.agent().map(|a| a.qualified.clone()).unwrap_or_default();
    call.session_id = cx.about.session.to_string();
    call.cancellation = cancel.clone();
    call.locale = locale(cx.with.bot.bot.language).into();
    call.host = HostSlot::new(turn);
    call
}

fn locale(language: Language) -> &'static str {
    match language {
        Language::En => "en",
        Language::Zh => "zh",
    }
}
