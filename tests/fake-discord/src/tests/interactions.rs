use super::*;
use crate::act::{Press, Slash};
use crate::seed::{ANN, APPLICATION, BEN, DM_ANN, GENERAL};

fn ready() -> World {
    let mut w = world();
    let sub = json!({"name": "add", "description": "d", "type": 1,
        "options": [{"name": "text", "description": "d", "type": 3, "required": true}]});
    let list = json!([{"name": "todo", "description": "d", "options": [sub]}, {"name": "hi", "description": "d"}]);
    assert_eq!(ask(&mut w, "PUT", &format!("applications/{APPLICATION}/commands"), list).0, 200);
    w
}

fn slash(w: &mut World) -> (Id, String) {
    let id = w.act(Act::Slash(Slash::new(ANN, GENERAL, "hi"))).unwrap();
    (id, w.interactions[&id].token.clone())
}

fn callback(w: &mut World, (id, token): &(Id, String), body: Value) -> (u16, Value) {
    ask(w, "POST", &format!("interactions/{id}/{token}/callback"), body)
}

fn original(token: &str) -> String {
    format!("webhooks/{APPLICATION}/{token}/messages/@original")
}

#[test]
fn an_interaction_is_answered_once_and_within_three_seconds() {
    let mut w = ready();
    let one = slash(&mut w);
    let answer = json!({"type": 4, "data": {"content": "hello", "flags": 64}});
    assert_eq!(code(&callback(&mut w, &(one.0, "wrong".into()), answer.clone())), (404, 10062));
    assert_eq!(callback(&mut w, &one, answer.clone()).0, 204);
    assert_eq!(code(&callback(&mut w, &one, answer.clone())), (400, 40060));
    let message = w.interactions[&one.0].original.unwrap();
    assert_eq!(w.channels[&GENERAL].messages[&message].only_for, Some(ANN));
    let direct = format!("channels/{GENERAL}/messages/{message}");
    assert_eq!(code(&ask(&mut w, "GET", &direct, Value::Null)), (404, 10008), "only the token reaches it");
    let late = slash(&mut w);
    pass(&w, 3_000);
    assert!(!w.interactions[&late.0].failed(w.now_ms()));
    pass(&w, 1);
    assert_eq!(code(&callback(&mut w, &late, answer)), (404, 10062));
    assert!(w.interactions[&late.0].failed(w.now_ms()));
}

#[test]
fn a_deferred_answer_is_filled_later_by_edit_or_follow_up() {
    let mut w = ready();
    let one = slash(&mut w);
    let early = ask(&mut w, "PATCH", &original(&one.1), json!({"content": "x"}));
    assert_eq!(code(&early), (404, 10015));
    assert_eq!(callback(&mut w, &one, json!({"type": 5, "data": {"flags": 64}})).0, 204);
    assert!(w.interactions[&one.0].loading);
    pass(&w, 14 * 60_000);
    let (status, filled) = ask(&mut w, "PATCH", &original(&one.1), json!({"content": "done"}));
    assert_eq!((status, filled["content"].as_str(), filled["flags"].as_u64()), (200, Some("done"), Some(64)));
    assert!(filled["edited_timestamp"].is_null() && !w.interactions[&one.0].loading);
    let more = format!("webhooks/{APPLICATION}/{}", one.1);
    let follow = ask(&mut w, "POST", &more, json!({"content": "more"})).1;
    assert_eq!(follow["flags"], 0);
    let path = format!("{more}/messages/{}", follow["id"].as_str().unwrap());
    assert_eq!(ask(&mut w, "PATCH", &path, json!({"content": "most"})).1["content"], "most");
    assert_eq!(ask(&mut w, "DELETE", &original(&one.1), Value::Null).0, 204);
    pass(&w, 60_001);
    assert_eq!(code(&ask(&mut w, "POST", &more, json!({"content": "late"}))), (401, 50027));

    let two = slash(&mut w);
    callback(&mut w, &two, json!({"type": 5}));
    let path = format!("webhooks/{APPLICATION}/{}", two.1);
    let first = ask(&mut w, "POST", &path, json!({"content": "first"})).1;
    assert_eq!(first["id"], json!(w.interactions[&two.0].original.unwrap()), "it becomes the deferred answer");
    assert_eq!(w.interactions[&two.0].messages.len(), 1);
}

