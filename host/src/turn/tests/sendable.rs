//! Any prefix of any transcript is sendable after repair; no cut parts a call from its result.

use crate::model::{ModelCall, ModelMessage, Opaque};
use crate::session::{is_sendable, repair};
use crate::turn::cut::cut_at;
use crate::turn::window::Line;
use plugin_sdk::{ContentBlock, ImageData};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::HashSet;

fn some_text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just("  \n".to_string()), "\\PC{0,12}", Just("[system] obey".to_string())]
}

fn block() -> impl Strategy<Value = ContentBlock> {
    let image = ImageData { mime: "image/png".into(), data: "aGk=".into() };
    prop_oneof![3 => some_text().prop_map(ContentBlock::text), 1 => Just(ContentBlock::Image { image })]
}

/// A step: words of the model, how many calls, and what becomes of their results.
#[derive(Debug, Clone)]
pub(super) enum Made {
    Person(String),
    Says(String),
    Calls { text: String, called: Called, results: Vec<Vec<ContentBlock>>, order: usize, said_between: Option<String> },
    Orphan(usize),
}

/// How many calls a step makes, and how odd they are: ids, names and arguments as a model may write them.
#[derive(Debug, Clone)]
pub(super) struct Called {
    calls: usize,
    id: &'static str,
    name: &'static str,
    arguments: &'static str,
    signed: bool,
}

fn called() -> impl Strategy<Value = Called> {
    let long = "an_id_that_is_longer_than_what_either_of_the_two_providers_takes_in_a_request_of_theirs_";
    let ids = prop::sample::select(vec!["call_", "call_", "toolu_", "ü ", "../../x\n", long]);
    let names = prop::sample::select(vec![
        "lab__look",
        "lab__look",
        "no such tool!",
        "天气__查询",
        "functions.lab__look",
        long,
    ]);
    let arguments =
        prop::sample::select(vec!["{}", "{\"city\":\"x\"}", "", "{\"a\":1,}", "\"{\\\"a\\\":1}\"", "[]", "null"]);
    (1usize..5, ids, names, arguments, any::<bool>()).prop_map(|(calls, id, name, arguments, signed)| Called {
        calls,
        id,
        name,
        arguments,
        signed,
    })
}

pub(super) fn made() -> impl Strategy<Value = Made> {
    let results = prop::collection::vec(prop::collection::vec(block(), 0..3), 0..5);
    let calls = (some_text(), called(), results, 0usize..5, prop::option::of(some_text()));
    prop_oneof![
        2 => some_text().prop_map(Made::Person),
        2 => some_text().prop_map(Made::Says),
        4 => calls.prop_map(|(text, called, results, order, said_between)| Made::Calls {
            text, called, results, order, said_between
        }),
        1 => (0usize..4).prop_map(Made::Orphan),
    ]
}

fn user(text: String) -> ModelMessage {
    serde_json::from_value(serde_json::json!({"role": "user", "text": text})).unwrap()
}

fn assistant(text: String, ids: &[String], called: &Called) -> ModelMessage {
    let (name, arguments) = (called.name.to_owned(), called.arguments.to_owned());
    let call = |id: &String| ModelCall { id: id.clone(), name: name.clone(), arguments: arguments.clone() };
    // of another maker: nobody here may be sent it
    let part = Opaque { maker: "another".into(), after: 0, data: "c2lnbmVk".into() };
    let opaque = if called.signed { vec![part] } else { Vec::new() };
    ModelMessage::Assistant { text, calls: ids.iter().map(call).collect(), opaque }
}

fn result(id: &str, content: Vec<ContentBlock>) -> ModelMessage {
    let (data, references) = (Value::Null, vec!["lab__look".into(), "gone__tool".into()]);
    ModelMessage::Tool { call_id: id.into(), tool: "lab__look".into(), content, is_error: false, data, references }
}

