//! What was approved is what runs: digits, hashes, files.

use super::*;
use crate::index::{canonical_json, sha256_hex};
use plugin_sdk::CommandLine;
use proptest::prelude::*;

fn yes() -> ApprovalAnswer {
    ApprovalAnswer::Allowed("telegram:1".into())
}

#[tokio::test]
async fn the_call_hash_is_that_of_the_contract() {
    let person = Arc::new(Person::says([yes()]));
    let w = World::new().tool("t", asks(), echo()).person(&person);
    let result = w.call("t", json!({"user_id": 1234567890123456789u64, "big": u64::MAX, "small": i64::MIN})).await;
    assert!(result.model_content().contains("1234567890123456789"), "{result:?}");
    assert!(
        result.model_content().contains("18446744073709551615")
            && result.model_content().contains("-9223372036854775808")
    );
    let asked = person.asked.lock().unwrap();
    assert!(asked[0].shown.contains(&"user_id: 1234567890123456789".to_string()), "{:?}", asked[0].shown);
    let index = w.index();
    let tool = index.get("t").unwrap();
    let whole = json!({
        "args_hash": asked[0].call.args_hash, "call_id": "c1", "owner_digest": "", "principal": "telegram:7",
        "schema_hash": tool.input.schema_hash, "session": "s", "tool": "t",
    });
    assert_eq!(asked[0].call.call_hash, sha256_hex(canonical_json(&whole)));
    assert_eq!(asked[0].call.tool_hash, tool.tool_hash());
}

#[test]
fn integers_beyond_64_bits_never_get_to_a_card() {
    let w = World::new().tool("t", asks(), echo());
    let call = ToolUse::raw("c", "t", "{\"n\": 18446744073709551616}");
    let plan = w.turn().prepare_many(vec![call], &w.cx);
    assert!(matches!(&plan.calls[0].state, PlannedState::Refused(r) if code(r) == "VALIDATION_ERROR"));
}

/// Runs a script of the workspace.
struct Shell;

#[async_trait]
impl Callable for Shell {
    async fn call(&self, _: Map<String, Value>, cx: &ToolExecutionContext) -> ToolResult {
        ToolResult::text(std::fs::read_to_string(cx.workspace_root.join("script.sh")).unwrap())
    }

    fn command_line(&self, input: &Map<String, Value>, cx: &ToolExecutionContext) -> Option<CommandLine> {
        let words = input.get("words")?.as_array()?.iter().filter_map(Value::as_str).map(str::to_string).collect();
        Some(CommandLine { words, cwd: cx.workspace_root.clone() })
    }
}

#[tokio::test]
async fn a_script_that_changes_after_the_card_is_asked_about_again() {
    let cases = [
        (json!(["sh", "script.sh"]), true),
        (json!(["bash", "-e", "./script.sh", "x"]), true),
        (json!(["./script.sh"]), true),
        (json!(["ls", "script.sh"]), false),
        (json!(["/bin/sh", "/etc/profile"]), false),
    ];
    for (words, bound) in cases {
        let mut w = World::new();
        let script = w.dir.path().join("ws/script.sh");
        std::fs::write(&script, "echo one").unwrap();
        let mut tool = contribution(".", "sh", Source::Folder, asks(), echo());
        tool.callable = Arc::new(Shell);
        w.tools.push(tool);
        let mut person = Person::says([yes(), yes()]);
        let times = AtomicUsize::new(0);
        person.meanwhile = Some(Box::new(move || {
            if times.fetch_add(1, Ordering::SeqCst) == 0 {
                std::fs::write(&script, "echo two").unwrap();
            }
        }));
        let person = Arc::new(person);
        let w = w.person(&person);
        let executor = w.turn();
        let run =
            async |id: &str| executor.execute_one(ToolUse::new(id, "sh", json!({"words": words})), &w.cx, None).await;
        let first = run("c1").await;
        assert_eq!(code(&first), if bound { "APPROVAL_STALE" } else { "" }, "{words}");
        if bound {
            assert!(error(&first).retryable);
            assert_eq!(run("c2").await.model_content(), "echo two", "what was asked about the second time");
            let asked = person.asked.lock().unwrap();
            assert_eq!(asked.len(), 2);
            assert_ne!(asked[0].call.files, asked[1].call.files);
            assert_eq!(asked[0].call.files[0].path, "script.sh");
        }
    }
}

/// A tool that executes, and arguments that name the script in one way or another.
#[tokio::test]
async fn a_file_an_argument_of_an_executing_tool_names_is_bound_to_the_yes() {
    let executes = || asks().capabilities([plugin_sdk::Capability::Execute]);
    let cases = [
        (executes(), json!({"file": "run.sh"}), true),
        (executes(), json!({"files": [{"path": "./sub/../run.sh"}]}), true),
        (executes(), json!({"file": "other.sh"}), false),
        (executes(), json!({"file": "../outside.sh"}), false),
        (asks(), json!({"file": "run.sh"}), false),
    ];
    for (def, input, bound) in cases {
        let shown = input.to_string();
        let mut w = World::new().tool("t", def, echo());
        let ws = w.dir.path().join("ws");
        std::fs::create_dir_all(ws.join("sub")).unwrap();
        for file in ["run.sh", "other.sh", "../outside.sh"] {
            std::fs::write(ws.join(file), "echo one").unwrap();
        }
        w.cx.workspace_root.clone_from(&ws);
        let mut person = Person::says([yes()]);
        person.meanwhile = Some(Box::new(move || {
            for file in ["run.sh", "../outside.sh"] {
                std::fs::write(ws.join(file), "echo two").unwrap();
            }
        }));
        let w = w.person(&Arc::new(person));
        let result = w.call("t", input).await;
        assert_eq!(code(&result), if bound { "APPROVAL_STALE" } else { "" }, "{shown}");
    }
}

