use crate::auto::auto;
use crate::*;
use serde_json::{Value, json};

fn offered(name: &str, schema: Value) -> Offered {
    Offered { name: name.into(), schema, ready: true }
}

fn answered(name: &str, arguments: Value, result: &str) -> Option<Called> {
    Some(Called { name: name.into(), arguments, result: result.into() })
}

#[test]
fn without_a_script_it_searches_loads_and_calls() {
    let mut seen = Seen { said: "weather in Paris".into(), ..Seen::default() };
    seen.tools = vec![offered("discover", json!({})), offered("load_tool", json!({}))];
    assert_eq!(auto(&seen).calls[0].name, "discover");
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    seen.tools.push(Offered { name: "maps__get".into(), schema, ready: false });
    seen.answered = answered("discover", json!({}), "- [tool] maps__get: Weather");
    assert_eq!(auto(&seen).calls[0], Call::new("load_tool", json!({"name": "maps__get"})), "a deferred one is loaded");
    seen.tools[2].ready = true;
    seen.answered = answered("load_tool", json!({"name": "maps__get"}), "loaded");
    assert_eq!(auto(&seen).calls[0], Call::new("maps__get", json!({"city": "Paris"})));
    seen.answered = answered("maps__get", json!({}), "sunny");
    assert_eq!(auto(&seen).text.as_deref(), Some("sunny"));
}

#[test]
fn a_script_file_is_read_strictly() {
    let text = r#"{"key": "k", "turns": [{"text": "hi", "times": 2},
        {"fault": {"kind": "status", "status": 429, "retry_after": "2"}},
        {"usage": {"counts": {"input": 5, "cached_read": 3}}, "thinking": {"text": "hm", "signature": "s"}},
        {"calls": [{"name": "a", "arguments": {"x": 1}}]}]}"#;
    let script: Script = serde_json::from_str(text).unwrap();
    assert_eq!(script.turns.len(), 4);
    assert!(serde_json::from_str::<Script>(r#"{"turn": []}"#).is_err());
    assert!(serde_json::from_str::<Script>(r#"{"turns": [{"fault": {"kind": "cut"}}]}"#).is_err());
}

#[test]
fn escaped_arguments_are_the_same_object() {
    let call = Call::new("a", json!({"city": "Zürich 😀"}));
    let text = call.arguments_text(true);
    assert!(text.is_ascii() && text.contains("\\ud83d\\ude00"), "{text}");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), call.arguments);
}

#[test]
fn halves_of_a_character_are_escapes_of_their_own() {
    let pieces = Turn { halves: true, ..Turn::default() }.pieces("a😀完");
    let chunks: Vec<String> = pieces.iter().map(|p| crate::halves::placed(&json!({"t": p}).to_string())).collect();
    assert_eq!(chunks, [r#"{"t":"a"}"#, r#"{"t":"\ud83d"}"#, r#"{"t":"\ude00"}"#, r#"{"t":"完"}"#]);
}
