use super::*;

#[tokio::test]
async fn a_whole_request_is_what_a_strict_server_takes() {
    let more = json!({"temperature": 0.5, "headers": {"x-team": "a"}, "images": true});
    let b = bench_with(vec![Turn::text("Hello")], more).await;
    let mut r = request(&["get-weather", "other"]);
    let image = ImageData { mime: "image/png".into(), data: "AAAA".into() };
    r.messages = vec![ModelMessage::assistant("an answer without its question \n", vec![])];
    r.messages.push(ModelMessage::User { text: "look".into(), images: vec![image.clone()] });
    r.messages.push(ModelMessage::user(" "));
    r.messages.push(ModelMessage::user("again"));
    r.messages.push(ModelMessage::assistant(" ", vec![]));
    let odd = call("odd id/1", "serch web.天气", "{\"a\":1,}");
    let doubled = call("c2", "get-weather", "\"{\\\"city\\\":\\\"P\\\"}\"");
    r.messages.push(ModelMessage::assistant("", vec![odd, doubled]));
    r.messages.push(result("odd id/1", vec![]));
    let hidden = ContentBlock::Image { image: ImageData { mime: "image/tiff".into(), data: "AA==".into() } };
    let shown = ContentBlock::Image { image };
    r.messages.push(result("c2", vec![ContentBlock::text("sunny"), hidden, shown, ContentBlock::text(" ")]));
    r.messages.push(result("nobody", vec![ContentBlock::text("orphan")]));
    r.messages.push(ModelMessage::user("and?"));
    let out = b.run(r).await;
    assert_eq!((out.error.clone(), out.text().as_str(), out.stopped()), (None, "Hello", Some(StopReason::End)));
    let seen = &b.server.requests()[0];
    assert!(seen.authorized && seen.header("x-team") == Some("a"));
    assert_eq!(seen.header("anthropic-beta"), Some("advanced-tool-use-2025-11-20"));
    let body = &seen.body;
    let keys: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["model", "max_tokens", "stream", "temperature", "tools", "system", "messages"]);
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    let kinds: Vec<&str> =
        messages[2]["content"].as_array().unwrap().iter().filter_map(|b| b["type"].as_str()).collect();
    assert_eq!(kinds, ["text", "image", "text"]);
    let calls = messages[3]["content"].as_array().unwrap();
    assert_eq!((&calls[0]["name"], &calls[0]["input"]), (&json!("serch_web___"), &json!({})));
    assert_eq!(calls[1]["input"], json!({"city": "P"}));
    let results = messages[4]["content"].as_array().unwrap();
    assert_eq!(results[0]["tool_use_id"], calls[0]["id"]);
    assert_eq!(results[0]["content"][0]["text"], "(no output)");
    let words = "[image tiff: this model cannot see images]";
    assert_eq!(results[1]["content"][1]["text"], words);
    assert_eq!(results[1]["content"][2]["source"]["media_type"], "image/png");
    assert_eq!(results.len(), 3);
    let mark = json!({"type": "ephemeral"});
    assert_eq!(results[2]["cache_control"], mark);
    assert_eq!(body["system"][0]["cache_control"], mark);
    assert_eq!((&body["tools"][0]["cache_control"], &body["tools"][1]["cache_control"]), (&Value::Null, &mark));
    assert_eq!(body.to_string().matches("cache_control").count(), 3);
}

#[tokio::test]
async fn no_tools_no_key_and_the_last_step_has_no_choice() {
    let b = bench(vec![Turn::text("a"), Turn::text("b")]).await;
    let mut r = request(&[]);
    r.tool_choice = ToolChoice::None;
    r.system = " \n".into();
    assert_eq!(b.run(r).await.text(), "a");
    let body = &b.server.requests()[0].body;
    assert!(body.get("tools").is_none() && body.get("tool_choice").is_none() && body.get("system").is_none());
    let mut last = request(&["a"]);
    last.tool_choice = ToolChoice::None;
    assert_eq!(b.run(last).await.text(), "b");
    assert_eq!(b.server.requests()[1].body["tool_choice"], json!({"type": "none"}));
}

