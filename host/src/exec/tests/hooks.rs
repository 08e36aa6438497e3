//! Hooks around a call.

use super::*;
use plugin_sdk::{
    CancellationSignal, ContentBlock, HookError, HookEvent, HookEventKind, HookHandler, HookPayload, HookRegistration,
    HookResult, ImageData,
};

type Log = Arc<Mutex<Vec<String>>>;

/// A hook that notes its runs and answers like this.
fn hook<F, R>(kind: HookEventKind, name: &str, f: F) -> HookRegistration
where
    F: Fn(HookEvent) -> R + Send + Sync + 'static,
    R: Future<Output = Result<HookResult, HookError>> + Send + 'static,
{
    HookRegistration::new(kind, name, f)
}

fn noting(log: &Log, kind: HookEventKind, name: &'static str) -> HookRegistration {
    let log = Arc::clone(log);
    hook(kind, name, move |_| {
        log.lock().unwrap().push(name.to_string());
        async { Ok(HookResult::nothing()) }
    })
}

fn dispatcher(hooks: Vec<HookRegistration>) -> Arc<HookDispatcher> {
    Arc::new(HookDispatcher::new(hooks).unwrap())
}

/// A `tool.after` hook that says what it was told of the body.
pub(super) fn after_hook(log: &Log) -> Arc<HookDispatcher> {
    let log = Arc::clone(log);
    dispatcher(vec![hook(HookEventKind::ToolAfter, "says", move |event| {
        let HookPayload::ToolAfter { body_status, .. } = event.payload else { panic!("another event") };
        let word = serde_json::to_value(body_status).unwrap();
        log.lock().unwrap().push("after".into());
        async move { Ok(HookResult::feedback(format!("body was {}", word.as_str().unwrap()))) }
    })])
}

/// A hook of a folder.
fn bound(registration: &HookRegistration, change: impl FnOnce(&mut BoundHook)) -> BoundHook {
    let mut hook = BoundHook {
        name: registration.name().into(),
        owner: "maps".into(),
        events: vec![registration.event()],
        tools: Vec::new(),
        limit: Duration::from_secs(10),
        continue_on_failure: false,
        agent: None,
        skill: None,
        handler: Arc::clone(registration.handler()),
    };
    change(&mut hook);
    hook
}

fn counted(runs: &Arc<AtomicUsize>) -> Body {
    let runs = Arc::clone(runs);
    body(move |input, _| {
        runs.fetch_add(1, Ordering::SeqCst);
        async move { ToolResult::text(Value::Object(input).to_string()) }
    })
}

#[tokio::test]
async fn hooks_run_in_order_on_their_own_copies_and_the_first_rejection_ends_the_call() {
    let (log, runs) = (Log::default(), Arc::new(AtomicUsize::new(0)));
    let before = HookEventKind::ToolBefore;
    let meddles = hook(before, "meddles", |mut event| async move {
        if let HookPayload::ToolBefore { arguments, .. } = &mut event.payload {
            arguments.insert("x".into(), json!("changed"));
        }
        Ok(HookResult::nothing())
    });
    let rejects = hook(before, "rejects", |event| async move {
        let (tool, arguments) = event.call().unwrap();
        Ok(HookResult::deny(format!("no {tool} with {}", arguments["x"])))
    });
    let mut w = World::new().tool("t", reads(), counted(&runs)).tool("free", reads(), counted(&runs));
    w.hooks = dispatcher(vec![
        noting(&log, before, "one"),
        meddles,
        rejects.tool_names(["t"]),
        noting(&log, before, "never"),
    ]);
    let result = w.call("t", json!({"x": 1})).await;
    assert_eq!(result.model_content(), "Error[HOOK_REJECTED]: no t with 1");
    assert!(!error(&result).retryable);
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    assert_eq!(*log.lock().unwrap(), ["one"]);
    assert_eq!(w.kinds().await, ["tool.started", "tool.finished"], "the refusal is journaled");
    assert_eq!(w.events().await[1].1["effect"], "denied");
    assert_eq!(w.call("free", json!({})).await.model_content(), "{}");
    assert_eq!(*log.lock().unwrap(), ["one", "one", "never"]);
}

