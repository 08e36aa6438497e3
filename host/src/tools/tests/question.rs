use crate::tools::ask_user::parse;
use plugin_sdk::ports::QuestionKind;
use serde_json::{Map, Value, json};

fn input(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

#[test]
fn the_kind_follows_the_options_unless_it_is_given() {
    let kind = |v: Value| parse(&input(v)).unwrap().kind;
    assert_eq!(kind(json!({"question": "who?"})), QuestionKind::Text);
    assert_eq!(kind(json!({"question": "who?", "options": ["a", "b"]})), QuestionKind::Pick);
    assert_eq!(kind(json!({"question": "how many?", "type": "number"})), QuestionKind::Number);
    assert_eq!(parse(&input(json!({"question": " x "}))).unwrap().timeout_seconds, 120);
}

#[test]
fn a_question_that_cannot_be_answered_is_refused() {
    let bad = [
        json!({"question": "  "}),
        json!({"question": "x", "type": "pick"}),
        json!({"question": "x", "options": ["a"]}),
        json!({"question": "x", "options": ["a", " a "]}),
        json!({"question": "x", "options": ["a", " "]}),
        json!({"question": "x", "type": "text", "options": ["a", "b"]}),
        json!({"question": "x", "type": "number", "default_value": "many"}),
        json!({"question": "x", "type": "confirm", "default_value": "maybe"}),
        json!({"question": "x", "options": ["a", "b"], "default_value": "c"}),
    ];
    for value in bad {
        let error = parse(&input(value.clone())).unwrap_err();
        assert_eq!(error.code, "VALIDATION_ERROR", "{value}");
    }
    let fine = json!({"question": "x", "options": [" a ", "b"], "default_value": "a"});
    assert_eq!(parse(&input(fine)).unwrap().options, ["a", "b"]);
}
