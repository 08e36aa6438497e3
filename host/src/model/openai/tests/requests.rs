use super::*;
use crate::model::{StopReason, ToolChoice};
use plugin_sdk::{ContentBlock, ImageData};

fn call(id: &str, name: &str, arguments: &str) -> ModelCall {
    ModelCall { id: id.into(), name: name.into(), arguments: arguments.into() }
}

fn result(id: &str, content: Vec<ContentBlock>) -> ModelMessage {
    ModelMessage::Tool {
        call_id: id.into(),
        tool: "t".into(),
        content,
        is_error: false,
        data: json!({"secret": 1}),
        references: vec![],
    }
}

#[tokio::test]
async fn a_whole_request_is_what_a_strict_server_takes() {
    let b = bench_with(vec![Turn::text("Hello")], json!({"temperature": 0.5, "headers": {"x-team": "a"}})).await;
    let mut r = request(&["get-weather"]);
    r.messages.push(ModelMessage::assistant(" ", vec![]));
    let odd = call(&"i".repeat(50), "serch web.天气", "{\"a\":1,}");
    let doubled = call("c2", "get-weather", "\"{\\\"city\\\":\\\"P\\\"}\"");
    r.messages.push(ModelMessage::assistant("", vec![odd, doubled]));
    r.messages.push(result(&"i".repeat(50), vec![]));
    let image = ContentBlock::Image { image: ImageData { mime: "image/png".into(), data: "AA".into() } };
    r.messages.push(result("c2", vec![ContentBlock::text("sunny"), image, ContentBlock::text(" ")]));
    r.messages.push(ModelMessage::user("and?"));
    let out = b.run(r).await;
    assert_eq!(out.error, None);
    assert_eq!(out.text(), "Hello");
    assert_eq!(out.stopped(), Some(StopReason::End));
    let seen = &b.server.requests()[0];
    assert!(seen.authorized);
    assert!(seen.headers.contains(&("x-team".into(), "a".into())));
    let body = &seen.body;
    let keys: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["model", "stream", "stream_options", "max_tokens", "temperature", "tools", "messages"]);
    assert_eq!(body["max_tokens"], 4096);
    assert_eq!(body["tools"][0]["function"]["strict"], false);
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 6);
    assert_eq!(messages[2]["content"], Value::Null);
    assert_eq!(messages[2]["tool_calls"][0]["function"], json!({"name": "serch_web___", "arguments": "{}"}));
    assert_eq!(messages[2]["tool_calls"][1]["function"]["arguments"], "{\"city\":\"P\"}");
    assert_eq!(messages[3]["content"], "(no output)");
    assert_eq!(messages[3]["tool_call_id"], messages[2]["tool_calls"][0]["id"]);
    assert_eq!(messages[4]["content"], "sunny\n[image png: this model cannot see images]");
    assert!(!body.to_string().contains("secret"));
}

#[tokio::test]
async fn no_tools_no_key_and_no_choice() {
    let b = bench(vec![Turn::text("a"), Turn::text("b")]).await;
    let mut r = request(&[]);
    r.tool_choice = ToolChoice::None;
    r.system = " \n".into();
    assert_eq!(b.run(r).await.text(), "a");
    let body = &b.server.requests()[0].body;
    assert!(body.get("tools").is_none() && body.get("tool_choice").is_none());
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
    let mut last = request(&["a"]);
    last.tool_choice = ToolChoice::None;
    assert_eq!(b.run(last).await.text(), "b");
    assert_eq!(b.server.requests()[1].body["tool_choice"], "none");
}

#[tokio::test]
async fn steps_have_equal_prefixes() {
    let b = bench(vec![Turn::text("a"), Turn::text("b")]).await;
    let mut r = request(&["a", "b"]);
    b.run(r.clone()).await;
    r.messages.push(ModelMessage::assistant("a", vec![]));
    r.messages.push(ModelMessage::user("more"));
    b.run(r).await;
    let seen: Vec<String> = b.server.requests().iter().map(|s| s.body.to_string()).collect();
    let shared = seen[0].strip_suffix("]}").unwrap();
    assert!(seen[1].starts_with(shared));
}