#[tokio::test]
async fn a_failing_check_refuses_unless_it_says_continue() {
    let before = HookEventKind::ToolBefore;
    let fails = || hook(before, "fails", |_| async { Err(HookError::Failed("disk full".into())) });
    let panics = || hook(before, "panics", |_| async { panic!("boom") });
    let wrong = || hook(before, "wrong", |_| async { Ok(HookResult::feedback("not here")) });
    let blank = || hook(before, "blank", |_| async { Ok(HookResult::deny(" ")) });
    let cancelled = || hook(before, "cancelled", |_| async { Err(HookError::Cancelled) });
    for make in [fails(), panics(), wrong(), blank(), cancelled()] {
        let runs = Arc::new(AtomicUsize::new(0));
        let mut w = World::new().tool("t", reads(), counted(&runs));
        w.hooks = Arc::new(HookDispatcher::of(vec![bound(&make, |_| {})]));
        let result = w.call("t", json!({})).await;
        assert_eq!((code(&result), runs.load(Ordering::SeqCst)), ("HOOK_ERROR", 0), "{}", make.name());
        assert!(!result.model_content().contains("disk full"), "the cause is for admins");
        let lenient = vec![bound(&make, |h| h.continue_on_failure = true)];
        w.hooks = Arc::new(HookDispatcher::of(lenient));
        assert_eq!(code(&w.call("t", json!({})).await), "", "{}", make.name());
        assert_eq!(w.hooks.failures(), 1);
    }
}