#[test]
fn a_press_updates_its_message_and_a_command_has_none() {
    let mut w = ready();
    let rows = json!([{"type": 1, "components": [{"type": 2, "style": 4, "label": "x", "custom_id": "go"},
        {"type": 2, "style": 5, "label": "x", "url": "https://x"}]}]);
    let card = send(&mut w, GENERAL, json!({"content": "card", "components": rows})).1;
    let message = Id::of(&card["id"]).unwrap();
    let press = |custom_id: &str, stale| {
        Act::Press(Press {
            user: BEN,
            channel: GENERAL,
            message,
            custom_id: custom_id.into(),
            values: Vec::new(),
            stale,
        })
    };
    assert!(w.act(press("other", false)).is_err());
    let pressed = |w: &mut World, stale| {
        let id = w.act(press("go", stale)).unwrap();
        (id, w.interactions[&id].token.clone())
    };
    let one = pressed(&mut w, false);
    assert_eq!(callback(&mut w, &one, json!({"type": 6})).0, 204);
    assert_eq!(
        ask(&mut w, "PATCH", &original(&one.1), json!({"content": "late", "components": []})).1["id"],
        card["id"]
    );
    assert!(w.act(press("go", false)).is_err(), "the button is gone");
    let two = pressed(&mut w, true);
    let refused = json!({"type": 4, "data": {"content": "no longer valid", "flags": 64}});
    assert_eq!(callback(&mut w, &two, refused).0, 204);
    let command = slash(&mut w);
    assert_eq!(faults(&callback(&mut w, &command, json!({"type": 6}))), ["type:BASE_TYPE_CHOICES"]);
    let long = json!({"type": 4, "data": {"content": "x".repeat(2001)}});
    assert_eq!(faults(&callback(&mut w, &command, long)), ["data.content:BASE_TYPE_MAX_LENGTH"]);
    assert_eq!(code(&callback(&mut w, &command, json!({"type": 4, "data": {}}))), (400, 50006));
}

#[test]
fn subcommands_and_options_are_nested() {
    let mut w = ready();
    let wrong = [
        Slash::new(ANN, GENERAL, "todo"),
        Slash::new(ANN, GENERAL, "todo drop"),
        Slash::new(ANN, GENERAL, "todo add"),
        Slash::new(ANN, GENERAL, "todo add").with("text", 5),
        Slash::new(ANN, GENERAL, "hi").with("text", "x"),
    ];
    for slash in wrong {
        assert!(w.act(Act::Slash(slash.clone())).is_err(), "{slash:?}");
    }
    let id = w
        .act(Act::Slash(Slash { channel: None, ..Slash::new(ANN, GENERAL, "todo add").with("text", "milk") }))
        .unwrap();
    let interaction = w.interactions[&id].clone();
    assert_eq!(interaction.channel, DM_ANN);
    assert!(interaction.lost, "nobody was connected");
    let event = crate::print::interaction(&w, &interaction);
    assert_eq!(event["data"]["options"][0]["options"][0]["value"], "milk");
    assert!(event.get("member").is_none() && event["user"]["username"] == "ann");
    let home = w.act(Act::Slash(Slash::new(BEN, GENERAL, "hi"))).unwrap();
    let event = crate::print::interaction(&w, &w.interactions[&home]);
    assert!(event["member"]["permissions"].is_string() && event.get("user").is_none());
}

#[test]
fn tokens_of_interactions_are_not_logged() {
    let mut w = ready();
    let one = slash(&mut w);
    callback(&mut w, &one, json!({"type": 5}));
    ask(&mut w, "PATCH", &original(&one.1), json!({"content": "x"}));
    let state = serde_json::to_string(&crate::state::State::of(&w)).unwrap();
    assert!(!state.contains(&one.1) && state.contains("@original"));
    assert!(!state.contains(seed::TOKEN));
}
