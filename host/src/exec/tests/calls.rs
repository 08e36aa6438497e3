//! Names, arguments, admission, limits, repeats.

use super::*;
use crate::index::{canonical_json, sha256_hex};

fn weather() -> ToolDef {
    reads().input_schema(json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["city"],
        "properties": {
            "city": {"type": "string", "minLength": 1},
            "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 1},
            "units": {"type": "string"},
        },
    }))
}

#[tokio::test]
async fn a_call_is_identified_timed_and_journaled() {
    let mut w = World::new().owned("maps", "get-weather", weather(), echo());
    w.cx.call_id = "other".into();
    let executor = w.turn();
    let result =
        executor.execute_one(ToolUse::new("c9", "maps__get-weather", json!({"city": "Paris"})), &w.cx, None).await;
    assert_eq!((result.tool_use_id.as_str(), result.tool_name.as_str()), ("c9", "maps__get-weather"));
    assert_eq!(result.model_content(), r#"{"city":"Paris","days":1}"#);
    assert!(result.stats.contains_key("elapsed_ms"));
    let events = w.events().await;
    let kinds: Vec<&str> = events.iter().map(|(k, _)| k.as_str()).collect();
    assert_eq!(kinds, ["tool.started", "tool.finished"]);
    assert_eq!(events[0].1["args_hash"], sha256_hex(canonical_json(&json!({"city": "Paris", "days": 1}))).as_str());
    assert_eq!((&events[1].1["effect"], &events[1].1["body"]), (&json!("completed"), &json!("success")));
    let record = &executor.take_records()[0];
    assert_eq!(
        (record.status, record.owner.as_deref(), &record.arguments),
        (CallStatus::Completed, Some("maps"), &json!({"city": "Paris", "days": 1}))
    );
    assert!(executor.take_records().is_empty());
}

#[test]
fn hashes_of_frozen_arguments_are_the_documented_ones() {
    let hash = |v: Value| sha256_hex(canonical_json(&v));
    assert_eq!(
        hash(json!({"days": 2, "city": "Paris"})),
        "6894516078344e17248e042712e84a47f3b23f970892020432d3fae33c6e1156"
    );
    assert_eq!(
        hash(json!({"user_id": 1234567890123456789_i64})),
        "87fdb581bf965619fa0b9614344111163d62bcdcf6010af1a987a4d9faa988d8"
    );
}

#[tokio::test]
async fn names_lead_to_tools_or_say_why_not() {
    let mut aliased = reads();
    aliased.options.aliases = vec!["look".into()];
    let mut hidden = reads();
    hidden.options.hidden = true;
    let mut w = World::new().tool("web-search", aliased, echo()).tool("secret-door", hidden, echo()).tool(
        "later",
        reads(),
        echo(),
    );
    w.not_loaded = vec!["later"];
    w.gone = vec!["old"];
    assert_eq!(w.call("look", json!({})).await.tool_name, "web-search");
    let unknown = w.call("web-serch", json!({})).await;
    assert_eq!(code(&unknown), "NOT_FOUND");
    assert!(error(&unknown).message.contains("web-search"), "{unknown:?}");
    for (name, reason, retryable) in
        [("later", "not_loaded", true), ("secret-door", "not_listed", false), ("old", "gone", false)]
    {
        let result = w.call(name, json!({})).await;
        assert_eq!((code(&result), &error(&result).details["reason"]), ("TOOL_NOT_ALLOWED", &json!(reason)));
        assert_eq!(error(&result).retryable, retryable);
    }
    assert!(w.kinds().await.ends_with(&["tool.denied".to_string()]));
}

#[tokio::test]
async fn admission_uses_the_policy_of_this_moment() {
    let mut master = reads();
    master.options.permissions = vec!["role(master)".into()];
    let mut w = World::new().tool("plain", reads(), echo()).tool("admin", master, echo());
    let executor = w.turn();
    let call = |name: &str| ToolUse::new("c1", name, json!({}));
    let denied = executor.execute_one(call("admin"), &w.cx, None).await;
    assert_eq!((code(&denied), &error(&denied).details["reason"]), ("TOOL_NOT_ALLOWED", &json!("not_admitted")));
    w.set_policy(|p| p.access.masters = vec!["telegram:7".into()]);
    assert!(!executor.execute_one(call("admin"), &w.cx, None).await.is_error);
    w.set_policy(|p| p.access.masters.clear());
    assert_eq!(code(&executor.execute_one(call("admin"), &w.cx, None).await), "TOOL_NOT_ALLOWED");
    w.set_policy(|p| p.disabled = vec!["plain".into()]);
    assert_eq!(code(&executor.execute_one(call("plain"), &w.cx, None).await), "TOOL_NOT_ALLOWED");
    w.set_policy(|p| {
        p.disabled.clear();
        p.access.deny = vec!["telegram:7".into()];
    });
    assert_eq!(code(&executor.execute_one(call("plain"), &w.cx, None).await), "TOOL_NOT_ALLOWED");
    // A role given on the command line is not looked up.
    w.set_policy(|p| p.access.deny.clear());
    w.facts.principal.role = Some(plugin_sdk::Role::Master);
    assert_eq!(code(&w.call("admin", json!({})).await), "TOOL_NOT_ALLOWED");
    w.given_role = true;
    assert!(!w.call("admin", json!({})).await.is_error);
}

#[tokio::test]
async fn broken_arguments_never_run() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let w = World::new().tool(
        "t",
        reads(),
        body(move |input, _| {
            counted.fetch_add(1, Ordering::SeqCst);
            async move { ToolResult::text(Value::Object(input).to_string()) }
        }),
    );
    let raw = async |text: &str| w.turn().execute_one(ToolUse::raw("c1", "t", text), &w.cx, None).await;
    let broken = [
        r#"{"a": 1,}"#,
        "{\"a\": \"x\u{1}\"}",
        "Sure, here you go",
        r#"{"a": 1"#,
        "[1]",
        "null",
        "7",
        r#""text""#,
        r#"{"a":1}{"b":2}"#,
        r#""[1]""#,
    ];
    for text in broken {
        let result = raw(text).await;
        assert_eq!(code(&result), "MALFORMED_ARGUMENTS", "{text}");
        assert!(error(&result).retryable);
    }
    let deep = "[".repeat(100_000);
    assert_eq!(code(&raw(&deep).await), "MALFORMED_ARGUMENTS");
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    for (text, seen) in [("", "{}"), (" \n", "{}"), ("{}", "{}"), (r#""{\"a\":1}""#, r#"{"a":1}"#)] {
        assert_eq!(raw(text).await.model_content(), seen, "{text:?}");
    }
}

#[tokio::test]
async fn all_violations_are_named_with_their_paths() {
    let w = World::new().tool("t", weather(), echo());
    let result = w.call("t", json!({"days": "2", "extra": 1})).await;
    assert_eq!(code(&result), "VALIDATION_ERROR");
    let paths: Vec<&str> =
        error(&result).details["violations"].as_array().unwrap().iter().filter_map(|v| v["path"].as_str()).collect();
    for path in ["/city", "/days", "/extra"] {
        assert!(paths.contains(&path), "{path} not in {paths:?}");
        assert!(error(&result).message.contains(path));
    }
    assert!(error(&result).retryable);
    let wide = w
        .turn()
        .execute_one(ToolUse::raw("c1", "t", r#"{"city":"x","days":12345678901234567890123}"#), &w.cx, None)
        .await;
    assert_eq!(code(&wide), "VALIDATION_ERROR");
    assert!(error(&wide).message.contains("64 bits"));
    let text =
        w.turn().execute_one(ToolUse::raw("c1", "t", r#"{"city":"\"12345678901234567890123"}"#), &w.cx, None).await;
    assert!(!text.is_error, "{text:?}");
}

#[tokio::test]
async fn presets_are_the_hosts_alone() {
    let mut def = weather();
    def.preset = Map::from_iter([("units".to_string(), json!("metric"))]);
    let w = World::new().tool("t", def, echo());
    assert_eq!(
        w.call("t", json!({"city": "Bern"})).await.model_content(),
        r#"{"city":"Bern","units":"metric","days":1}"#
    );
    let sent = w.call("t", json!({"city": "Bern", "units": "metric"})).await;
    assert_eq!(code(&sent), "VALIDATION_ERROR");
    assert!(error(&sent).message.contains("/units"));
}

#[tokio::test]
async fn secrets_reach_the_body_and_nothing_else() {
    let mut def = weather();
    def.preset = Map::from_iter([("units".to_string(), json!("${secret.MAPS_KEY}"))]);
    let mut w = World::new().tool("t", def, echo());
    w.bot.secrets.insert("MAPS_KEY".into(), crate::config::Secret::new("s3cr3t-value"));
    w.redactor.register("s3cr3t-value");
    let executor = w.turn();
    let result = executor.execute_one(ToolUse::new("c1", "t", json!({"city": "Bern"})), &w.cx, None).await;
    // The body printed it back; the text a model sees is masked.
    assert!(result.model_content().contains("[redacted]"), "{result:?}");
    assert_eq!(executor.take_records()[0].arguments["units"], json!("${secret.MAPS_KEY}"));
    assert!(!format!("{:?}", w.events().await).contains("s3cr3t"));
    w.bot.secrets.clear();
    assert_eq!(code(&w.call("t", json!({"city": "Bern"})).await), "EXECUTION_ERROR");
}

#[tokio::test]
async fn a_turn_and_a_step_have_limits() {
    let w = World::new().tool("t", reads(), echo());
    let executor = w.turn();
    let step = |n: usize, from: usize| {
        (0..n).map(|i| ToolUse::new(format!("c{i}"), "t", json!({"n": from + i}))).collect::<Vec<_>>()
    };
    let codes = |results: &[ToolResult]| results.iter().filter(|r| code(r) == "TOOL_LIMIT").count();
    assert_eq!(codes(&executor.execute_many(step(25, 0), &w.cx).await), 5);
    assert_eq!(codes(&executor.execute_many(step(20, 100), &w.cx).await), 0);
    let last = executor.execute_many(step(10, 200), &w.cx).await;
    assert_eq!(codes(&last), 5);
    assert_eq!(code(&last[4]), "");
    assert_eq!(code(&last[5]), "TOOL_LIMIT");
}

#[tokio::test]
async fn equal_calls_with_equal_results_are_blocked() {
    let answers = Arc::new(AtomicUsize::new(0));
    let changing = Arc::clone(&answers);
    let w = World::new().tool("same", reads(), echo()).tool(
        "poll",
        reads(),
        body(move |_, _| {
            let n = changing.fetch_add(1, Ordering::SeqCst);
            async move { ToolResult::text(n.to_string()) }
        }),
    );
    let executor = w.turn();
    let call = async |name: &str| executor.execute_one(ToolUse::new("c", name, json!({"q": 1})), &w.cx, None).await;
    for _ in 0..6 {
        assert!(!call("poll").await.is_error);
    }
    for _ in 0..3 {
        assert!(!call("same").await.is_error);
    }
    let blocked = call("same").await;
    assert_eq!(code(&blocked), "LOOP_BLOCKED");
    assert!(error(&blocked).message.contains("agent.loop_guard"));
    assert!(!executor.loop_guard_tripped());
    assert_eq!(code(&call("same").await), "LOOP_BLOCKED");
    assert!(executor.loop_guard_tripped());
    // A name that does not exist is repeated no more often.
    let executor = w.turn();
    for _ in 0..3 {
        assert_eq!(code(&executor.execute_one(ToolUse::raw("c", "nope", "{}"), &w.cx, None).await), "NOT_FOUND");
    }
    assert_eq!(code(&executor.execute_one(ToolUse::raw("c", "nope", "{}"), &w.cx, None).await), "LOOP_BLOCKED");
}

#[tokio::test]
async fn nested_calls_pass_every_gate_and_end_at_four() {
    let again = body(|input, cx| async move {
        let port = cx.call_tool.clone().unwrap();
        let name = input["next"].as_str().unwrap_or("a").to_string();
        let inner = port.call_tool(&name, input).await;
        if inner.is_error { ToolResult::text(format!("{} <- {}", code(&inner), cx.call_id)) } else { inner }
    });
    let mut hidden = reads();
    hidden.options.hidden = true;
    let w = World::new()
        .owned("a", "go", reads(), Arc::clone(&again))
        .owned(
            "b",
            "hidden",
            hidden,
            body(|_, cx| async move { ToolResult::text(format!("{} {}", cx.owner, cx.call_id)) }),
        )
        .owned("b", "private", reads(), echo());
    let executor = w.turn();
    let run =
        async |next: &str| executor.execute_one(ToolUse::new("c", "a__go", json!({"next": next})), &w.cx, None).await;
    assert_eq!(run("a__go").await.model_content(), "CALL_DEPTH <- c.1.1.1");
    assert_eq!(run("b__hidden").await.model_content(), "b c.1");
    assert_eq!(run("b__private").await.model_content(), "TOOL_NOT_ALLOWED <- c");
    assert_eq!(run("nope").await.model_content(), "NOT_FOUND <- c");
    // Each counts in the turn: 1 + 4, 1 + 1, 1 + 1, 1 + 1.
    assert_eq!(executor.take_records().iter().map(|r| r.number).max(), Some(11));
}

#[tokio::test]
async fn without_a_turn_it_neither_asks_nor_journals() {
    let w = World::new().tool("t", reads(), echo()).tool("ask", asks(), echo());
    let executor = ToolExecutor::new(w.index());
    let run =
        async |name: &str, approved| executor.execute_one(ToolUse::new("c", name, json!({})), &w.cx, approved).await;
    assert!(!run("t", None).await.is_error);
    assert_eq!(code(&run("ask", None).await), "HITL_REQUIRED");
    assert_eq!(code(&run("ask", Some("other")).await), "HITL_REQUIRED");
    assert!(!run("ask", Some("c")).await.is_error);
    assert_eq!(code(&run("nope", None).await), "NOT_FOUND");
    assert!(w.events().await.is_empty());
}

proptest::proptest! {
    /// Whatever a model writes is one object or a refusal, and an object that went in comes out.
    #[test]
    fn any_text_is_parsed_or_refused(text in "\\PC*|[\\[\\]{}\",:0-9eE.+\\\\ -]{0,60}") {
        match crate::exec::arguments::parse(&ToolUse::raw("c", "t", text.clone())) {
            Ok(map) => proptest::prop_assert!(text.trim().is_empty() || serde_json::to_string(&map).is_ok()),
            Err(e) => proptest::prop_assert!(["MALFORMED_ARGUMENTS", "VALIDATION_ERROR"].contains(&e.code.as_str())),
        }
    }

    /// A preview is never longer than asked, and a text that fits is itself.
    #[test]
    fn previews_keep_their_length(text in "\\PC{0,80}", chars in 0_usize..100, both in proptest::bool::ANY) {
        let mode = if both { plugin_sdk::PreviewMode::HeadTail } else { plugin_sdk::PreviewMode::Head };
        let shown = preview(&text, chars, mode);
        proptest::prop_assert!(shown.chars().count() <= chars);
        proptest::prop_assert_eq!(shown == text, text.chars().count() <= chars);
    }
}
