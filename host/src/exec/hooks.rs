//! The hooks of a turn: which of them an event reaches, in which order, and what their answers do.

use crate::admission::NamePattern;
use crate::index::Hook;
use crate::loader::{OnFailure, Placement};
use crate::task::{GuardError, SharedClock, guard};
use chrono::SubsecRound;
use plugin_sdk::{
    CancellationSignal, Diagnostics, HookError, HookEvent, HookEventKind, HookHandler, HookPayload, HookRegistration,
    HookResult, PreviewMode, ToolError, ToolExecutionContext,
};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A program ends by itself at its limit; this is for one that does not.
const PROGRAM_GRACE: Duration = Duration::from_secs(5);
/// Characters of one feedback that reach a model.
const FEEDBACK_CHARS: usize = 8_000;

/// A hook that can run: what it is for, whose it is, how long it may take.
#[derive(Clone)]
// SHAPE: 04 §9
pub struct BoundHook {
    /// Its own name.
    pub name: String,
    /// Its owner as shown.
    pub owner: String,
    /// Its events.
    pub events: Vec<HookEventKind>,
    /// Its tools; empty for all.
    pub tools: Vec<NamePattern>,
    /// Limit of one run.
    pub limit: Duration,
    /// A failure before a call lets the call go on.
    pub continue_on_failure: bool,
    /// Acts only while this agent is chosen.
    pub agent: Option<String>,
    /// Acts only while this skill is loaded.
    pub skill: Option<String>,
    /// Its code.
    pub handler: Arc<dyn HookHandler>,
}

impl BoundHook {
    /// A hook of a folder.
    pub fn of(hook: &Hook) -> Self {
        let (agent, skill) = match &hook.level {
            Placement::Plugin => (None, None),
            Placement::Agent(a) => (Some(a.clone()), None),
            Placement::Skill(s) => (None, Some(s.clone())),
            Placement::AgentSkill(a, s) => (Some(a.clone()), Some(Placement::Agent(a.clone()).local(s))),
        };
        let qualified = |local: String| hook.owner.qualify(&local);
        Self {
            name: hook.qualified(),
            owner: hook.owner.to_string(),
            events: hook.source.events.clone(),
            tools: hook.source.tools.iter().map(|t| NamePattern::new(t)).collect(),
            limit: Duration::try_from_secs_f64(hook.source.timeout_seconds).unwrap_or_default(),
            continue_on_failure: hook.source.on_failure == OnFailure::Continue,
            agent: agent.map(qualified),
            skill: skill.map(qualified),
            handler: Arc::clone(&hook.handler),
        }
    }
}

/// Which agent is chosen and which skills are loaded, at the moment of an event.
pub trait ActiveLevels: Send + Sync {
    /// Whether the agent of this qualified name is the turn's.
    fn is_chosen(&self, agent: &str) -> bool;
    /// Whether the skill of this qualified name is loaded.
    fn is_loaded(&self, skill: &str) -> bool;
}

/// Where an event happens: the part that all events of a moment share.
#[derive(Clone)]
// SHAPE: 04 §9
pub struct HookScene {
    /// Agent; blank is `main`.
    pub agent_id: String,
    /// Session key.
    pub session_id: String,
    /// Root of the turn's files.
    pub workspace: String,
    /// Turn id.
    pub run_id: String,
    /// New each time a waiting turn continues.
    pub activation_id: String,
    /// The turn's stop.
    pub cancellation: CancellationSignal,
    /// Time.
    pub clock: SharedClock,
}

impl HookScene {
    /// That of a call.
    pub fn of(cx: &ToolExecutionContext, activation_id: String, clock: SharedClock) -> Self {
        Self {
            agent_id: cx.agent_id.clone(),
            session_id: cx.session_id.clone(),
            workspace: cx.workspace_root.to_string_lossy().into_owned(),
            run_id: cx.turn_id.clone(),
            activation_id,
            cancellation: cx.cancellation.clone(),
            clock,
        }
    }
}

/// How one run of a hook ended.
enum Outcome {
    Answer(HookResult),
    Failed(String),
    Cancelled,
    Unknown(String),
}

/// Runs the hooks of a turn, one after another, each with its own copy and its own limit.
pub struct HookDispatcher {
    hooks: Arc<[BoundHook]>,
    levels: Option<Arc<dyn ActiveLevels>>,
    failures: AtomicU64,
}