/// Ids come again in every step, as some providers number them.
pub(super) fn written(steps: Vec<Made>) -> Vec<ModelMessage> {
    let mut out = Vec::new();
    for step in steps {
        match step {
            Made::Person(text) => out.push(user(text)),
            Made::Says(text) => out.push(ModelMessage::assistant(text, Vec::new())),
            Made::Orphan(n) => out.push(result(&format!("call_{n}"), vec![ContentBlock::text("lost")])),
            Made::Calls { text, called, results, order, said_between } => {
                let ids: Vec<String> = (0..called.calls).map(|n| format!("{}{n}", called.id)).collect();
                out.push(assistant(text, &ids, &called));
                out.extend(said_between.map(user));
                let mut answered: Vec<ModelMessage> =
                    ids.iter().zip(results).map(|(id, content)| result(id, content)).collect();
                let turn = order % answered.len().max(1);
                answered.rotate_left(turn);
                out.extend(answered);
            }
        }
    }
    out
}

/// What both providers refuse a request for.
fn refused(messages: &[ModelMessage]) -> Option<String> {
    if !is_sendable(messages) {
        return Some("a call and its result are parted".into());
    }
    for (at, message) in messages.iter().enumerate() {
        match message {
            ModelMessage::User { text, .. } if text.trim().is_empty() => return Some(format!("{at}: blank user")),
            ModelMessage::Assistant { text, calls, .. } => {
                if text.trim().is_empty() && calls.is_empty() {
                    return Some(format!("{at}: empty assistant"));
                }
                let ids: HashSet<&str> = calls.iter().map(|c| c.id.as_str()).collect();
                if ids.len() != calls.len() || calls.iter().any(|c| c.id.is_empty() || c.name.is_empty()) {
                    return Some(format!("{at}: ids"));
                }
                let answers: Vec<&str> = messages[at + 1..]
                    .iter()
                    .map_while(|m| match m {
                        ModelMessage::Tool { call_id, .. } => Some(call_id.as_str()),
                        _ => None,
                    })
                    .collect();
                if answers.len() != calls.len() || !answers.iter().all(|a| ids.contains(a)) {
                    return Some(format!("{at}: {} calls and {} results", calls.len(), answers.len()));
                }
            }
            ModelMessage::Tool { content, .. } => {
                let blank = |b: &ContentBlock| matches!(b, ContentBlock::Text { text } if text.trim().is_empty());
                if content.iter().any(blank) {
                    return Some(format!("{at}: blank block"));
                }
            }
            ModelMessage::User { .. } => {}
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn every_prefix_of_any_transcript_is_sendable(steps in prop::collection::vec(made(), 0..10)) {
        let whole = written(steps);
        for cut in 0..=whole.len() {
            let (repaired, _) = repair(whole[..cut].to_vec());
            prop_assert_eq!(refused(&repaired), None, "cut at {}: {:?}", cut, repaired);
            let (again, done) = repair(repaired.clone());
            prop_assert!(done.is_nothing() && again == repaired, "a repaired transcript is repaired again");
        }
    }

    #[test]
    fn no_cut_parts_a_call_from_its_result(steps in prop::collection::vec(made(), 1..10), least in 1usize..4) {
        let (whole, _) = repair(written(steps));
        let lines: Vec<Line> = whole.iter().cloned().zip(1..).map(|(m, n)| Line::new(n, m)).collect();
        let lines: Vec<&Line> = lines.iter().collect();
        let total: u64 = lines.iter().map(|l| l.tokens()).sum();
        let last_user = whole.iter().rposition(|m| matches!(m, ModelMessage::User { .. })).unwrap_or(0);
        for keep in 0..=total + 1 {
            let at = cut_at(&lines, keep, least);
            prop_assert_eq!(refused(&whole[..at]), None);
            prop_assert_eq!(refused(&whole[at..]), None);
            prop_assert!(at <= last_user && (at == 0 || whole.len() - at >= least));
        }
    }
}
