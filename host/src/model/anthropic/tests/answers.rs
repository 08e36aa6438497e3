use super::*;
use crate::model::anthropic::read::MessageReader;
use crate::model::remote::Reader;
use proptest::prelude::*;

fn shown(calls: &[ModelCall]) -> Vec<(&str, &str, &str)> {
    calls.iter().map(|c| (c.id.as_str(), c.name.as_str(), c.arguments.as_str())).collect()
}

async fn ask(turn: Turn) -> Outcome {
    bench(vec![turn]).await.run(request(&["a", "b", "c"])).await
}

#[tokio::test]
async fn blocks_find_their_calls_however_they_come() {
    let calls = ["a", "b", "c"].map(|n| Call::new(n, json!({"city": format!("{n} 😀 北京")})).id(format!("id-{n}")));
    let plain = || Turn { text: Some("Let me see.".into()), ..Turn::calls(calls.clone()) };
    for turn in [
        plain(),
        Turn { same_index: true, ..plain() },
        Turn { interleave: true, ..plain() },
        Turn { overlap: true, ..plain() },
        Turn { bare_start: true, noise: true, ..plain() },
        Turn { split_bytes: Some(1), ..plain() },
    ] {
        let out = ask(turn.clone()).await;
        let want = ["a", "b", "c"].map(|n| (format!("id-{n}"), n.to_owned(), json!({"city": format!("{n} 😀 北京")})));
        let got: Vec<(String, String, Value)> =
            out.calls().into_iter().map(|c| (c.id, c.name, serde_json::from_str(&c.arguments).unwrap())).collect();
        assert_eq!(got, want, "{turn:?}");
        assert_eq!((out.text().as_str(), out.stopped()), ("Let me see.", Some(StopReason::ToolUse)));
    }
    let escaped = ask(Turn { escape: true, ..plain() }).await;
    assert!(escaped.calls()[0].arguments.contains("\\ud83d\\ude00"), "{:?}", escaped.calls());
}

#[tokio::test]
async fn ids_names_and_arguments_are_taken_as_they_are() {
    let calls = [
        Call::new("a", json!("")).id("same"),
        Call::new("functions.b", json!("{\"a\":1,}")).id("same"),
        Call::new("c", json!("\"{\\\"x\\\":1}\"")),
    ];
    let out = ask(Turn::calls(calls)).await;
    let calls = out.calls();
    assert_eq!(shown(&calls)[..2], [("same", "a", "{}"), ("call_1_2", "b", "{\"a\":1,}")]);
    assert_eq!(calls[2].arguments, "\"{\\\"x\\\":1}\"");
    let out = ask(Turn { no_ids: true, ..Turn::calls([Call::new("a", json!({})), Call::new("b", json!({}))]) }).await;
    assert_eq!(shown(&out.calls()), [("call_1_1", "a", "{}"), ("call_1_2", "b", "{}")]);
}

#[tokio::test]
async fn ends_are_told_apart() {
    for (finish, want) in [
        ("end_turn", StopReason::End),
        ("stop_sequence", StopReason::End),
        ("max_tokens", StopReason::Length),
        ("refusal", StopReason::Refusal),
    ] {
        let out = ask(Turn { finish: Some(finish.into()), ..Turn::text("x") }).await;
        assert_eq!((out.stopped(), out.text().as_str()), (Some(want), "x"));
    }
    let out = ask(Turn { finish: Some("max_tokens".into()), ..Turn::default() }).await;
    assert_eq!((out.stopped(), out.text().as_str()), (Some(StopReason::Length), ""));
    let cut = Turn { finish: Some("max_tokens".into()), ..Turn::calls([Call::new("a", json!("{\"city\": \"Par"))]) };
    let out = ask(cut).await;
    assert_eq!((out.stopped(), out.calls().len()), (Some(StopReason::Length), 1));
}