impl Default for HookDispatcher {
    fn default() -> Self {
        Self { hooks: Vec::new().into(), levels: None, failures: AtomicU64::new(0) }
    }
}

impl HookDispatcher {
    /// The hooks of a program, in their order.
    pub fn new(registrations: Vec<HookRegistration>) -> Result<Self, Diagnostics> {
        let faults: Vec<_> = registrations.iter().filter_map(|r| r.check().err().map(|d| *d)).collect();
        match Diagnostics::new(faults) {
            Some(faults) => Err(faults),
            None => Ok(Self::of(registrations.iter().map(of_program).collect())),
        }
    }

    /// Bound hooks in run order.
    pub fn of(hooks: Vec<BoundHook>) -> Self {
        Self { hooks: hooks.into(), ..Self::default() }
    }

    /// The same hooks for one turn, with what is chosen and loaded in it.
    #[must_use]
    pub fn for_turn(&self, levels: Option<Arc<dyn ActiveLevels>>) -> Self {
        Self { hooks: Arc::clone(&self.hooks), levels, failures: AtomicU64::new(0) }
    }

    /// Runs that failed so far.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Whether any hook hears of this.
    pub fn concerns(&self, kind: HookEventKind, tool: Option<&str>) -> bool {
        self.hooks.iter().any(|h| self.hears(h, kind, tool))
    }

    fn hears(&self, hook: &BoundHook, kind: HookEventKind, tool: Option<&str>) -> bool {
        let for_tool = || tool.is_none_or(|name| hook.tools.is_empty() || hook.tools.iter().any(|p| p.fits(name)));
        hook.events.contains(&kind) && for_tool() && self.is_active(hook)
    }

    fn is_active(&self, hook: &BoundHook) -> bool {
        let chosen = |agent: &String| self.levels.as_ref().is_some_and(|l| l.is_chosen(agent));
        let loaded = |skill: &String| self.levels.as_ref().is_some_and(|l| l.is_loaded(skill));
        hook.agent.as_ref().is_none_or(chosen) && hook.skill.as_ref().is_none_or(loaded)
    }

    /// Phase 10: the first refusal ends the call.
    pub(super) async fn before(&self, scene: &HookScene, tool: &str, payload: &HookPayload) -> Result<(), ToolError> {
        let kind = HookEventKind::ToolBefore;
        for hook in self.hooks.iter().filter(|h| self.hears(h, kind, Some(tool))) {
            match self.run_one(hook, kind, scene, payload).await {
                Outcome::Answer(HookResult { deny_reason: Some(reason), .. }) => {
                    return Err(ToolError::new("HOOK_REJECTED", reason).detail("hook", hook.name.as_str()));
                }
                Outcome::Answer(_) => {}
                Outcome::Failed(cause) => {
                    self.note_failure(hook, kind, &cause);
                    if !hook.continue_on_failure {
                        return Err(hook_error(hook, cause));
                    }
                }
                Outcome::Cancelled => return Err(super::executor::cancelled()),
                Outcome::Unknown(cause) => {
                    let message = "a check before this call did not end; nothing else ran";
                    let error = ToolError::new("OUTCOME_UNKNOWN", message);
                    return Err(error.detail("hook", hook.name.as_str()).detail("cause", cause));
                }
            }
        }
        Ok(())
    }

    /// Phase 12: the texts for the model.
    pub(super) async fn after(&self, scene: &HookScene, tool: &str, payload: &HookPayload) -> Vec<String> {
        let kind = HookEventKind::ToolAfter;
        let mut feedback = Vec::new();
        for hook in self.hooks.iter().filter(|h| self.hears(h, kind, Some(tool))) {
            match self.run_one(hook, kind, scene, payload).await {
                Outcome::Answer(HookResult { feedback: Some(text), .. }) if !text.trim().is_empty() => {
                    feedback.push(super::preview(&text, FEEDBACK_CHARS, PreviewMode::HeadTail));
                }
                Outcome::Answer(_) => {}
                Outcome::Failed(cause) => self.note_failure(hook, kind, &cause),
                // The result of the call is known and stays; nothing more is started in a stopped turn.
                Outcome::Cancelled => break,
                Outcome::Unknown(cause) => {
                    self.note_failure(hook, kind, &cause);
                    break;
                }
            }
        }
        feedback
    }

