use crate::model::{ModelCall, ModelMessage};
use crate::session::{is_sendable, repair};
use plugin_sdk::ContentBlock;
use serde_json::Value;

fn user(text: &str) -> ModelMessage {
    ModelMessage::user(text)
}

fn said(text: &str, ids: &[&str]) -> ModelMessage {
    let calls = ids.iter().map(|id| ModelCall { id: (*id).into(), name: "t".into(), arguments: "{}".into() }).collect();
    ModelMessage::assistant(text, calls)
}

fn result(id: &str) -> ModelMessage {
    let content = vec![ContentBlock::text("ok")];
    ModelMessage::Tool {
        call_id: id.into(),
        tool: "t".into(),
        content,
        is_error: false,
        data: Value::Null,
        references: vec![],
    }
}

#[test]
fn a_complete_conversation_is_left_alone() {
    let whole = vec![user("hi"), said("", &["a", "b"]), result("b"), result("a"), said("done", &[]), user("more")];
    let (repaired, done) = repair(whole.clone());
    assert_eq!(repaired, whole);
    assert!(done.is_nothing());
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
fn a_call_without_result_is_interrupted() {
    let (repaired, _) = repair(vec![user("hi"), said("", &["a"]), user("again")]);
    let ModelMessage::Tool { content, is_error: true, .. } = &repaired[2] else { panic!("no result: {repaired:?}") };
    assert_eq!(content, &[ContentBlock::text("interrupted")]);
}
