use super::*;
use crate::options::LengthUnit;
use crate::seed::{ANN, BEN, GENERAL, GUILD, MODERATORS};

fn button(id: &str) -> Value {
    json!({"type": 2, "style": 1, "label": "ok", "custom_id": id})
}

fn rows(parts: Value) -> Value {
    json!({"content": "x", "components": [{"type": 1, "components": parts}]})
}

#[test]
fn what_discord_refuses_is_refused_with_its_place() {
    let mut w = world();
    let many: Vec<Value> = (0..6).map(|i| button(&i.to_string())).collect();
    let row = json!({"type": 1, "components": [button("a")]});
    let link = |extra: Value| {
        let mut part = json!({"type": 2, "style": 5, "label": "x"});
        part.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        rows(json!([part]))
    };
    let at = "components.0.components";
    for (body, fault) in [
        (json!({"content": "x".repeat(2001)}), "content:BASE_TYPE_MAX_LENGTH".to_owned()),
        (json!({"content": 5}), "content:STRING_TYPE_CONVERT".into()),
        (rows(json!(many)), format!("{at}:BASE_TYPE_BAD_LENGTH")),
        (rows(json!([])), format!("{at}:BASE_TYPE_BAD_LENGTH")),
        (rows(json!([button("a"), button("a")])), format!("{at}.1.custom_id:COMPONENT_CUSTOM_ID_DUPLICATED")),
        (rows(json!([button(&"x".repeat(101))])), format!("{at}.0.custom_id:BASE_TYPE_BAD_LENGTH")),
        (rows(json!([button("")])), format!("{at}.0.custom_id:BASE_TYPE_BAD_LENGTH")),
        (rows(json!([{"type": 2, "style": 1, "label": "x"}])), format!("{at}.0.custom_id:BASE_TYPE_REQUIRED")),
        (
            rows(json!([{"type": 2, "style": 1, "label": "x".repeat(81), "custom_id": "a"}])),
            format!("{at}.0.label:BASE_TYPE_MAX_LENGTH"),
        ),
        (
            rows(json!([{"type": 2, "style": 1, "label": " ", "custom_id": "a"}])),
            format!("{at}.0:BUTTON_COMPONENT_INVALID_LABEL"),
        ),
        (
            rows(json!([{"type": 2, "style": 9, "label": "x", "custom_id": "a"}])),
            format!("{at}.0.style:BASE_TYPE_CHOICES"),
        ),
        (rows(json!([{"type": 4, "custom_id": "a"}])), format!("{at}.0.type:BASE_TYPE_CHOICES")),
        (link(json!({})), format!("{at}.0.url:BASE_TYPE_REQUIRED")),
        (link(json!({"url": "ftp://x"})), format!("{at}.0.url:URL_TYPE_INVALID_SCHEME")),
        (
            link(json!({"url": "https://x", "custom_id": "a"})),
            format!("{at}.0.custom_id:BUTTON_COMPONENT_CUSTOM_ID_URL"),
        ),
        (json!({"content": "x", "components": vec![row; 6]}), "components:BASE_TYPE_BAD_LENGTH".into()),
        (json!({"content": "x", "components": [button("a")]}), "components.0.type:BASE_TYPE_CHOICES".into()),
        (json!({"content": "x", "flags": 64}), "flags:BITFIELD_TYPE_INVALID".into()),
        (json!({"content": "x", "nonce": "x".repeat(26)}), "nonce:BASE_TYPE_MAX_LENGTH".into()),
        (
            json!({"content": "x", "message_reference": {"message_id": "1"}}),
            "message_reference:MESSAGE_REFERENCE_UNKNOWN_MESSAGE".into(),
        ),
        (json!({"content": "x", "message_reference": {}}), "message_reference.message_id:BASE_TYPE_REQUIRED".into()),
        (
            json!({"content": "x", "allowed_mentions": {"parse": ["all"]}}),
            "allowed_mentions.parse.0:BASE_TYPE_CHOICES".into(),
        ),
        (
            json!({"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}}),
            "allowed_mentions:MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE".into(),
        ),
        (
            json!({"embeds": [{"fields": [{"name": "n", "value": "x".repeat(1025)}]}]}),
            "embeds.0.fields.0.value:BASE_TYPE_BAD_LENGTH".into(),
        ),
        (json!({"embeds": vec![json!({"description": "x".repeat(4000)}); 2]}), "embeds:MAX_EMBED_SIZE_EXCEEDED".into()),
        (json!({"embeds": vec![json!({"title": "x"}); 11]}), "embeds:BASE_TYPE_MAX_LENGTH".into()),
        (json!({"content": "x", "attachments": [{"id": 0}]}), "attachments.0.id:ATTACHMENT_NOT_FOUND".into()),
    ] {
        let answer = send(&mut w, GENERAL, body.clone());
        assert_eq!(code(&answer), (400, 50035), "{body}");
        assert!(faults(&answer).contains(&fault), "{fault} not in {:?}", faults(&answer));
    }
    for blank in [json!({}), json!({"content": " \n "}), json!({"content": null, "embeds": []})] {
        assert_eq!(code(&send(&mut w, GENERAL, blank)), (400, 50006));
    }
    assert!(w.log.violations.iter().all(|v| v.kind == crate::log::ViolationKind::Malformed));
    assert!(w.channels[&GENERAL].messages.is_empty());
}

#[test]
fn what_just_fits_is_taken_and_white_space_around_it_is_cut() {
    let mut w = world();
    let row = |n: usize| {
        let parts: Vec<Value> = (0..5).map(|i| button(&format!("{n}{i}{}", "x".repeat(98)))).collect();
        json!({"type": 1, "components": parts})
    };
    let body = json!({"content": format!(" {} ", "😀".repeat(2000)), "nonce": "x".repeat(25), "tts": false,
        "flags": 4, "components": (0..5).map(row).collect::<Vec<_>>(), "unheard_of": 1});
    let (status, answer) = send(&mut w, GENERAL, body);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["content"].as_str().unwrap().chars().count(), 2000);
    assert_eq!((answer["flags"].as_u64(), answer["nonce"].as_str().map(str::len)), (Some(4), Some(25)));
    let mut strict = world_with(Options { unit: LengthUnit::Utf16, ..Options::default() });
    assert_eq!(send(&mut strict, GENERAL, json!({"content": "😀".repeat(1000)})).0, 200);
    assert_eq!(send(&mut strict, GENERAL, json!({"content": "😀".repeat(1001)})).0, 400);
}

#[test]
fn a_nonce_is_unique_only_when_enforced_and_for_a_while() {
    let mut w = world();
    let body = json!({"content": "x", "nonce": "n", "enforce_nonce": true});
    let first = send(&mut w, GENERAL, body.clone()).1;
    assert_eq!(send(&mut w, GENERAL, body.clone()).1["id"], first["id"]);
    assert_ne!(send(&mut w, GENERAL, json!({"content": "x", "nonce": "n"})).1["id"], first["id"]);
    pass(&w, 6 * 60_000);
    assert_ne!(send(&mut w, GENERAL, body).1["id"], first["id"]);
    assert_eq!(w.channels[&GENERAL].messages.len(), 3);
}

#[test]
fn only_what_is_allowed_and_permitted_pings() {
    let mut w = world();
    let text = format!("@everyone <@{ANN}> <@!{BEN}> <@&{MODERATORS}> `<@1>`");
    let open = send(&mut w, GENERAL, json!({"content": text})).1;
    assert_eq!(open["mentions"].as_array().unwrap().len(), 2);
    assert_eq!(open["mention_roles"], json!([MODERATORS]));
    assert_eq!(open["mention_everyone"], false, "the bot may not ping everyone");
    let none = send(&mut w, GENERAL, json!({"content": text, "allowed_mentions": {"parse": []}})).1;
    assert_eq!((none["mentions"].clone(), none["mention_roles"].clone()), (json!([]), json!([])));
    let one = send(&mut w, GENERAL, json!({"content": text, "allowed_mentions": {"users": [BEN]}})).1;
    assert_eq!(one["mentions"][0]["id"], json!(BEN));
    let everyone = |permissions| Act::PutRole {
        guild: GUILD,
        role: Some(GUILD),
        name: "@everyone".into(),
        permissions,
        mentionable: false,
    };
    w.act(everyone(crate::permissions::bits::ALL)).unwrap();
    assert_eq!(send(&mut w, GENERAL, json!({"content": text})).1["mention_everyone"], true);
    let asked = say(&mut w, ANN, GENERAL, "hi");
    let reply = |replied: bool| {
        json!({"content": "x", "message_reference": {"message_id": asked},
            "allowed_mentions": {"parse": [], "replied_user": replied}})
    };
    assert_eq!(send(&mut w, GENERAL, reply(false)).1["mentions"], json!([]));
    let told = send(&mut w, GENERAL, reply(true)).1;
    assert_eq!((told["mentions"][0]["id"].clone(), told["type"].clone()), (json!(ANN), json!(19)));
    assert_eq!(told["referenced_message"]["content"], "hi");
}

#[test]
fn a_reply_to_what_is_gone_may_come_without_it() {
    let mut w = world();
    let gone = say(&mut w, ANN, GENERAL, "hi");
    w.act(Act::Delete { channel: GENERAL, message: gone }).unwrap();
    let mut body = json!({"content": "x", "message_reference": {"message_id": gone}});
    assert_eq!(send(&mut w, GENERAL, body.clone()).0, 400);
    body["message_reference"]["fail_if_not_exists"] = json!(false);
    assert_eq!(send(&mut w, GENERAL, body).1["type"], 0);
    let system = w.act(Act::Say(Say { kind: 7, ..Say::new(ANN, GENERAL, "") })).unwrap();
    let answer = send(&mut w, GENERAL, json!({"content": "x", "message_reference": {"message_id": system}}));
    assert_eq!(faults(&answer), ["message_reference:REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE"]);
}

#[test]
fn edits_keep_what_they_do_not_name() {
    let mut w = world();
    let body = json!({"content": "one", "components": [{"type": 1, "components": [button("a")]}]});
    let id = send(&mut w, GENERAL, body).1["id"].as_str().unwrap().to_owned();
    let path = format!("channels/{GENERAL}/messages/{id}");
    pass(&w, 10);
    let (status, edited) = ask(&mut w, "PATCH", &path, json!({"content": "two"}));
    assert_eq!((status, edited["content"].as_str()), (200, Some("two")));
    assert!(edited["edited_timestamp"].is_string() && !edited["components"].as_array().unwrap().is_empty());
    assert_eq!(ask(&mut w, "PATCH", &path, json!({"components": []})).1["components"], json!([]));
    assert_eq!(code(&ask(&mut w, "PATCH", &path, json!({"content": ""}))), (400, 50006));
    assert_eq!(ask(&mut w, "PATCH", &path, json!({"flags": 4})).1["flags"], 4);
    let message = &w.channels[&GENERAL].messages[&id.parse().unwrap()];
    assert_eq!(message.versions.iter().map(|v| v.content.as_str()).collect::<Vec<_>>(), ["one"]);
    assert_eq!(ask(&mut w, "DELETE", &path, Value::Null).0, 204);
    assert_eq!(code(&ask(&mut w, "DELETE", &path, Value::Null)), (404, 10008));
    let foreign = say(&mut w, ANN, GENERAL, "mine");
    let path = format!("channels/{GENERAL}/messages/{foreign}");
    assert_eq!(code(&ask(&mut w, "PATCH", &path, json!({"content": "x"}))), (403, 50005));
    assert_eq!(code(&ask(&mut w, "DELETE", &path, Value::Null)), (403, 50013));
}

#[test]
fn files_have_limits_and_can_be_fetched() {
    let mut w = world();
    let path = format!("channels/{GENERAL}/messages");
    let named = json!({"attachments": [{"id": 0, "filename": "ü.txt", "description": "d"}]});
    let (status, body) = ask_with(&mut w, "POST", &path, named, vec![file(0, 3)]);
    assert_eq!(status, 200, "{body}");
    let attachment = &body["attachments"][0];
    assert_eq!((attachment["filename"].as_str(), attachment["size"].as_u64()), (Some("ü.txt"), Some(3)));
    assert!(attachment["url"].as_str().unwrap().ends_with("/%C3%BC.txt"), "{attachment}");
    let stored: Id = serde_json::from_value(attachment["id"].clone()).unwrap();
    assert_eq!(w.files[&stored].bytes.len(), 3);
    let big = ask_with(&mut w, "POST", &path, Value::Null, vec![file(0, (10 << 20) + 1)]);
    assert_eq!(code(&big), (413, 40005));
    w.guilds.get_mut(&GUILD).unwrap().premium_tier = 2;
    assert_eq!(ask_with(&mut w, "POST", &path, Value::Null, vec![file(0, (10 << 20) + 1)]).0, 200);
    let eleven = (0..11).map(|n| file(n, 1)).collect();
    assert_eq!(ask_with(&mut w, "POST", &path, Value::Null, eleven).0, 400);
    let message = body["id"].as_str().unwrap();
    let path = format!("{path}/{message}");
    let without = ask(&mut w, "PATCH", &path, json!({"content": "x", "attachments": []})).1;
    assert_eq!(without["attachments"], json!([]));
}

#[test]
fn pages_are_newest_first_and_start_after_the_asked_one() {
    let mut w = world();
    let ids: Vec<Id> = (0..150).map(|n| say(&mut w, ANN, GENERAL, &n.to_string())).collect();
    w.act(Act::Delete { channel: GENERAL, message: ids[12] }).unwrap();
    let path = format!("channels/{GENERAL}/messages");
    let texts = |w: &mut World, query: &str| -> Vec<String> {
        let list = ask(w, "GET", &format!("{path}?{query}"), Value::Null).1;
        list.as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts(&mut w, &format!("after={}&limit=3", ids[10])), ["14", "13", "11"]);
    assert_eq!(texts(&mut w, &format!("before={}&limit=2", ids[5])), ["4", "3"]);
    assert_eq!(texts(&mut w, "limit=2"), ["149", "148"]);
    assert_eq!(texts(&mut w, &format!("around={}&limit=3", ids[50])), ["51", "50", "49"]);
    assert_eq!((texts(&mut w, "").len(), texts(&mut w, "limit=100").len()), (50, 100));
    assert_eq!(ask(&mut w, "GET", &format!("{path}?limit=101"), Value::Null).0, 400);
    assert_eq!(ask(&mut w, "GET", &format!("{path}/{}", ids[12]), Value::Null).0, 404);
}
