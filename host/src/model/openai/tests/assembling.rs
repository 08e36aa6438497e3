use super::*;
use crate::model::StopReason;
use crate::model::openai::read::ChatReader;
use crate::model::remote::{Reader, joined};
use fake_openai::Call;
use proptest::prelude::*;

async fn raw(parts: Vec<String>) -> Outcome {
    bench(vec![Turn::raw(parts)]).await.run(request(&["a", "b", "c"])).await
}

fn frag(inner: &str) -> String {
    delta(&format!("{{\"tool_calls\":[{inner}]}}"))
}

fn shown(calls: &[ModelCall]) -> Vec<(&str, &str, &str)> {
    calls.iter().map(|c| (c.id.as_str(), c.name.as_str(), c.arguments.as_str())).collect()
}

#[tokio::test]
async fn three_parallel_calls_with_index_zero() {
    let calls = ["a", "b", "c"].map(|n| Call::new(n, json!({"city": n})));
    for no_ids in [false, true] {
        let turn = Turn { same_index: true, no_ids, ..Turn::calls(calls.clone()) };
        let out = bench(vec![turn]).await.run(request(&["a", "b", "c"])).await;
        let got: Vec<(String, String)> = out.calls().into_iter().map(|c| (c.name, c.arguments)).collect();
        let want = ["a", "b", "c"].map(|n| (n.to_owned(), format!("{{\"city\":\"{n}\"}}")));
        assert_eq!(got, want);
        assert_eq!(out.stopped(), Some(StopReason::ToolUse));
    }
}

#[tokio::test]
async fn interleaved_fragments_find_their_calls() {
    let calls = ["a", "b"].map(|n| Call::new(n, json!({"city": format!("{n} 😀 long enough")})).id(format!("id-{n}")));
    let turn = Turn { interleave: true, ..Turn::calls(calls) };
    let out = bench(vec![turn]).await.run(request(&["a", "b"])).await;
    assert_eq!(
        shown(&out.calls()),
        [("id-a", "a", "{\"city\":\"a 😀 long enough\"}"), ("id-b", "b", "{\"city\":\"b 😀 long enough\"}")]
    );
}

#[tokio::test]
async fn halves_of_a_character_are_joined() {
    let out = raw(vec![
        delta("{\"role\":\"assistant\",\"content\":null}"),
        delta("{\"content\":\"a\\ud83d\"}"),
        delta("{\"content\":\"\\ude00b\"}"),
        delta("{\"content\":\"\\ud83d\"}"),
        frag("{\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"a\",\"arguments\":\"{\\\"t\\\":\\\"\\ud83d\"}}"),
        frag("{\"index\":0,\"function\":{\"arguments\":\"\\ude00\\\"}\"}}"),
        end("tool_calls"),
    ])
    .await;
    assert_eq!(out.text(), "a😀b\u{fffd}");
    assert_eq!(shown(&out.calls()), [("x", "a", "{\"t\":\"😀\"}")]);
}

#[tokio::test]
async fn an_emoji_cut_between_packets_survives() {
    let line = delta("{\"content\":\"😀\"}").into_bytes();
    let cut = line.iter().position(|b| *b == 0xf0).unwrap() + 2;
    let mut answer = ChatReader::default();
    let chunks = vec![line[..cut].to_vec(), line[cut..].to_vec(), end("stop").into_bytes()];
    let bytes = futures::stream::iter(chunks.into_iter().map(|c| Ok(bytes::Bytes::from(c))));
    let events: Vec<String> = crate::net::data_events(bytes).map(Result::unwrap).collect().await;
    let text: String = events.iter().map(|e| answer.take(e, &[]).unwrap()).collect();
    assert_eq!(text, "😀");
}

#[tokio::test]
async fn ids_are_made_when_missing_or_repeated() {
    let calls = [
        Call::new("a", json!({})).id("same"),
        Call::new("b", json!({})).id("same"),
        Call::new("c", json!({})).id("old"),
    ];
    let b = bench(vec![Turn::calls(calls)]).await;
    let mut r = request(&["a", "b", "c"]);
    r.step = 7;
    let old = ModelCall { id: "old".into(), name: "a".into(), arguments: String::new() };
    r.messages.push(ModelMessage::assistant("", vec![old]));
    r.messages.push(ModelMessage::Tool {
        call_id: "old".into(),
        tool: "a".into(),
        content: vec![],
        is_error: false,
        data: Value::Null,
        references: vec![],
    });
    let out = b.run(r).await;
    assert_eq!(shown(&out.calls()), [("same", "a", "{}"), ("call_7_2", "b", "{}"), ("call_7_3", "c", "{}")]);
}

#[tokio::test]
async fn odd_fragments() {
    // Arguments as an object, no index, the name in each fragment, nothing at all.
    let out = raw(vec![
        frag("{\"id\":\"1\",\"function\":{\"name\":\"a\",\"arguments\":{\"x\":1}}}"),
        frag("{\"id\":\"2\",\"function\":{\"name\":\"b\",\"arguments\":\"{\\\"y\\\"\"}}"),
        frag("{\"id\":\"2\",\"function\":{\"name\":\"b\",\"arguments\":\":2}\"}}"),
        frag("{\"id\":\"2\",\"function\":{\"name\":\"b\",\"arguments\":\"\"}}"),
        frag("{\"id\":\"3\",\"function\":{\"name\":\"c\"}}"),
        end("stop"),
    ])
    .await;
    assert_eq!(shown(&out.calls()), [("1", "a", "{\"x\":1}"), ("2", "b", "{\"y\":2}"), ("3", "c", "")]);
    assert_eq!(out.stopped(), Some(StopReason::ToolUse));
}

