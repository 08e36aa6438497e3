//! Windows of calls that overlap.

use super::*;

/// Counts how many bodies run at once.
#[derive(Default)]
struct Meter {
    now: AtomicUsize,
    most: AtomicUsize,
    log: Mutex<Vec<String>>,
}

fn metered(meter: &Arc<Meter>) -> Body {
    let meter = Arc::clone(meter);
    body(move |input, _| {
        let meter = Arc::clone(&meter);
        async move {
            let now = meter.now.fetch_add(1, Ordering::SeqCst) + 1;
            meter.most.fetch_max(now, Ordering::SeqCst);
            settle().await;
            meter.log.lock().unwrap().push(format!("{} of {}", input["n"], meter.now.load(Ordering::SeqCst)));
            meter.now.fetch_sub(1, Ordering::SeqCst);
            ToolResult::text(input["n"].to_string())
        }
    })
}

#[tokio::test]
async fn twenty_reads_overlap_at_most_eight_at_once() {
    let meter = Arc::new(Meter::default());
    let w = World::new().tool("t", reads(), metered(&meter));
    let calls = (0..20).map(|n| ToolUse::new(format!("c{n}"), "t", json!({"n": n}))).collect();
    let results = w.turn().execute_many(calls, &w.cx).await;
    let texts: Vec<String> = results.iter().map(ToolResult::model_content).collect();
    assert_eq!(texts, (0..20).map(|n| n.to_string()).collect::<Vec<_>>());
    assert_eq!(meter.most.load(Ordering::SeqCst), 8);
}

#[tokio::test]
async fn whatever_is_not_known_to_read_only_runs_alone() {
    let meter = Arc::new(Meter::default());
    let undeclared = ToolDef::new("Who knows")
        .requires_approval(plugin_sdk::Approval::Never)
        .input_schema(json!({"type": "object"}));
    let mut unsafe_read = reads();
    unsafe_read.options.concurrency_safe = false;
    let w = World::new().tool("r", reads(), metered(&meter)).tool("u", undeclared, metered(&meter)).tool(
        "s",
        unsafe_read,
        metered(&meter),
    );
    let names = ["r", "r", "u", "r", "s", "s", "r", "nope", "r"];
    let calls: Vec<ToolUse> =
        names.iter().enumerate().map(|(n, name)| ToolUse::new(format!("c{n}"), *name, json!({"n": n}))).collect();
    let plan = w.turn().prepare_many(calls.clone(), &w.cx);
    assert_eq!(plan.windows, [0..2, 2..3, 3..4, 4..5, 5..6, 6..7, 7..8, 8..9]);
    w.turn().execute_many(calls, &w.cx).await;
    let log = meter.log.lock().unwrap().join(" ");
    assert_eq!(log, "0 of 2 1 of 1 2 of 1 3 of 1 4 of 1 5 of 1 6 of 1 8 of 1");
}

#[tokio::test]
async fn a_plan_has_no_side_effect() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let person = Arc::new(Person::default());
    let w = World::new()
        .tool(
            "t",
            reads(),
            body(move |_, _| {
                counted.fetch_add(1, Ordering::SeqCst);
                async { ToolResult::text("ran") }
            }),
        )
        .tool("ask", asks(), echo())
        .person(&person);
    let executor = w.turn();
    let calls =
        vec![ToolUse::new("c0", "t", json!({})), ToolUse::raw("c1", "t", "{"), ToolUse::new("c2", "ask", json!({}))];
    for _ in 0..60 {
        let plan = executor.prepare_many(calls.clone(), &w.cx);
        assert!(matches!(plan.calls[0].state, PlannedState::Ready));
        assert!(
            matches!(&plan.calls[1].state, PlannedState::Refused(r) if code(r) == "MALFORMED_ARGUMENTS" && r.tool_use_id == "c1")
        );
        assert!(matches!(&plan.calls[2].state, PlannedState::NeedsPerson(r) if r.call.tool == "ask"));
        assert_eq!(plan.first_gate, Some(2));
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    assert!(person.asked.lock().unwrap().is_empty() && w.events().await.is_empty());
    assert!(executor.take_records().is_empty());
    assert!(!executor.execute_one(ToolUse::new("c", "t", json!({})), &w.cx, None).await.is_error);
}