#[tokio::test]
async fn a_check_has_its_own_limit_and_its_late_answer_is_discarded() {
    let (log, runs) = (Log::default(), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&log);
    let slow = hook(HookEventKind::ToolBefore, "slow", move |event| {
        let log = Arc::clone(&seen);
        async move {
            event.cancellation.cancelled().await;
            log.lock().unwrap().push("late".into());
            Ok(HookResult::nothing())
        }
    });
    let mut w = World::new().tool("t", reads(), counted(&runs));
    w.hooks = dispatcher(vec![slow.timeout_seconds(2.5)]);
    let executor = w.turn();
    let call = executor.execute_one(ToolUse::new("c1", "t", json!({})), &w.cx, None);
    let (result, ()) = tokio::join!(call, async {
        settle().await;
        w.clock.advance(Duration::from_millis(2_500));
        settle().await;
    });
    assert_eq!((code(&result), runs.load(Ordering::SeqCst)), ("HOOK_ERROR", 0));
    assert!(error(&result).details["cause"].as_str().unwrap().contains("2.5 s"));
    assert!(log.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_stop_and_an_unknown_end_pass_through_a_check() {
    let waits = hook(HookEventKind::ToolBefore, "waits", |_| futures::future::pending());
    let unknown =
        hook(HookEventKind::ToolBefore, "unknown", |_| async { Err(HookError::OutcomeUnknown("still there".into())) });
    let runs = Arc::new(AtomicUsize::new(0));
    let mut w = World::new().tool("t", writes(), counted(&runs));
    w.hooks = dispatcher(vec![unknown]);
    assert_eq!(code(&w.call("t", json!({})).await), "OUTCOME_UNKNOWN");
    w.hooks = dispatcher(vec![waits]);
    w.cx.cancellation = CancellationSignal::new();
    let executor = w.turn();
    let call = executor.execute_one(ToolUse::new("c1", "t", json!({})), &w.cx, None);
    let (result, ()) = tokio::join!(call, async {
        settle().await;
        w.cx.cancellation.request();
    });
    assert_eq!((code(&result), runs.load(Ordering::SeqCst)), ("CANCELLED", 0));
}

#[tokio::test]
async fn after_hooks_hear_only_of_bodies_that_ran() {
    let log = Log::default();
    let mut w = World::new()
        .tool("fine", reads(), echo())
        .tool("bad", reads(), body(|_, _| async { ToolResult::error(ToolError::new("BAD", "no")) }))
        .tool("slow", reads(), body(|_, _| futures::future::pending()))
        .tool("asks", asks(), echo());
    w.hooks = after_hook(&log);
    assert_eq!(w.call("fine", json!({"a": 1})).await.model_content(), "{\"a\":1}\n[Hook feedback] body was success");
    assert_eq!(w.call("bad", json!({})).await.model_content(), "Error[BAD]: no\n[Hook feedback] body was error");
    log.lock().unwrap().clear();
    assert_eq!(code(&w.turn().execute_one(ToolUse::raw("c", "fine", "{"), &w.cx, None).await), "MALFORMED_ARGUMENTS");
    assert_eq!(code(&w.call("asks", json!({})).await), "APPROVAL_UNAVAILABLE");
    let executor = w.turn();
    let call = executor.execute_one(ToolUse::new("c1", "slow", json!({})), &w.cx, None);
    let (result, ()) = tokio::join!(call, async {
        settle().await;
        w.clock.advance(Duration::from_secs(60));
    });
    assert_eq!(code(&result), "TOOL_TIMEOUT");
    assert!(log.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_error_with_images_and_feedback_keeps_its_order() {
    let image = |data: &str| ContentBlock::Image { image: ImageData { mime: "image/png".into(), data: data.into() } };
    let (one, two) = (image("AAAA"), image("BBBB"));
    let blocks = vec![one.clone(), ContentBlock::text("dropped"), two.clone()];
    let failing = body(move |_, _| {
        let content = blocks.clone();
        async move { ToolResult { content, ..ToolResult::error(ToolError::new("BAD", "no")) } }
    });
    let mut w = World::new().tool("t", reads(), failing);
    w.hooks = dispatcher(vec![
        hook(HookEventKind::ToolAfter, "a", |_| async { Ok(HookResult::feedback("first")) }),
        hook(HookEventKind::ToolAfter, "broken", |_| async { panic!("boom") }),
        hook(HookEventKind::ToolAfter, "b", |_| async { Ok(HookResult::feedback("second")) }),
    ]);
    let result = w.call("t", json!({})).await;
    let text = |t: &str| ContentBlock::text(t);
    let expected = [text("Error[BAD]: no"), one, two, text("[Hook feedback] first"), text("[Hook feedback] second")];
    assert_eq!(result.model_blocks(), expected);
    assert_eq!(w.hooks.failures(), 1);
}

/// What is chosen and loaded.
struct Levels(&'static str, &'static str);

impl ActiveLevels for Levels {
    fn is_chosen(&self, agent: &str) -> bool {
        agent == self.0
    }

    fn is_loaded(&self, skill: &str) -> bool {
        skill == self.1
    }
}

#[tokio::test]
async fn hooks_of_agents_and_skills_act_only_while_theirs_is_active() {
    let log = Log::default();
    let kinds = [
        ("plugin", None, None),
        ("agent", Some("a"), None),
        ("skill", None, Some("s")),
        ("both", Some("a"), Some("s")),
    ];
    let hooks = || {
        kinds.map(|(name, agent, skill)| {
            bound(&noting(&log, HookEventKind::ToolBefore, name), |h| {
                h.agent = agent.map(str::to_string);
                h.skill = skill.map(str::to_string);
            })
        })
    };
    for (agent, skill, expected) in [
        ("", "", vec!["plugin"]),
        ("a", "", vec!["plugin", "agent"]),
        ("", "s", vec!["plugin", "skill"]),
        ("a", "s", vec!["plugin", "agent", "skill", "both"]),
    ] {
        let mut w = World::new().tool("t", reads(), echo());
        let levels: Arc<dyn ActiveLevels> = Arc::new(Levels(agent, skill));
        w.hooks = Arc::new(HookDispatcher::of(hooks().to_vec()).for_turn(Some(levels)));
        w.call("t", json!({})).await;
        assert_eq!(*log.lock().unwrap(), expected);
        log.lock().unwrap().clear();
    }
}

/// Stands for a program.
struct Program(Log);

#[async_trait]
impl HookHandler for Program {
    async fn handle(&self, event: HookEvent) -> Result<HookResult, HookError> {
        self.0.lock().unwrap().push(format!("program {}", event.event));
        Ok(HookResult::nothing())
    }

    fn runs_program(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn programs_do_not_hear_of_a_run_without_an_answer() {
    let log = Log::default();
    let program = HookRegistration::new(HookEventKind::RunFinished, "program", Program(Arc::clone(&log)));
    let hooks = dispatcher(vec![program, noting(&log, HookEventKind::RunFinished, "code")]);
    let w = World::new();
    let scene = HookScene::of(&w.cx, "a1".into(), w.clock.shared());
    let payload = HookPayload::RunFinished { run: Map::new(), result: Map::new() };
    hooks.run_event(HookEventKind::RunFinished, &scene, &payload, false).await;
    assert_eq!(*log.lock().unwrap(), ["code"]);
    hooks.run_event(HookEventKind::RunFinished, &scene, &payload, true).await;
    assert_eq!(*log.lock().unwrap(), ["code", "program run.finished", "code"]);
}

#[test]
fn broken_registrations_are_refused_together() {
    let hook = |name: &str| hook(HookEventKind::RunStarted, name, |_| async { Ok(HookResult::nothing()) });
    let faults = HookDispatcher::new(vec![hook(" "), hook("x").timeout_seconds(0.0), hook("y").tool_names(["t"])]);
    let codes: Vec<_> = faults.err().unwrap().into_inner().into_iter().map(|d| d.code).collect();
    assert_eq!(codes, ["hook::bad-value", "hook::bad-value", "hook::tools-filter"]);
}

#[tokio::test]
async fn a_nested_call_is_heard_too() {
    let log = Log::default();
    let calls = body(|_, cx| async move { cx.call_tool.unwrap().call_tool("inner", Map::new()).await });
    let mut w = World::new().tool("outer", reads(), calls).tool("inner", reads(), echo());
    let seen = Arc::clone(&log);
    w.hooks = dispatcher(vec![hook(HookEventKind::ToolBefore, "sees", move |event| {
        seen.lock().unwrap().push(event.call().unwrap().0.to_string());
        async { Ok(HookResult::nothing()) }
    })]);
    w.call("outer", json!({})).await;
    assert_eq!(*log.lock().unwrap(), ["outer", "inner"]);
}