#[tokio::test]
async fn calls_without_arguments_end_at_the_next_name() {
    let out = raw(vec![
        frag("{\"index\":0,\"function\":{\"name\":\"a\",\"arguments\":\"\"}}"),
        frag("{\"index\":0,\"function\":{\"name\":\"b\",\"arguments\":\"\"}}"),
        end("tool_calls"),
    ])
    .await;
    assert_eq!(shown(&out.calls()), [("call_1_1", "a", ""), ("call_1_2", "b", "")]);
}

#[tokio::test]
async fn broken_arguments_are_passed_on_as_they_are() {
    let out = raw(vec![
        frag("{\"index\":0,\"id\":\"1\",\"function\":{\"name\":\"a\",\"arguments\":\"{\\\"a\\\":1,}\"}}"),
        frag("{\"index\":1,\"id\":\"2\",\"function\":{\"name\":\"b\",\"arguments\":\"\\\"{}\\\"\"}}"),
        end("length"),
    ])
    .await;
    assert_eq!(shown(&out.calls()), [("1", "a", "{\"a\":1,}"), ("2", "b", "\"{}\"")]);
    assert_eq!(out.stopped(), Some(StopReason::Length));
}

#[tokio::test]
async fn ends_are_told_apart() {
    for (finish, want) in
        [("stop", StopReason::End), ("length", StopReason::Length), ("content_filter", StopReason::Refusal)]
    {
        let out = raw(vec![delta("{\"content\":\"x\"}"), end(finish)]).await;
        assert_eq!(out.stopped(), Some(want));
    }
    let out = raw(vec![delta("{\"refusal\":\"I cannot\"}"), end("stop")]).await;
    assert_eq!(out.stopped(), Some(StopReason::Refusal));
    assert_eq!(out.text(), "");
    let out = raw(vec![end("length")]).await;
    assert_eq!(out.stopped(), Some(StopReason::Length));
}

#[tokio::test]
async fn a_call_written_as_text_stays_text() {
    let turn = Turn { calls_as_text: true, ..Turn::calls([Call::new("a", json!({"city": "x"}))]) };
    let out = bench(vec![turn]).await.run(request(&["a"])).await;
    assert!(out.calls().is_empty());
    assert!(out.text().contains("\"name\":\"a\""));
}

#[test]
fn content_in_parts_is_read() {
    let mut answer = ChatReader::default();
    let data = json!({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "finish_reason": "stop"}]});
    assert_eq!(answer.take(&data.to_string(), &[]).unwrap(), "ab");
}

proptest! {
    #[test]
    fn any_events_are_read_without_panic(lines in prop::collection::vec(".*", 0..8), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut answer = ChatReader::default();
        for line in &lines {
            let _ = answer.take(line, &[]);
        }
        let _ = joined(&bytes);
        let stream = futures::stream::iter([Ok(bytes::Bytes::from(bytes))]);
        let events: Vec<_> = futures::executor::block_on(crate::net::data_events(stream).collect());
        for event in events.into_iter().flatten() {
            let _ = answer.take(&event, &[]);
        }
        Box::new(answer).answer(1, &|_| false);
    }

    #[test]
    fn any_fragments_give_calls_with_different_ids(
        parts in prop::collection::vec((prop::option::of(0u64..3), prop::option::of("[ab]?"), prop::option::of("[fg]?"), "[{}\":,a ]{0,4}"), 0..20)
    ) {
        let mut answer = ChatReader::default();
        for (index, id, name, arguments) in parts {
            let call = json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
            let event = json!({"choices": [{"delta": {"tool_calls": [call]}}]});
            prop_assert!(answer.take(&event.to_string(), &[]).is_ok());
        }
        let calls = Box::new(answer).answer(2, &|_| false).calls;
        let ids: std::collections::HashSet<&str> = calls.iter().map(|c| c.id.as_str()).collect();
        prop_assert_eq!(ids.len(), calls.len());
    }
}

#[tokio::test]
async fn calls_without_an_end_are_cut_off() {
    let many = (0..1_100).map(|n| frag(&format!("{{\"index\":{n},\"function\":{{\"name\":\"a\"}}}}")));
    let out = raw(many.chain([end("tool_calls")]).collect()).await;
    assert_eq!(out.stopped(), Some(StopReason::Length));
    let long = "n".repeat(400_000);
    let named = |n: usize| frag(&format!("{{\"index\":{n},\"id\":\"{n}\",\"function\":{{\"name\":\"{long}\"}}}}"));
    let out = raw((0..4).map(named).chain([end("tool_calls")]).collect()).await;
    assert_eq!(out.stopped(), Some(StopReason::Length));
    let few = (0..200).map(|n| frag(&format!("{{\"index\":{n},\"function\":{{\"name\":\"a\"}}}}")));
    let out = raw(few.chain([end("tool_calls")]).collect()).await;
    assert_eq!((out.stopped(), out.calls().len()), (Some(StopReason::ToolUse), 200));
}