#[tokio::test]
async fn over_the_limit_the_oldest_loaded_leave_and_that_is_told() {
    let b = bench_with(vec![Turn::text("a")], json!({"max_tools": 3})).await;
    let mut r = request(&["discover", "pinned", "old", "mid", "new"]);
    r.tools[0].meta = true;
    for t in &mut r.tools[2..] {
        t.loaded = true;
    }
    let out = b.run(r).await;
    let told: Vec<&ModelEvent> = out.events.iter().filter(|e| matches!(e, ModelEvent::ToolRefused(..))).collect();
    assert_eq!(
        told,
        [
            &ModelEvent::ToolRefused("old".into(), "more than 3 tools".into()),
            &ModelEvent::ToolRefused("mid".into(), "more than 3 tools".into())
        ]
    );
    let sent: Vec<Value> = b.server.requests()[0].body["tools"].as_array().unwrap().clone();
    let names: Vec<&str> = sent.iter().map(|t| t["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["discover", "pinned", "new"]);
}

#[tokio::test]
async fn a_refused_tool_is_left_out_once_and_remembered() {
    let refuse = |name: &str| Turn {
        text: Some("fine".into()),
        ..Turn::fault(fake_openai::Fault::RefuseTool { name: name.into() })
    };
    let b = bench(vec![refuse("bad"), refuse("bad"), refuse("bad")]).await;
    let out = b.run(request(&["good", "bad"])).await;
    assert_eq!(out.text(), "fine");
    let ModelEvent::ToolRefused(name, reason) = &out.events[0] else { panic!("{:?}", out.events) };
    assert_eq!(name, "bad");
    assert!(reason.contains("Invalid schema for function 'bad'"), "{reason}");
    assert_eq!(out.events[1], ModelEvent::Restart);
    let again = b.run(request(&["good", "bad"])).await;
    assert!(matches!(&again.events[0], ModelEvent::ToolRefused(n, _) if n == "bad"));
    assert_eq!(again.restarts(), 0);
    assert_eq!(b.server.requests().len(), 3);
    let mut changed = request(&["good", "bad"]);
    changed.tools[1].schema = Arc::new(json!({"type": "object", "properties": {}}));
    b.run(changed).await;
    assert_eq!(b.server.requests()[3].body["tools"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_second_refusal_fails_and_an_unnamed_one_is_not_repeated() {
    let refuse = |name: &str| Turn::fault(fake_openai::Fault::RefuseTool { name: name.into() });
    let b = bench(vec![refuse("a"), refuse("b"), Turn::fault(fake_openai::Fault::status(422, "bad shape"))]).await;
    let out = b.run(request(&["a", "b"])).await;
    assert!(matches!(out.error, Some(ModelError::Rejected(_))), "{:?}", out.error);
    let out = b.run(request(&["a", "b"])).await;
    assert_eq!(out.error, Some(ModelError::Rejected("HTTP 422: bad shape".into())));
    assert_eq!(b.server.requests().len(), 3);
    assert_eq!(b.model.state(), crate::model::ModelState::Up);
}

#[tokio::test]
async fn prefixes_of_other_formats_are_taken_off_known_names_only() {
    let calls = ["functions.a", "default_api.a", "functions.zz", "a"].map(|n| fake_openai::Call::new(n, json!({})));
    let b = bench(vec![Turn::calls(calls)]).await;
    let names: Vec<String> = b.run(request(&["a"])).await.calls().into_iter().map(|c| c.name).collect();
    assert_eq!(names, ["a", "a", "functions.zz", "a"]);
}

#[test]
fn addresses_keep_their_own_path_and_query() {
    let at = |base| super::super::endpoint(base).map(|u| u.to_string());
    assert_eq!(at("http://h/v1").as_deref(), Some("http://h/v1/chat/completions"));
    assert_eq!(at("http://h/v1/").as_deref(), Some("http://h/v1/chat/completions"));
    assert_eq!(at("http://h").as_deref(), Some("http://h/chat/completions"));
    assert_eq!(at("http://h/d/chat/completions?v=1").as_deref(), Some("http://h/d/chat/completions?v=1"));
    assert_eq!(at("http://h/d?v=1").as_deref(), Some("http://h/d/chat/completions?v=1"));
    assert_eq!(at("file:///etc"), None);
    assert_eq!(at("nonsense"), None);
}

#[tokio::test]
async fn usage_is_taken_or_estimated_and_priced() {
    let off = Turn { usage: fake_openai::Usage::Off, ..Turn::text("你好 four") };
    let b = bench_with(vec![Turn::text("12345678"), off], json!({"price_in": 1.0, "price_out": 10.0})).await;
    let usage = b.run(request(&[])).await.usage();
    assert_eq!((usage.input, usage.output, usage.estimated), (10, 2, false));
    assert!((usage.cost_usd - 30e-6).abs() < 1e-12);
    let usage = b.run(request(&[])).await.usage();
    assert_eq!((usage.output, usage.estimated), (4, true));
    let cached = delta("{\"content\":\"x\"}")
        + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":5,\"prompt_tokens_details\":{\"cached_tokens\":60},\"completion_tokens_details\":{\"reasoning_tokens\":3}}}\n\n"
        + &end("stop");
    let b =
        bench_with(vec![Turn::raw([cached])], json!({"price_in": 2.0, "price_out": 1.0, "price_cached": 1.0})).await;
    let usage = b.run(request(&[])).await.usage();
    assert_eq!((usage.cached_read, usage.reasoning), (60, 3));
    assert!((usage.cost_usd - 145e-6).abs() < 1e-12);
}

#[tokio::test]
async fn images_are_blocks_and_those_of_results_follow_all_of_them() {
    let b = bench_with(vec![Turn::text("nice")], json!({"images": true})).await;
    let data = |mime: &str| ImageData { mime: mime.into(), data: "AAAA".into() };
    let shown = || ContentBlock::Image { image: data("image/png") };
    let mut r = request(&["a"]);
    r.messages = vec![ModelMessage::User { text: "look".into(), images: vec![data("image/jpeg"), data("image/tiff")] }];
    r.messages.push(ModelMessage::assistant("", vec![call("1", "a", "{}"), call("2", "a", "{}")]));
    r.messages.push(result("1", vec![shown(), ContentBlock::text("one")]));
    r.messages.push(result("2", vec![shown()]));
    let out = b.run(r).await;
    assert_eq!((out.error.clone(), out.text().as_str()), (None, "nice"));
    let messages = b.server.requests()[0].body["messages"].as_array().unwrap().clone();
    let roles: Vec<&str> = messages.iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user"]);
    assert_eq!(messages[1]["content"][0]["text"], "look\n[image tiff: this model cannot see images]");
    assert_eq!(messages[1]["content"][1]["image_url"]["url"], "data:image/jpeg;base64,AAAA");
    assert_eq!(messages[3]["content"], "[image: in the next message]\none");
    assert_eq!(messages[5]["content"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn the_signature_of_a_call_returns_to_its_maker_only() {
    let signed = |name: &str| {
        let extra = json!({"extra_content": {"google": {"thought_signature": format!("+/{name}==")}}});
        fake_openai::Call { extra: extra.as_object().unwrap().clone(), ..fake_openai::Call::new(name, json!({})) }
    };
    let plain = fake_openai::Call::new("b", json!({}));
    let b = bench(vec![Turn::calls([plain, signed("a")]), Turn::text("done")]).await;
    let mut r = request(&["a", "b"]);
    let out = b.run(r.clone()).await;
    let opaque: Vec<_> = out
        .events
        .iter()
        .filter_map(|e| match e {
            ModelEvent::Opaque(o) => Some(o.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(opaque.iter().map(|o| o.after).collect::<Vec<_>>(), [2]);
    let calls = out.calls();
    let ids: Vec<String> = calls.iter().map(|c| c.id.clone()).collect();
    r.messages.push(ModelMessage::Assistant { text: String::new(), calls, opaque });
    r.messages.extend(ids.iter().map(|id| result(id, vec![ContentBlock::text("ok")])));
    assert_eq!(b.run(r.clone()).await.text(), "done", "the server compares it");
    let other = bench(vec![Turn::text("x")]).await;
    assert_eq!(other.run(r).await.text(), "x");
    assert!(!other.server.requests()[0].body.to_string().contains("thought_signature"));
}
