//! The circuit breaker.

use super::*;

/// A body that fails with a code while told to, and counts its runs.
fn shaky(code: &Arc<Mutex<&'static str>>, runs: &Arc<AtomicUsize>) -> Body {
    let (code, runs) = (Arc::clone(code), Arc::clone(runs));
    body(move |_, _| {
        let code = *code.lock().unwrap();
        runs.fetch_add(1, Ordering::SeqCst);
        async move {
            match code {
                "" => ToolResult::text("fine"),
                "panic" => panic!("boom"),
                code => ToolResult::error(ToolError::new(code, "failed")),
            }
        }
    })
}

fn world(code: &Arc<Mutex<&'static str>>, runs: &Arc<AtomicUsize>) -> World {
    let mut w = World::new().tool("t", reads(), shaky(code, runs)).tool("other", reads(), echo());
    let breaker = CircuitBreaker::new(3, 30.0);
    w.fit = Some(Box::new(move |e| e.circuit_breaker(breaker.clone())));
    w
}

#[tokio::test]
async fn the_third_failure_opens_and_one_of_five_calls_tries_again() {
    let (failing, runs) = (Arc::new(Mutex::new("MCP_CALL_FAILED")), Arc::new(AtomicUsize::new(0)));
    let w = world(&failing, &runs);
    for _ in 0..3 {
        assert_eq!(code(&w.call("t", json!({})).await), "MCP_CALL_FAILED");
    }
    let refused = w.call("t", json!({})).await;
    let error = error(&refused);
    assert_eq!((error.code.as_str(), error.retryable), ("CIRCUIT_OPEN", true));
    assert_eq!(error.details["last_error_code"], "MCP_CALL_FAILED");
    assert_eq!(runs.load(Ordering::SeqCst), 3);
    assert_eq!(code(&w.call("other", json!({})).await), "", "each tool has its own");
    assert_eq!(w.kinds().await.iter().filter(|k| *k == "tool.started").count(), 4, "no claim of a refused call");
    w.clock.advance(Duration::from_secs(30));
    // five at once: read-only calls share a window
    let five = |n: usize| ToolUse::new(format!("c{n}"), "t", json!({"n": n}));
    *failing.lock().unwrap() = "EXECUTION_ERROR";
    let results = w.turn().execute_many((0..5).map(five).collect(), &w.cx).await;
    let codes: Vec<_> = results.iter().map(|r| code(r).to_string()).collect();
    assert_eq!(codes, ["EXECUTION_ERROR", "CIRCUIT_OPEN", "CIRCUIT_OPEN", "CIRCUIT_OPEN", "CIRCUIT_OPEN"]);
    assert_eq!(runs.load(Ordering::SeqCst), 4);
    // the failed probe opened it again
    w.clock.advance(Duration::from_secs(29));
    assert_eq!(code(&w.call("t", json!({})).await), "CIRCUIT_OPEN");
    w.clock.advance(Duration::from_secs(1));
    *failing.lock().unwrap() = "";
    for _ in 0..3 {
        assert_eq!(code(&w.call("t", json!({})).await), "", "a success closes it");
    }
}

#[tokio::test]
async fn while_a_probe_runs_the_others_wait_and_a_lost_one_gives_its_place_back() {
    let (failing, runs) = (Arc::new(Mutex::new("panic")), Arc::new(AtomicUsize::new(0)));
    let gate = Arc::new(tokio::sync::Notify::new());
    let (held, open) = (Arc::clone(&gate), Arc::clone(&failing));
    let mut w = world(&failing, &runs);
    w.tools.push(contribution(
        ".",
        "slow",
        Source::Folder,
        reads(),
        body(move |_, _| {
            let (gate, code) = (Arc::clone(&held), *open.lock().unwrap());
            async move {
                if code == "panic" {
                    panic!("boom");
                }
                gate.notified().await;
                ToolResult::text("at last")
            }
        }),
    ));
    for _ in 0..3 {
        assert_eq!(code(&w.call("slow", json!({})).await), "EXECUTION_ERROR");
    }
    w.clock.advance(Duration::from_secs(30));
    *failing.lock().unwrap() = "";
    // a probe whose turn is stopped says nothing: the next call is the probe
    let executor = w.turn();
    let mut cx = w.cx.clone();
    cx.cancellation = plugin_sdk::CancellationSignal::new();
    let probe = executor.execute_one(ToolUse::new("p", "slow", json!({})), &cx, None);
    let (stopped, ()) = tokio::join!(probe, async {
        settle().await;
        assert_eq!(code(&w.call("slow", json!({})).await), "CIRCUIT_OPEN", "others wait for the probe");
        cx.cancellation.request();
        settle().await;
        w.clock.advance(Duration::from_secs(5));
    });
    assert_eq!(code(&stopped), "CANCELLED");
    gate.notify_one();
    assert_eq!(w.call("slow", json!({})).await.model_content(), "at last");
    gate.notify_one();
    assert_eq!(w.call("slow", json!({})).await.model_content(), "at last");
}

#[tokio::test]
async fn only_real_failures_of_the_body_count() {
    let (answer, runs) = (Arc::new(Mutex::new("NO_SUCH_CITY")), Arc::new(AtomicUsize::new(0)));
    let w = world(&answer, &runs);
    for _ in 0..4 {
        assert_eq!(code(&w.call("t", json!({})).await), "NO_SUCH_CITY", "an answer of its own");
    }
    for failure in ["EXECUTION_ERROR", "EXECUTION_ERROR", "NO_SUCH_CITY", "EXECUTION_ERROR", "EXECUTION_ERROR"] {
        *answer.lock().unwrap() = failure;
        assert_eq!(code(&w.call("t", json!({})).await), failure, "not in a row");
    }
    for _ in 0..5 {
        let broken = w.turn().execute_one(ToolUse::raw("c", "t", "{"), &w.cx, None).await;
        assert_eq!(code(&broken), "MALFORMED_ARGUMENTS");
    }
    w.set_policy(|p| p.disabled.push("t".into()));
    assert_eq!(code(&w.call("t", json!({})).await), "TOOL_NOT_ALLOWED");
    w.set_policy(|p| p.disabled.clear());
    *answer.lock().unwrap() = "EXECUTION_ERROR";
    assert_eq!(code(&w.call("t", json!({})).await), "EXECUTION_ERROR", "the third in a row");
    assert_eq!(code(&w.call("t", json!({})).await), "CIRCUIT_OPEN");
}

#[tokio::test]
async fn other_code_starts_anew_and_settings_may_change_over_the_same_counts() {
    let (answer, runs) = (Arc::new(Mutex::new("EXECUTION_ERROR")), Arc::new(AtomicUsize::new(0)));
    let mut w = world(&answer, &runs);
    let shared = CircuitBreaker::new(3, 30.0);
    let first = shared.sibling(2, 30.0);
    w.fit = Some(Box::new(move |e| e.circuit_breaker(first.clone())));
    for expected in ["EXECUTION_ERROR", "EXECUTION_ERROR", "CIRCUIT_OPEN"] {
        assert_eq!(code(&w.call("t", json!({})).await), expected);
    }
    // a reload with another pause keeps what is known of the tool
    let second = shared.sibling(2, 10.0);
    w.fit = Some(Box::new(move |e| e.circuit_breaker(second.clone())));
    w.clock.advance(Duration::from_secs(9));
    assert_eq!(code(&w.call("t", json!({})).await), "CIRCUIT_OPEN");
    w.tools[0].code_digest = "repaired".into();
    assert_eq!(code(&w.call("t", json!({})).await), "EXECUTION_ERROR");
}
