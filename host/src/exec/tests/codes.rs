//! Every code of the executor itself: that it comes, and whether the same call may be tried again.

use super::*;
use plugin_sdk::{
    HookError, HookEvent, HookEventKind, HookRegistration, HookResult, ToolCall, ToolMiddleware, ToolNext,
};

struct Broken;

#[async_trait]
impl ToolMiddleware for Broken {
    async fn wrap_tool_call(&self, _: ToolCall, _: ToolNext) -> Result<ToolResult, ToolError> {
        panic!("boom")
    }
}

/// A world in which one call gives one code.
struct Case {
    world: World,
    call: ToolUse,
    /// Seconds that pass while it runs.
    seconds: u64,
}

fn case(world: World) -> Case {
    Case { world, call: ToolUse::new("c1", "t", json!({})), seconds: 0 }
}

fn hooked<R>(answer: impl Fn() -> R + Send + Sync + 'static) -> World
where
    R: Future<Output = Result<HookResult, HookError>> + Send + 'static,
{
    let mut w = World::new().tool("t", reads(), echo());
    let hook = HookRegistration::new(HookEventKind::ToolBefore, "h", move |_: HookEvent| answer());
    w.hooks = Arc::new(HookDispatcher::new(vec![hook]).unwrap());
    w
}

fn answered(answer: ApprovalAnswer) -> Case {
    let person = Arc::new(Person::says([answer]));
    case(World::new().tool("t", asks(), echo()).person(&person))
}

fn hanging(def: ToolDef, seconds: u64) -> Case {
    Case { seconds, ..case(World::new().tool("t", def, body(|_, _| futures::future::pending()))) }
}

/// Code, whether it may be tried again, and how to get it.
fn cases() -> Vec<(&'static str, bool, Case)> {
    let plain = || World::new().tool("t", reads(), echo());
    let mut not_loaded = plain();
    not_loaded.not_loaded = vec!["t"];
    let mut gone = plain();
    gone.gone = vec!["t"];
    let mut hidden = reads();
    hidden.options.hidden = true;
    let mut closed = reads();
    closed.options.permissions = vec!["role(master)".into()];
    let refused = plain();
    refused.set_policy(|p| p.disabled = vec!["t".into()]);
    let denied = World::new().tool("t", writes(), echo());
    denied.set_policy(|p| p.approval.write_mode = crate::config::Mode::Deny);
    let mut stopped = plain();
    stopped.cx.cancellation = plugin_sdk::CancellationSignal::new();
    stopped.cx.cancellation.request();
    let mut wrapped = plain();
    wrapped.fit = Some(Box::new(|e| e.middleware(vec![Arc::new(Broken)])));
    let fails = |code: &'static str| {
        let work = body(move |_, _| async move { ToolResult::error(ToolError::new(code, "said so").retryable()) });
        case(World::new().tool("t", reads(), work))
    };
    let large = body(|_, _| async { ToolResult::text("x".repeat(9 << 20)) });
    let unsaved = World::new().tool("t", reads(), body(|_, _| async { ToolResult::text("x".repeat(60_000)) }));
    std::fs::write(unsaved.dir.path().join("artifacts"), "in the way").unwrap();
    let of = |call| Case { call, ..case(plain()) };
    vec![
        ("NOT_FOUND", false, of(ToolUse::new("c1", "nope", json!({})))),
        ("TOOL_NOT_ALLOWED", true, case(not_loaded)),
        ("TOOL_NOT_ALLOWED", false, case(gone)),
        ("TOOL_NOT_ALLOWED", false, case(refused)),
        ("TOOL_NOT_ALLOWED", false, case(World::new().tool("t", hidden, echo()))),
        ("TOOL_NOT_ALLOWED", false, case(World::new().tool("t", closed, echo()))),
        ("MALFORMED_ARGUMENTS", true, of(ToolUse::raw("c1", "t", "[]"))),
        ("VALIDATION_ERROR", true, {
            let strict = reads().input_schema(json!({"type": "object", "required": ["x"]}));
            case(World::new().tool("t", strict, echo()))
        }),
        ("PERMISSION_ERROR", false, case(denied)),
        ("APPROVAL_REJECTED", false, answered(ApprovalAnswer::Rejected("telegram:1".into()))),
        ("APPROVAL_EXPIRED", false, answered(ApprovalAnswer::Expired)),
        ("APPROVAL_UNAVAILABLE", false, case(World::new().tool("t", asks(), echo()))),
        ("CANCELLED", true, case(stopped)),
        ("HOOK_REJECTED", false, case(hooked(|| async { Ok(HookResult::deny("no")) }))),
        ("HOOK_ERROR", false, case(hooked(|| async { Err(HookError::Failed("broken".into())) }))),
        ("MIDDLEWARE_ERROR", false, case(wrapped)),
        ("EXECUTION_ERROR", false, case(World::new().tool("t", reads(), body(|_, _| async { panic!("boom") })))),
        ("EXECUTION_ERROR", false, fails("CALL_DEPTH")),
        ("EXECUTION_ERROR", false, fails("PATH_DENIED")),
        ("NO_SUCH_CITY", true, fails("NO_SUCH_CITY")),
        ("TOOL_TIMEOUT", true, hanging(reads(), 60)),
        ("OUTCOME_UNKNOWN", false, hanging(writes(), 65)),
        ("RESULT_TOO_LARGE", false, case(World::new().tool("t", reads(), large))),
        ("ARTIFACT_ERROR", false, case(unsaved)),
    ]
}

#[tokio::test]
async fn each_code_comes_and_says_whether_to_try_again() {
    for (expected, again, case) in cases() {
        let w = &case.world;
        let executor = w.turn();
        let call = executor.execute_one(case.call, &w.cx, None);
        let (result, ()) = tokio::join!(call, async {
            for _ in 0..case.seconds {
                settle().await;
                w.clock.advance(Duration::from_secs(1));
            }
        });
        let error = error(&result);
        assert_eq!((error.code.as_str(), error.retryable), (expected, again), "{error:?}");
        assert!(result.model_content().starts_with(&format!("Error[{expected}]: ")));
        assert_eq!(result.tool_use_id, "c1");
    }
}