    /// `run.started` and `run.finished`. Programs hear of the end only when there was an answer.
    pub async fn run_event(&self, kind: HookEventKind, scene: &HookScene, payload: &HookPayload, answered: bool) {
        let quiet = |h: &BoundHook| kind == HookEventKind::RunFinished && !answered && h.handler.runs_program();
        for hook in self.hooks.iter().filter(|h| self.hears(h, kind, None) && !quiet(h)) {
            match self.run_one(hook, kind, scene, payload).await {
                Outcome::Answer(_) => {}
                Outcome::Failed(cause) => self.note_failure(hook, kind, &cause),
                Outcome::Cancelled => break,
                Outcome::Unknown(cause) => {
                    self.note_failure(hook, kind, &cause);
                    break;
                }
            }
        }
    }

    fn note_failure(&self, hook: &BoundHook, kind: HookEventKind, cause: &str) {
        let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::warn!(hook = %hook.name, owner = %hook.owner, event = %kind, cause, failures, "a hook failed");
    }

    async fn run_one(
        &self,
        hook: &BoundHook,
        kind: HookEventKind,
        scene: &HookScene,
        payload: &HookPayload,
    ) -> Outcome {
        let signal = scene.cancellation.child();
        let event = HookEvent {
            event: kind,
            agent_id: if scene.agent_id.is_empty() { "main".into() } else { scene.agent_id.clone() },
            session_id: scene.session_id.clone(),
            workspace: scene.workspace.clone(),
            run_id: scene.run_id.clone(),
            activation_id: scene.activation_id.clone(),
            occurred_at: scene.clock.now().trunc_subsecs(3),
            payload: payload.clone(),
            cancellation: signal.clone(),
            timeout_seconds: hook.limit.as_secs_f64(),
        };
        let is_program = hook.handler.runs_program();
        let limit = if is_program { hook.limit.saturating_add(PROGRAM_GRACE) } else { hook.limit };
        let mut work = pin!(guard(&hook.owner, None, &scene.clock, hook.handler.handle(event)));
        let stopped = tokio::select! {
            biased;
            ended = &mut work => return judged(ended, kind, scene),
            () = scene.cancellation.cancelled() => Outcome::Cancelled,
            () = scene.clock.sleep(limit) => Outcome::Failed(format!("no answer within {} s", hook.limit.as_secs_f64())),
        };
        signal.request();
        if is_program {
            // It is being killed: its end is awaited, its answer is not wanted any more.
            let ended = tokio::select! {
                biased;
                ended = &mut work => Some(ended),
                () = scene.clock.sleep(PROGRAM_GRACE) => None,
            };
            if let Some(Ok(Err(HookError::OutcomeUnknown(cause)))) = ended {
                return Outcome::Unknown(cause);
            }
        }
        stopped
    }
}

/// What the end of a hook's code means.
fn judged(ended: Result<Result<HookResult, HookError>, GuardError>, kind: HookEventKind, scene: &HookScene) -> Outcome {
    match ended {
        Ok(Ok(answer)) => match answer.misplaced(kind) {
            Some(key) => Outcome::Failed(format!("it answered `{key}`, which `{kind}` does not have")),
            None if answer.deny_reason.as_ref().is_some_and(|r| r.trim().is_empty()) => {
                Outcome::Failed("its `deny_reason` is blank".into())
            }
            None => Outcome::Answer(answer),
        },
        Ok(Err(HookError::Failed(cause))) => Outcome::Failed(cause),
        Ok(Err(HookError::Cancelled)) if scene.cancellation.requested() => Outcome::Cancelled,
        Ok(Err(HookError::Cancelled)) => Outcome::Failed("it says it was cancelled, which nobody did".into()),
        Ok(Err(HookError::OutcomeUnknown(cause))) => Outcome::Unknown(cause),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

fn hook_error(hook: &BoundHook, cause: String) -> ToolError {
    let message = format!("the check `{}` before this call failed, so the call was not run", hook.name);
    ToolError::new("HOOK_ERROR", message).detail("hook", hook.name.as_str()).detail("cause", cause)
}

fn of_program(registration: &HookRegistration) -> BoundHook {
    BoundHook {
        name: registration.name().to_string(),
        owner: "program".into(),
        events: vec![registration.event()],
        tools: registration.filter().unwrap_or_default().iter().map(|t| NamePattern::new(t)).collect(),
        limit: Duration::try_from_secs_f64(registration.limit_seconds()).unwrap_or_default(),
        continue_on_failure: false,
        agent: None,
        skill: None,
        handler: Arc::clone(registration.handler()),
    }
}
