use crate::model::{ModelCall, ModelMessage};
use crate::turn::{INTERRUPTED, repair};
use plugin_sdk::ContentBlock;
use proptest::prelude::*;
use serde_json::Value;

fn user(text: &str) -> ModelMessage {
    ModelMessage::User { text: text.into() }
}

fn said(text: &str, ids: &[&str]) -> ModelMessage {
    let calls = ids.iter().map(|id| ModelCall { id: (*id).into(), name: "t".into(), arguments: "{}".into() }).collect();
    ModelMessage::Assistant { text: text.into(), calls }
}

fn result(id: &str) -> ModelMessage {
    let content = vec![ContentBlock::text("ok")];
    ModelMessage::Tool { call_id: id.into(), tool: "t".into(), content, is_error: false, data: Value::Null }
}

/// Every call is answered before the next message of another role, every result has its call, nothing is blank.
fn is_sendable(messages: &[ModelMessage]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for m in messages {
        match m {
            ModelMessage::Tool { call_id, .. } => match open.iter().position(|o| o == call_id) {
                Some(i) => drop(open.remove(i)),
                None => return false,
            },
            _ if !open.is_empty() => return false,
            ModelMessage::User { text } if text.trim().is_empty() => return false,
            ModelMessage::User { .. } => {}
            ModelMessage::Assistant { text, calls } => {
                if text.trim().is_empty() && calls.is_empty() {
                    return false;
                }
                open = calls.iter().map(|c| c.id.as_str()).collect();
            }
        }
    }
    open.is_empty()
}

#[test]
fn a_complete_conversation_is_left_alone() {
    let whole = vec![user("hi"), said("", &["a", "b"]), result("b"), result("a"), said("done", &[]), user("more")];
    assert_eq!(repair(whole.clone()), (whole, 0));
}

#[test]
fn every_prefix_of_parallel_calls_is_sendable() {
    let whole = [user("hi"), said("x", &["a", "b", "c"]), result("a"), result("b"), result("c"), said("done", &[])];
    for cut in 0..=whole.len() {
        let (repaired, _) = repair(whole[..cut].to_vec());
        assert!(is_sendable(&repaired), "cut at {cut}");
    }
}

#[test]
fn a_call_without_result_is_interrupted_and_an_orphan_goes() {
    let (repaired, n) = repair(vec![user("hi"), said("", &["a"]), user("again"), result("a"), said(" ", &[])]);
    assert_eq!(n, 3);
    let ModelMessage::Tool { content, is_error: true, .. } = &repaired[2] else { panic!("no result: {repaired:?}") };
    assert_eq!(content, &[ContentBlock::text(INTERRUPTED)]);
    assert_eq!(repaired.len(), 4);
}

fn any_message() -> impl Strategy<Value = ModelMessage> {
    let id = prop::sample::select(vec!["a", "b", "c"]);
    let ids = prop::collection::hash_set(id.clone(), 0..3);
    prop_oneof![
        prop::sample::select(vec!["", "hi"]).prop_map(user),
        (prop::sample::select(vec!["", "so"]), ids).prop_map(|(t, ids)| said(t, &ids.into_iter().collect::<Vec<_>>())),
        id.prop_map(result),
    ]
}

proptest! {
    #[test]
    fn anything_becomes_sendable_and_stays_so(messages in prop::collection::vec(any_message(), 0..12)) {
        let (once, _) = repair(messages);
        prop_assert!(is_sendable(&once));
        let (twice, n) = repair(once.clone());
        prop_assert_eq!(n, 0);
        prop_assert_eq!(twice, once);
    }
}
