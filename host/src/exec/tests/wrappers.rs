//! Middleware of an embedding program.

use super::*;
use plugin_sdk::{CancellationSignal, ToolCall, ToolMiddleware, ToolNext};

type Log = Arc<Mutex<Vec<String>>>;
type Wrap = Arc<dyn Fn(ToolCall, ToolNext) -> BoxFuture<'static, Result<ToolResult, ToolError>> + Send + Sync>;

struct Wrapper(Wrap);

#[async_trait]
impl ToolMiddleware for Wrapper {
    async fn wrap_tool_call(&self, call: ToolCall, next: ToolNext) -> Result<ToolResult, ToolError> {
        (self.0)(call, next).await
    }
}

fn wrapper<F, R>(f: F) -> Arc<dyn ToolMiddleware>
where
    F: Fn(ToolCall, ToolNext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<ToolResult, ToolError>> + Send + 'static,
{
    Arc::new(Wrapper(Arc::new(move |call, next| Box::pin(f(call, next)))))
}

/// Says when it comes and goes.
fn noted(log: &Log, name: &'static str) -> Arc<dyn ToolMiddleware> {
    let log = Arc::clone(log);
    wrapper(move |call, next| {
        let log = Arc::clone(&log);
        async move {
            log.lock().unwrap().push(format!("{name} in {}", call.tool_name));
            let result = next.run().await;
            log.lock().unwrap().push(format!("{name} out"));
            result
        }
    })
}

fn logging(log: &Log) -> Body {
    let log = Arc::clone(log);
    body(move |input, _| {
        log.lock().unwrap().push("body".into());
        async move { ToolResult::text(Value::Object(input).to_string()) }
    })
}

fn wrapped(log: &Log, wrappers: Vec<Arc<dyn ToolMiddleware>>) -> World {
    let mut w = World::new().tool("t", reads(), logging(log));
    w.fit = Some(Box::new(move |e| e.middleware(wrappers.clone())));
    w
}

#[tokio::test]
async fn the_first_is_outermost_and_sees_a_copy() {
    let log = Log::default();
    let meddler = wrapper(|mut call, next| async move {
        call.arguments.insert("x".into(), json!("changed"));
        assert_eq!((call.tool_use_id.as_str(), call.run_id.as_str(), call.activation_id.as_str()), ("c1", "t1", "a1"));
        next.run().await
    });
    let w = wrapped(&log, vec![noted(&log, "outer"), meddler, noted(&log, "inner")]);
    assert_eq!(w.call("t", json!({"x": 1})).await.model_content(), r#"{"x":1}"#);
    assert_eq!(*log.lock().unwrap(), ["outer in t", "inner in t", "body", "inner out", "outer out"]);
}

#[tokio::test]
async fn an_answer_without_next_runs_no_body_no_breaker_and_no_after_hook() {
    let log = Log::default();
    let short = wrapper(|_, _| async { Ok(ToolResult::text("from the cache")) });
    let mut w = wrapped(&log, vec![noted(&log, "outer"), short]);
    w.hooks = super::hooks::after_hook(&log);
    assert_eq!(w.call("t", json!({})).await.model_content(), "from the cache");
    assert_eq!(*log.lock().unwrap(), ["outer in t", "outer out"]);
    let ended = w.events().await.pop().unwrap();
    assert_eq!((ended.0.as_str(), &ended.1["body"]), ("tool.finished", &json!("none")));
}

#[tokio::test]
async fn next_works_once_and_a_second_use_hides_nothing() {
    let log = Log::default();
    let greedy = wrapper(|_, next| async move {
        let first = next.run().await?;
        let second = next.run().await.unwrap_err();
        assert_eq!((second.code.as_str(), first.is_error), ("MIDDLEWARE_ERROR", false));
        Err(second)
    });
    let w = wrapped(&log, vec![greedy]);
    assert_eq!(w.call("t", json!({"n": 1})).await.model_content(), r#"{"n":1}"#);
    assert_eq!(*log.lock().unwrap(), ["body"]);
}

#[tokio::test]
async fn next_is_of_its_own_wrapper_alone() {
    let log = Log::default();
    let kept: Arc<Mutex<Option<ToolNext>>> = Arc::default();
    let pocket = Arc::clone(&kept);
    let thief = wrapper(move |_, next| {
        let pocket = Arc::clone(&pocket);
        async move {
            *pocket.lock().unwrap() = Some(next);
            Ok(ToolResult::text("later"))
        }
    });
    let w = wrapped(&log, vec![thief]);
    assert_eq!(w.call("t", json!({})).await.model_content(), "later");
    let late = kept.lock().unwrap().take().unwrap();
    assert_eq!(late.run().await.unwrap_err().code, "MIDDLEWARE_ERROR");
    assert!(log.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_failure_before_the_body_is_its_own_code_and_one_after_it_is_only_logged() {
    let log = Log::default();
    let before = wrapper(|_, _| async { Err(ToolError::new("X", "broken")) });
    let w = wrapped(&log, vec![before]);
    let result = w.call("t", json!({})).await;
    assert_eq!((code(&result), error(&result).retryable), ("MIDDLEWARE_ERROR", false));
    let panics = wrapper(|_, _| async { panic!("boom") });
    assert_eq!(code(&wrapped(&log, vec![panics]).call("t", json!({})).await), "MIDDLEWARE_ERROR");
    assert!(log.lock().unwrap().is_empty(), "nothing ran");
    let after = wrapper(|_, next| async move {
        next.run().await?;
        Err(ToolError::new("X", "broken"))
    });
    let panics_after = wrapper(|_, next| async move {
        next.run().await?;
        panic!("boom")
    });
    for late in [after, panics_after] {
        let result = wrapped(&log, vec![late]).call("t", json!({"n": 2})).await;
        assert_eq!(result.model_content(), r#"{"n":2}"#);
    }
}

#[tokio::test]
async fn returning_while_the_body_runs_does_not_end_it() {
    let log = Log::default();
    let hasty = wrapper(|_, next| async move {
        let mut run = Box::pin(async move { next.run().await });
        // asks for the rest and does not wait for it
        futures::future::poll_immediate(&mut run).await;
        Ok(ToolResult::text("forged"))
    });
    let w = wrapped(&log, vec![noted(&log, "outer"), hasty]);
    assert_eq!(w.call("t", json!({"n": 3})).await.model_content(), r#"{"n":3}"#);
    assert_eq!(*log.lock().unwrap(), ["outer in t", "body", "outer out"]);
}

#[tokio::test]
async fn a_repaired_result_counts_and_the_body_stays_what_it_was() {
    let log = Log::default();
    let repair = wrapper(|_, next| async move {
        let result = next.run().await?;
        assert!(result.is_error);
        Ok(ToolResult::text("repaired"))
    });
    let mut w = World::new().tool("t", reads(), body(|_, _| async { ToolResult::error(ToolError::new("BAD", "no")) }));
    w.fit = Some(Box::new(move |e| e.middleware(vec![repair.clone()])));
    w.hooks = super::hooks::after_hook(&log);
    let executor = w.turn();
    let result = executor.execute_one(ToolUse::new("c1", "t", json!({})), &w.cx, None).await;
    assert_eq!(result.model_content(), "repaired\n[Hook feedback] body was error");
    assert_eq!(executor.take_records()[0].status, CallStatus::Completed);
    assert_eq!(w.events().await.pop().unwrap().1["body"], "error");
}

#[tokio::test]
async fn a_stop_cannot_be_swallowed() {
    let stubborn = wrapper(|_, next| async move {
        drop(next.run().await);
        Ok(ToolResult::text("all is well"))
    });
    let never_next = wrapper(|_, _| futures::future::pending());
    let obeys = || {
        body(|_, cx| async move {
            cx.cancellation.cancelled().await;
            ToolResult::error(ToolError::new("CANCELLED", "stopped"))
        })
    };
    for wrap in [stubborn, never_next] {
        let mut w = World::new().tool("t", writes(), obeys());
        w.fit = Some(Box::new(move |e| e.middleware(vec![wrap.clone()])));
        w.cx.cancellation = CancellationSignal::new();
        let executor = w.turn();
        let call = executor.execute_one(ToolUse::new("c1", "t", json!({})), &w.cx, None);
        let (result, ()) = tokio::join!(call, async {
            settle().await;
            w.cx.cancellation.request();
        });
        assert_eq!(code(&result), "CANCELLED");
        assert_eq!(executor.take_records()[0].status, CallStatus::Cancelled);
    }
}

#[tokio::test]
async fn a_wrapper_that_hangs_after_the_body_keeps_its_result_at_a_stop() {
    let hangs = wrapper(|_, next| async move {
        next.run().await?;
        futures::future::pending().await
    });
    let mut w = World::new().tool("t", writes(), echo());
    w.fit = Some(Box::new(move |e| e.middleware(vec![hangs.clone()])));
    let executor = w.turn();
    let call = executor.execute_one(ToolUse::new("c1", "t", json!({"n": 1})), &w.cx, None);
    let (result, ()) = tokio::join!(call, async {
        settle().await;
        w.cx.cancellation.request();
    });
    assert_eq!(result.model_content(), r#"{"n":1}"#);
}
