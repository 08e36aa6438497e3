use super::*;
use crate::model::{ModelClient, ModelTool};

/// `discover` and `load_tool` always, `m` loaded, `a` and `z` to be found.
fn catalog() -> ModelRequest {
    let mut r = request(&["load_tool", "discover", "own__m"]);
    r.tools[2].loaded = true;
    r.deferred = ["own__z", "own__a"].map(tool).to_vec();
    r
}

fn listed(body: &Value) -> Vec<(String, bool)> {
    let tools = body["tools"].as_array().unwrap();
    tools.iter().map(|t| (t["name"].as_str().unwrap().to_owned(), t["defer_loading"] == true)).collect()
}

fn names(list: &[(&str, bool)]) -> Vec<(String, bool)> {
    list.iter().map(|(n, d)| ((*n).to_owned(), *d)).collect()
}

fn loaded(mut r: ModelRequest, name: &str) -> ModelRequest {
    r.messages.push(ModelMessage::assistant("", vec![call("l1", "load_tool", "{}")]));
    let mut answer = result("l1", vec![ContentBlock::text("Loaded.")]);
    if let ModelMessage::Tool { references, .. } = &mut answer {
        *references = vec![name.into(), "own__gone".into()];
    }
    r.messages.push(answer);
    r
}

fn refuse(message: &str) -> Turn {
    Turn::fault(Fault::status(400, message))
}

#[tokio::test]
async fn the_whole_catalog_goes_out_sorted_behind_what_is_always_there() {
    let b = bench(vec![Turn::text("a"), Turn::text("b")]).await;
    assert!(b.model.wants_catalog());
    let out = b.run(catalog()).await;
    assert_eq!((out.error, out.events.len()), (None, 3));
    let body = &b.server.requests()[0].body;
    let want = [("load_tool", false), ("discover", false), ("own__a", true), ("own__m", false), ("own__z", true)];
    assert_eq!(listed(body), names(&want));
    // the last that needs no finding carries the mark: a deferred one may not
    assert_eq!(body["tools"][3]["cache_control"]["type"], "ephemeral");
    // loading changes neither the order nor another tool's bytes
    let mut r = loaded(catalog(), "own__z");
    let mut z = r.deferred.remove(0);
    z.loaded = true;
    r.tools.push(z);
    assert_eq!(b.run(r).await.error, None);
    let body = &b.server.requests()[1].body;
    let want = [("load_tool", false), ("discover", false), ("own__a", true), ("own__m", false), ("own__z", false)];
    assert_eq!(listed(body), names(&want));
    let content = &body["messages"][2]["content"][0]["content"];
    assert_eq!(
        *content,
        json!([
            {"type": "text", "text": "Loaded."},
            {"type": "tool_reference", "tool_name": "own__z"},
            {"type": "text", "text": "[tool own__gone: no longer available]"}
        ])
    );
}

#[tokio::test]
async fn without_deferral_only_what_is_loaded_goes_out() {
    let b = bench_with(vec![Turn::text("a")], json!({"defer_loading": "off", "betas": []})).await;
    assert!(!b.model.wants_catalog());
    b.run(loaded(catalog(), "own__z")).await;
    let seen = &b.server.requests()[0];
    assert_eq!(listed(&seen.body), names(&[("load_tool", false), ("discover", false), ("own__m", false)]));
    assert_eq!(seen.header("anthropic-beta"), None);
    assert!(!seen.body.to_string().contains("tool_reference"));
}

#[tokio::test]
async fn a_catalog_that_is_too_large_goes_the_common_way() {
    let many = |n: usize| -> Vec<ModelTool> { (0..n).map(|i| tool(&format!("t{i:04}"))).collect() };
    let b = bench(vec![Turn::text("a").always()]).await;
    for (tools, sent) in [(many(997), 1000), (many(998), 3)] {
        b.run(ModelRequest { deferred: tools, ..catalog() }).await;
        assert_eq!(listed(&b.server.requests().last().unwrap().body).len(), sent);
    }
    let mut huge = many(900);
    for t in &mut huge {
        t.description = "x".repeat(1024).into();
    }
    b.run(ModelRequest { deferred: huge.clone(), ..catalog() }).await;
    assert_eq!(listed(&b.server.requests().last().unwrap().body).len(), 3, "over 1 MB");
    // nothing that needs no finding: the server would refuse it
    let mut bare = catalog();
    bare.tools.drain(..2);
    b.run(bare).await;
    let seen = b.server.requests();
    assert_eq!(listed(&seen.last().unwrap().body), names(&[("own__m", false)]));
    assert!(seen.iter().all(|s| s.status == 200));
}

#[tokio::test]
async fn a_server_that_does_not_know_it_is_asked_once_more_without_and_remembered() {
    for refusal in [
        "tools.2.custom.defer_loading: Extra inputs are not permitted",
        "messages.2.content.0.content.1: Input tag 'tool_reference' found using 'type' does not match",
        "Unexpected value(s) `advanced-tool-use-2025-11-20` for the `anthropic-beta` header",
    ] {
        let betas = json!({"betas": ["advanced-tool-use-2025-11-20", "output-128k-2025-02-19"]});
        let b = bench_with(vec![refuse(refusal), Turn::text("ok"), Turn::text("next")], betas).await;
        let out = b.run(loaded(catalog(), "own__z")).await;
        assert_eq!((out.text().as_str(), out.restarts()), ("ok", 1), "{refusal}");
        assert!(!out.events.iter().any(|e| matches!(e, ModelEvent::ToolRefused(..))), "no tool is to blame");
        assert!(!b.model.wants_catalog());
        assert_eq!(b.run(catalog()).await.text(), "next");
        let seen = b.server.requests();
        assert_eq!(seen.len(), 3);
        for later in &seen[1..] {
            assert_eq!(later.header("anthropic-beta"), Some("output-128k-2025-02-19"));
            let body = later.body.to_string();
            assert!(!body.contains("defer_loading") && !body.contains("tool_reference"), "{body}");
            assert_eq!(listed(&later.body).len(), 3);
        }
    }
}

#[tokio::test]
async fn another_refusal_is_a_tool_or_a_failure() {
    let refused = Turn::fault(Fault::RefuseTool { name: "own__a".into() });
    let b = bench(vec![refused, Turn::text("without"), refuse("messages: odd")]).await;
    let out = b.run(catalog()).await;
    assert_eq!(out.text(), "without");
    assert!(matches!(&out.events[0], ModelEvent::ToolRefused(name, _) if name == "own__a"));
    let seen = b.server.requests();
    assert_eq!(listed(&seen[1].body).len(), 4);
    assert!(b.model.wants_catalog(), "the deferral is not to blame");
    assert!(matches!(b.run(catalog()).await.error, Some(crate::model::ModelError::Rejected(_))));
}

#[tokio::test]
async fn two_faults_of_one_request_are_each_repeated_once() {
    let b = bench(vec![
        refuse("tools.3.custom.defer_loading: Extra inputs are not permitted"),
        Turn::fault(Fault::RefuseTool { name: "own__m".into() }),
        Turn::text("ok"),
    ])
    .await;
    assert_eq!(b.run(catalog()).await.text(), "ok");
    let seen = b.server.requests();
    assert_eq!(listed(&seen[2].body), names(&[("load_tool", false), ("discover", false)]));
}