#[tokio::test]
async fn an_id_that_comes_again_in_the_conversation_is_told_apart() {
    let b = bench(vec![Turn::text("a")]).await;
    let mut r = request(&["a"]);
    for n in ["one", "two"] {
        r.messages.push(ModelMessage::user(n));
        r.messages.push(ModelMessage::assistant("", vec![call("call_1_1", "a", "{}")]));
        r.messages.push(result("call_1_1", vec![ContentBlock::text(n)]));
    }
    assert_eq!(b.run(r).await.text(), "a");
    let body = &b.server.requests()[0].body["messages"];
    assert_eq!(body[3]["content"][0]["id"], "call_1_1_2");
    assert_eq!(body[4]["content"][0]["tool_use_id"], "call_1_1_2");
}

#[tokio::test]
async fn a_blind_model_is_told_what_it_does_not_see() {
    let b = bench(vec![Turn::text("a")]).await;
    let mut r = request(&[]);
    let images = vec![ImageData { mime: "image/png".into(), data: "AAAA".into() }];
    r.messages = vec![ModelMessage::User { text: String::new(), images }];
    assert_eq!(b.run(r).await.text(), "a");
    let said = &b.server.requests()[0].body["messages"][0]["content"][0]["text"];
    assert_eq!(said, "[image png: this model cannot see images]");
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
    let shared = &seen[0][..seen[0].find("\"messages\"").unwrap()];
    assert!(shared.contains("\"system\"") && shared.contains("\"tools\""));
    assert!(seen[1].starts_with(shared));
}

#[tokio::test]
async fn addresses_get_the_path_they_lack() {
    let at = |base| super::super::endpoint(base).map(|u| u.to_string());
    assert_eq!(at("http://h").as_deref(), Some("http://h/v1/messages"));
    assert_eq!(at("http://h/v1/").as_deref(), Some("http://h/v1/messages"));
    assert_eq!(at("http://h/proxy?k=1").as_deref(), Some("http://h/proxy/v1/messages?k=1"));
    assert_eq!(at("http://h/v1/messages").as_deref(), Some("http://h/v1/messages"));
    assert_eq!(at("file:///etc"), None);
}

#[tokio::test]
async fn signed_reasoning_returns_as_it_came_and_to_its_maker_only() {
    let thoughts = |text: &str| Some(Thinking::signed(format!("{text}: \"quoted\" \\ 😀\n"), format!("sig+/{text}==")));
    let again = || Turn { thinking: thoughts("one"), ..Turn::call("a", json!({"n": 1})) };
    let b = bench(vec![
        again(),
        Turn {
            thinking: Some(Thinking { redacted: Some("c2VjcmV0".into()), ..Thinking::default() }),
            text: Some("And now".into()),
            ..Turn::call("a", json!({"n": 2}))
        },
        Turn::text("done"),
    ])
    .await;
    let first = request(&["a"]);
    let out = b.run(first.clone()).await;
    assert_eq!((out.text().as_str(), opaque(&out).len()), ("", 1), "reasoning is never shown");
    let stored = serde_json::to_string(&opaque(&out)).unwrap();
    assert!(!stored.contains("quoted"), "nor kept as text: {stored}");
    let second = after(first, &out);
    let out = b.run(second.clone()).await;
    assert_eq!(out.error, None);
    let third = after(second, &out);
    assert_eq!(b.run(third.clone()).await.text(), "done", "the server compares every byte");
    let sent = b.server.requests()[2].body["messages"].to_string();
    assert!(sent.contains("sig+/one==") && sent.contains("c2VjcmV0"));
    // the same conversation with another model, and with another service
    let mut others = Vec::new();
    for more in [json!({"model": "other"}), json!({})] {
        let other = bench_with(vec![Turn::text("x")], more).await;
        assert_eq!(other.run(third.clone()).await.text(), "x");
        others.extend(other.server.requests());
    }
    let chat = crate::model::openai::tests::bench(vec![Turn::text("y")]).await;
    assert_eq!(chat.run(third).await.text(), "y");
    for seen in others.iter().chain(&chat.server.requests()) {
        let body = seen.body.to_string();
        assert!(!body.contains("thinking") && !body.contains("sig+/") && !body.contains("c2VjcmV0"), "{body}");
    }
}