#[tokio::test]
async fn a_paused_answer_goes_on_where_it_was() {
    let pause = |text: &str| Turn { finish: Some("pause_turn".into()), ..Turn::text(text) };
    let last = Turn { text: Some("third.".into()), ..Turn::call("a", json!({})) };
    let thinking = Some(Thinking::signed("hm", "s1"));
    let b = bench(vec![Turn { thinking, ..pause("First ") }, pause("second "), last]).await;
    let out = b.run(request(&["a"])).await;
    assert_eq!((out.error.clone(), out.text().as_str(), out.restarts()), (None, "First second third.", 0));
    assert_eq!((out.stopped(), out.calls().len()), (Some(StopReason::ToolUse), 1));
    assert_eq!(out.usage().input, 30, "each request is counted");
    assert_eq!(opaque(&out).iter().map(|o| o.after).collect::<Vec<_>>(), [0]);
    let seen = b.server.requests();
    let content = seen[2].body["messages"][1]["content"].as_array().unwrap();
    assert_eq!(content[0]["signature"], "s1");
    let said: Vec<&str> = content.iter().filter_map(|b| b["text"].as_str()).collect();
    assert_eq!(said, ["First", "second"]);
    // a broken continuation starts the whole step again
    let cut = Turn { fault: Some(Fault::Cut { after: 2 }), ..Turn::text("x") };
    let b = bench(vec![pause("old "), cut, Turn::text("new")]).await;
    let out = b.run(request(&[])).await;
    assert_eq!((out.text().as_str(), out.restarts()), ("new", 1));
    assert_eq!(b.server.requests()[2].body["messages"].as_array().unwrap().len(), 1);
    // and one that never ends is ended
    let b = bench(vec![pause("again ").always()]).await;
    assert_eq!(b.run(request(&[])).await.stopped(), Some(StopReason::End));
    assert_eq!(b.server.requests().len(), 9);
}

#[tokio::test]
async fn usage_is_taken_whole_or_estimated_and_priced() {
    let counts = Counts { input: 100, output: 5, cached_read: 60, cached_write: 30, reasoning: 0 };
    let prices = json!({"price_in": 2.0, "price_out": 1.0, "price_cached": 1.0});
    let counted = Turn { usage: Usage::Counts(counts), ..Turn::text("x") };
    let off = Turn { usage: Usage::Off, ..Turn::text("你好 four") };
    let b = bench_with(vec![counted, off], prices).await;
    let usage = b.run(request(&[])).await.usage();
    assert_eq!((usage.input, usage.output, usage.cached_read, usage.cached_write), (100, 5, 60, 30));
    assert!(!usage.estimated && (usage.cost_usd - 145e-6).abs() < 1e-12, "{usage:?}");
    let usage = b.run(request(&[])).await.usage();
    assert_eq!((usage.output, usage.estimated), (4, true));
}

#[test]
fn halves_of_a_character_and_messages_in_one_piece() {
    let mut reader = MessageReader::default();
    let mut text = String::new();
    for event in [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\ud83d"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ude00b\ud83d"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"!"}}"#,
        r#"{"type":"something_new"}"#,
    ] {
        text.push_str(&reader.take(event, &[]).unwrap());
    }
    assert_eq!(text, "a😀b\u{fffd}!");
    let mut reader = MessageReader::default();
    let whole = json!({"type": "message", "content": [
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "i", "name": "a", "input": {"x": 1}}
    ], "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 2}});
    assert_eq!(reader.take(&whole.to_string(), &[]).unwrap(), "Hi");
    let answer = Box::new(reader).answer(1, &|_| false);
    assert_eq!((answer.calls[0].arguments.as_str(), answer.stop), ("{\"x\":1}", Some(StopReason::ToolUse)));
    assert_eq!(answer.usage.unwrap().input, 3);
}

proptest! {
    #[test]
    fn any_events_are_read_without_panic(lines in prop::collection::vec(".*", 0..8), steps in prop::collection::vec((0usize..5, 0u64..3, 0usize..5, "[{}\":a ]{0,4}"), 0..30)) {
        let mut reader = MessageReader::default();
        for line in &lines {
            let _ = reader.take(line, &[]);
        }
        let kinds = ["text", "tool_use", "thinking", "redacted_thinking", "odd"];
        for (what, index, kind, text) in steps {
            let event = match what {
                0 => json!({"type": "content_block_start", "index": index, "content_block": {"type": kinds[kind], "text": text, "id": text}}),
                1 => json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}),
                2 => json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text}}),
                3 => json!({"type": "content_block_stop", "index": index}),
                _ => json!({"type": "message_delta", "delta": {"stop_reason": "pause_turn"}, "usage": {"output_tokens": index}}),
            };
            prop_assert!(reader.take(&event.to_string(), &[]).is_ok());
        }
        let calls = Box::new(reader).answer(2, &|_| false).calls;
        let ids: std::collections::HashSet<&str> = calls.iter().map(|c| c.id.as_str()).collect();
        prop_assert_eq!(ids.len(), calls.len());
    }
}

#[tokio::test]
async fn calls_without_an_end_are_cut_off() {
    let out = ask(Turn::calls((0..1_100).map(|_| Call::new("a", json!({}))))).await;
    assert_eq!(out.stopped(), Some(StopReason::Length));
    let out = ask(Turn::calls((0..200).map(|_| Call::new("a", json!({}))))).await;
    assert_eq!((out.stopped(), out.calls().len()), (Some(StopReason::ToolUse), 200));
    let named = (0..4).map(|_| Call::new("n".repeat(400_000), json!({})));
    assert_eq!(ask(Turn::calls(named)).await.stopped(), Some(StopReason::Length));
}
