//! The hooks of a turn: which act at a moment, and the two events of the run itself.

use super::context::TurnContext;
use super::run::Run;
use super::words::in_words;
use super::{TurnOutcome, TurnReport};
use crate::catalog::Controller;
use crate::exec::{ActiveLevels, HookDispatcher, HookScene};
use crate::task::Tasks;
use plugin_sdk::{CancellationSignal, HookEventKind, HookPayload};
use serde_json::{Map, Value, json};
use std::any::Any;
use std::sync::Arc;

/// What is chosen and loaded in this turn.
struct Levels {
    agent: Option<String>,
    catalog: Arc<Controller>,
}

impl ActiveLevels for Levels {
    fn is_chosen(&self, agent: &str) -> bool {
        self.agent.as_deref() == Some(agent)
    }

    fn is_loaded(&self, skill: &str) -> bool {
        self.catalog.has_loaded(skill)
    }
}

/// The hooks of the turn.
pub(super) fn of_turn(cx: &TurnContext, catalog: &Arc<Controller>) -> Arc<HookDispatcher> {
    let levels = Levels { agent: chosen(cx), catalog: catalog.clone() };
    cx.calls.executor.turn_hooks(Some(Arc::new(levels)))
}

/// The qualified name of the chosen agent.
fn chosen(cx: &TurnContext) -> Option<String> {
    cx.agent().map(|a| a.qualified.clone())
}

impl Run<'_> {
    /// `run.started`.
    pub(super) async fn tell_started(&self) {
        if !self.hands.hooks.concerns(HookEventKind::RunStarted, None) {
            return;
        }
        let payload = HookPayload::RunStarted { run: self.described(), input: in_words(&self.cx.about.message, 0) };
        let scene = self.scene(self.hands.call_cx.cancellation.clone());
        self.hands.hooks.run_event(HookEventKind::RunStarted, &scene, &payload, true).await;
    }

    /// `run.finished`, for when the turn is kept: a stop that ended it does not silence this.
    pub(super) fn finished(&self, report: &TurnReport) -> Finished {
        let result = object(json!({
            "outcome": report.outcome.as_str(),
            "detail": report.outcome.detail(),
            "text": report.text,
        }));
        let payload = HookPayload::RunFinished { run: self.described(), result };
        let answered = report.outcome == TurnOutcome::Completed;
        let scene = self.scene(CancellationSignal::new());
        Finished { hooks: self.hands.hooks.clone(), scene, payload, answered, hold: self.cx.with.hold.clone() }
    }

    fn scene(&self, cancellation: CancellationSignal) -> HookScene {
        let activation = self.hands.executor.activation();
        let scene = HookScene::of(&self.hands.call_cx, activation, self.cx.ports.clock.clone());
        HookScene { cancellation, ..scene }
    }

    /// What a hook is told of the run.
    fn described(&self) -> Map<String, Value> {
        let about = &self.cx.about;
        object(json!({
            "generation": self.cx.with.generation,
            "origin": about.origin,
            "conversation": about.facts.conversation.to_string(),
            "principal": about.facts.principal.id(),
            "role": about.facts.principal.role,
        }))
    }
}

/// The last event of a run. Whoever waits for the answer need not wait for it.
pub(super) struct Finished {
    hooks: Arc<HookDispatcher>,
    scene: HookScene,
    payload: HookPayload,
    answered: bool,
    /// Hooks run in the generation of their turn.
    hold: Arc<dyn Any + Send + Sync>,
}

impl Finished {
    /// Tells every hook that wants to know, in `tasks` where there are any.
    pub(super) async fn tell(self, tasks: Option<&Tasks>) {
        let kind = HookEventKind::RunFinished;
        if !self.hooks.concerns(kind, None) {
            return;
        }
        let telling = async move {
            self.hooks.run_event(kind, &self.scene, &self.payload, self.answered).await;
            drop(self.hold);
        };
        match tasks {
            Some(tasks) => drop(tasks.spawn("run finished", telling)),
            None => telling.await,
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(map) = value { map } else { Map::new() }
}
