//! An executor of an embedding program, without a turn.

use super::*;
use crate::config::Mode;

fn bare(w: &World) -> ToolExecutor {
    ToolExecutor::new(w.index())
}

async fn one(executor: &ToolExecutor, w: &World, name: &str, approved: Option<&str>) -> ToolResult {
    executor.execute_one(ToolUse::new("c1", name, json!({})), &w.cx, approved).await
}

fn world() -> World {
    let mut execute = writes();
    execute.options.capabilities = Some(vec![Capability::Execute]);
    World::new().tool("read", reads(), echo()).tool("write", writes(), echo()).tool("run", execute, echo())
}

#[tokio::test]
async fn by_default_reading_runs_and_the_rest_needs_a_person() {
    let w = world();
    let executor = bare(&w);
    assert!(!one(&executor, &w, "read", None).await.is_error);
    for name in ["write", "run"] {
        assert_eq!(code(&one(&executor, &w, name, None).await), "HITL_REQUIRED", "{name}");
        assert_eq!(code(&one(&executor, &w, name, Some("another")).await), "HITL_REQUIRED", "{name}");
        assert_eq!(code(&one(&executor, &w, name, Some("c1")).await), "", "{name}");
    }
    let open = executor.clone().permission_policy(Arc::new(DefaultPermissionPolicy::new().write_mode(Mode::Allow)));
    assert_eq!(code(&one(&open, &w, "write", None).await), "");
    assert_eq!(code(&one(&open, &w, "run", None).await), "HITL_REQUIRED");
    let closed = executor.permission_policy(Arc::new(DefaultPermissionPolicy::new().execute_mode(Mode::Deny)));
    assert_eq!(code(&one(&closed, &w, "run", Some("c1")).await), "PERMISSION_ERROR", "a deny beats the approval");
}

/// A policy of a program.
struct Own(fn() -> PermissionDecision);

impl PermissionPolicy for Own {
    fn check(&self, _: &Tool, _: &Map<String, Value>, _: &ToolExecutionContext) -> PermissionDecision {
        (self.0)()
    }
}

#[tokio::test]
async fn a_programs_policy_decides_and_its_failure_denies() {
    let w = world();
    for (policy, expected) in [
        (Own(PermissionDecision::allow), ""),
        (Own(|| PermissionDecision::deny("never here").unwrap()), "PERMISSION_ERROR"),
        (Own(|| PermissionDecision::require_human("big").unwrap()), "HITL_REQUIRED"),
        (Own(|| panic!("boom")), "PERMISSION_ERROR"),
    ] {
        let executor = bare(&w).permission_policy(Arc::new(policy));
        let result = one(&executor, &w, "write", None).await;
        assert_eq!(code(&result), expected);
        if expected == "PERMISSION_ERROR" {
            assert!(error(&result).details["reason"].as_str().is_some_and(|r| !r.is_empty()));
        }
    }
    assert_eq!(PermissionDecision::deny(" \n"), Err(BlankReason));
    assert_eq!(PermissionDecision::require_human(""), Err(BlankReason));
}

#[tokio::test]
async fn a_program_is_started_only_in_places_that_were_lent() {
    let mut w = World::new().tool("cmd", reads(), echo());
    w.tools[0].runtime = "command";
    let executor = bare(&w);
    let refused = one(&executor, &w, "cmd", None).await;
    assert_eq!((code(&refused), error(&refused).retryable), ("COMMAND_UNAVAILABLE", false));
    let host = crate::runtime::command::HostEnv { path: "/usr/bin:/bin".into(), timezone: "UTC".into() };
    let tasks = crate::task::Tasks::new();
    let pool = crate::runtime::command::CommandPool::new(1, w.clock.shared(), w.dir.path(), tasks, host);
    let executor = executor.command_binding(CommandBinding::new(Arc::new(pool)));
    assert_eq!(code(&one(&executor, &w, "cmd", None).await), "");
}

#[derive(Default)]
struct Seen(Mutex<Vec<ToolObservation>>);

impl ToolObserver for Seen {
    fn finished(&self, call: &ToolObservation) {
        self.0.lock().unwrap().push(call.clone());
    }
}

#[tokio::test]
async fn hooks_breaker_and_observer_work_without_a_turn() {
    let w = world().tool("bad", reads(), body(|_, _| async { panic!("boom") }));
    let seen = Arc::new(Seen::default());
    let log = Arc::default();
    let executor = bare(&w)
        .hook_dispatcher(super::hooks::after_hook(&log))
        .circuit_breaker(CircuitBreaker::new(1, 30.0))
        .observability(Arc::clone(&seen) as Arc<dyn ToolObserver>);
    assert_eq!(one(&executor, &w, "read", None).await.model_content(), "{}\n[Hook feedback] body was success");
    assert_eq!(code(&one(&executor, &w, "bad", None).await), "EXECUTION_ERROR");
    assert_eq!(code(&one(&executor, &w, "bad", None).await), "CIRCUIT_OPEN");
    let seen = seen.0.lock().unwrap().clone();
    let codes: Vec<_> = seen.iter().map(|o| (o.tool.as_str(), o.code.as_deref().unwrap_or(""))).collect();
    assert_eq!(codes, [("read", ""), ("bad", "EXECUTION_ERROR"), ("bad", "CIRCUIT_OPEN")]);
    assert!(seen.iter().all(|o| o.call_id == "c1"));
    assert!(w.events().await.is_empty());
}