#[tokio::test]
async fn long_arguments_are_cut_on_the_card_and_whole_beside_it() {
    let person = Arc::new(Person::says([yes(), yes()]));
    let w = World::new().tool("t", asks(), echo()).person(&person);
    let text = "a\u{202e}".repeat(400);
    assert!(!w.call("t", json!({"text": text, "n": 1})).await.is_error);
    assert!(!w.call("t", json!({"text": "short"})).await.is_error);
    let asked = person.asked.lock().unwrap();
    let whole: Value = serde_json::from_str(asked[0].whole.as_deref().unwrap()).unwrap();
    assert_eq!(whole, json!({"text": text, "n": 1}));
    assert!(asked[0].gravity.cut && !asked[1].gravity.cut && asked[1].whole.is_none());
}

#[tokio::test]
async fn a_yes_that_cannot_be_recorded_runs_nothing() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&ran);
    let count = body(move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { ToolResult::text("ran") }
    });
    let w = World::new().tool("t", asks(), count);
    let mut person = Person::says([yes()]);
    let store = Arc::clone(&w.store);
    person.meanwhile = Some(Box::new(move || {
        futures::executor::block_on(store.close()).unwrap();
    }));
    let person = Arc::new(person);
    let w = w.person(&person);
    assert_eq!(code(&w.call("t", json!({})).await), "JOURNAL_UNAVAILABLE");
    let person = Arc::new(Person::says([ApprovalAnswer::Unrecorded("disk full".into()), ApprovalAnswer::Limit]));
    let w = World::new().tool("t", asks(), echo()).person(&person);
    assert_eq!(code(&w.call("t", json!({})).await), "JOURNAL_UNAVAILABLE");
    assert_eq!(code(&w.call("t", json!({})).await), "APPROVAL_LIMIT");
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn of_many_gated_calls_at_once_ten_are_asked_about_one_at_a_time() {
    let person = Arc::new(Person::says((0..20).map(|_| yes())));
    let w = World::new().tool("t", asks(), echo()).person(&person);
    let executor = w.turn();
    let mut codes = Vec::new();
    for step in 0..3 {
        let calls = (0..17).map(|n| ToolUse::new(format!("c{step}-{n}"), "t", json!({"n": step * 17 + n}))).collect();
        codes.extend(executor.execute_many(calls, &w.cx).await.iter().map(|r| code(r).to_string()));
    }
    assert_eq!(codes[..10], vec![String::new(); 10]);
    assert!(codes[10..50].iter().all(|c| c == "APPROVAL_LIMIT"), "{codes:?}");
    assert_eq!((codes[50].as_str(), person.asked.lock().unwrap().len()), ("TOOL_LIMIT", 10));
}

/// JSON as a model may send it: 64-bit integers, any text, nesting.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\u{200b}-\u{202e}\u{0}-\u{1f}`a-z\u{e0041}]{0,12}".prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no such number", |f| f.is_finite()).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..5).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn executed_arguments_are_the_shown_ones(arguments in prop::collection::btree_map("[a-z]{1,6}", any_json(), 0..6)) {
        let arguments = Value::Object(arguments.into_iter().collect());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let person = Arc::new(Person::says([yes()]));
            let got = Arc::new(Mutex::new(None));
            let kept = Arc::clone(&got);
            let keep = body(move |input, _| {
                *kept.lock().unwrap() = Some(Value::Object(input));
                async { ToolResult::text("ran") }
            });
            let w = World::new().tool("t", asks(), keep).person(&person);
            let result = w.call("t", arguments.clone()).await;
            assert!(!result.is_error, "{result:?}");
            let asked = person.asked.lock().unwrap()[0].clone();
            // What stands on the card is JSON, on one line, and reads back as what ran.
            let read = asked.shown.iter().map(|line| {
                assert!(!line.chars().any(|c| c.is_control() || ('\u{200b}'..='\u{200f}').contains(&c) || ('\u{2028}'..='\u{202e}').contains(&c)), "{line:?}");
                assert!(!line.contains("```"), "{line}");
                let (key, value) = line.split_once(": ").unwrap();
                (key.to_string(), serde_json::from_str::<Value>(value).unwrap())
            });
            let shown = Value::Object(read.collect());
            let ran = got.lock().unwrap().clone().unwrap();
            assert_eq!(canonical_json(&shown), canonical_json(&ran));
            assert_eq!(canonical_json(&ran), canonical_json(&arguments));
            assert_eq!(asked.call.args_hash, sha256_hex(canonical_json(&ran)));
        });
    }
}
