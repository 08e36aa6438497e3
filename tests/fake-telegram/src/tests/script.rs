//! The script over HTTP.

use super::{Client, GROUP, PERSON, SUPERGROUP};
use crate::{Say, TOKEN};
use serde_json::json;

#[tokio::test]
async fn every_step_of_the_readme_works_over_http() {
    let client = Client::start().await;
    let steps = [
        (
            "/__chats",
            json!({"id": -1_001_111_111_111_i64, "title": "Team", "topics": {"7": "Plans"}, "members": [
            {"user": {"id": 5_000_000_000_005_i64, "name": "Boss"}, "status": "creator"}]}),
        ),
        ("/__say", json!([{"text": "hi"}, {"chat": -1_001_111_111_111_i64, "thread": 7, "text": "/go"}])),
        ("/__say", json!({"chat": SUPERGROUP, "text": "/x", "sender": "anonymous_admin"})),
        ("/__say", json!({"chat": SUPERGROUP, "text": "/x", "sender": {"channel": {"id": -1_007_i64, "title": "C"}}})),
        ("/__say", json!({"media": {"kind": "photo", "size": 5000, "album": "a"}, "text": "see"})),
        ("/__people", json!({"id": PERSON, "name": "Ann", "blocked": true})),
        (
            "/__members",
            json!({"chat": GROUP, "member": {"user": {"id": 712_345_678_901_i64}, "status": "administrator", "rights": ["can_pin_messages"]}}),
        ),
        ("/__topics", json!({"chat": SUPERGROUP, "thread": 70, "name": "Later"})),
        ("/__topics", json!({"chat": SUPERGROUP, "thread": 55, "closed": true})),
        ("/__chats", json!({"id": SUPERGROUP, "title": "Renamed"})),
        ("/__say", json!({"chat": SUPERGROUP, "thread": 70, "text": "/x"})),
        ("/__delete", json!({"chat": PERSON, "message_id": 1})),
        ("/__migrate", json!({"from": GROUP, "to": -1_002_222_222_222_i64})),
        ("/__updates", json!({"update": {"brand_new_kind": {"x": 1}}})),
        ("/__replay", json!({"ids": [812_345_601]})),
        ("/__ids", json!({"next": 50})),
        ("/__faults", json!({"method": "sendMessage", "nth": 2, "fault": {"kind": "too_many", "seconds": 3}})),
        ("/__faults", json!([{"method": "*", "fault": {"kind": "close"}, "nth": 99}])),
        ("/__clock", json!({"seconds": 60})),
        ("/__settings", json!({"rates": true, "can_read_all_group_messages": true})),
    ];
    for (path, body) in steps {
        let (status, answer) = client.step(path, body.clone()).await;
        assert_eq!(status, 200, "{path} {body}: {answer}");
    }
    let (_, faults) = client.send("/__faults", "", "".into()).await.unwrap();
    assert_eq!(faults.as_array().unwrap().len(), 2);
    let (_, state) = client.send("/__state", "", "".into()).await.unwrap();
    for part in ["messages", "actions", "presses", "commands", "requests", "violations"] {
        assert!(state[part].is_array(), "{part}");
    }
    assert_eq!(client.good("getMe", json!({})).await["can_read_all_group_messages"], true);
}

#[tokio::test]
async fn a_press_over_http_and_its_answer_in_the_state() {
    let client = Client::start().await;
    let board = json!({"inline_keyboard": [[{"text": "Yes", "callback_data": "y"}]]});
    let sent = client.good("sendMessage", json!({"chat_id": PERSON, "text": "?", "reply_markup": board})).await;
    let press = json!({"chat": PERSON, "message_id": sent["message_id"], "button": "Yes"});
    let (status, pressed) = client.step("/__press", press).await;
    assert_eq!(status, 200);
    client.good("answerCallbackQuery", json!({"callback_query_id": pressed["callback_id"], "text": "ok"})).await;
    let (_, state) = client.send("/__state", "", "".into()).await.unwrap();
    assert_eq!(state["presses"][0]["answers"][0]["text"], "ok");
    assert!(!state.to_string().contains(TOKEN.split(':').nth(1).unwrap()), "the token is shown");
}

#[tokio::test]
async fn a_step_that_cannot_be_played_says_why() {
    const MOVED: i64 = -77;
    let client = Client::start().await;
    client.server.say(Say::text("x").chat(MOVED)).unwrap();
    client.server.migrate(MOVED, -1_000_000_000_077, false);
    for (path, body, part) in [
        ("/__say", json!({"txt": "hi"}), "txt"),
        ("/__say", json!({"text": "hi", "thread": 9}), "no such topic"),
        ("/__say", json!({"text": "hi", "reply_to": 900}), "900"),
        ("/__say", json!({"media": {"kind": "smell"}}), "smell"),
        ("/__say", json!({"media": {"kind": "photo", "file_id": "x"}}), "no file"),
        ("/__say", json!({"text": "x", "edit": 900}), "900"),
        ("/__say", json!({"chat": MOVED, "text": "x"}), "has moved"),
        ("/__press", json!({"chat": PERSON, "message_id": 1, "button": "x"}), "of no bot"),
        ("/__press", json!({"chat": PERSON, "message_id": 77, "button": "x"}), "no such message"),
        ("/__members", json!({"chat": GROUP, "member": {"status": "king"}}), "king"),
        ("/__faults", json!({"method": "x", "fault": {"kind": "flood"}}), ""),
        ("/__updates", json!({"update": 5}), "object"),
        ("/__topics", json!({"chat": SUPERGROUP, "thread": 2}), "cannot be the number"),
        ("/__topics", json!({"chat": 1, "thread": 2}), "no such conversation"),
        ("/__delete", json!({"chat": PERSON, "message_id": 900}), "no such message"),
        ("/__ids", json!({"to": 4, "next": 5}), "no such bot"),
        ("/__clock", json!({"hours": 1}), "hours"),
    ] {
        let (status, answer) = client.step(path, body.clone()).await;
        assert_eq!(status, 400, "{path} {body}");
        assert!(answer["error"].as_str().unwrap().contains(part), "{path} {body}: {answer}");
    }
}

#[tokio::test]
async fn a_file_put_on_the_host_is_sent_and_fetched() {
    let client = Client::start().await;
    let (status, file) = client
        .send("/__files?name=a.pdf&mime=application/pdf", "application/octet-stream", "%PDF-1.7".into())
        .await
        .unwrap();
    assert_eq!(status, 200);
    client.step("/__say", json!({"media": {"kind": "document", "file_id": file["file_id"]}})).await;
    let document = client.updates(-1).await[0]["message"]["document"].clone();
    assert_eq!((&document["file_name"], &document["mime_type"]), (&json!("a.pdf"), &json!("application/pdf")));
    let path =
        client.good("getFile", json!({"file_id": document["file_id"]})).await["file_path"].as_str().unwrap().to_owned();
    for path in [path.clone(), path.replace('/', "%2F")] {
        let path = format!("/file/bot{TOKEN}/{path}");
        assert_eq!(client.raw(&path, "", "".into()).await.unwrap().1, Some("%PDF-1.7".into()), "{path}");
    }
}

#[tokio::test]
async fn a_wait_in_vain_tells_what_was_seen() {
    let client = Client::start().await;
    client.good("getMe", json!({})).await;
    let late = client
        .server
        .wait_for("an answer", std::time::Duration::from_millis(20), |s| s.sent(PERSON).next().map(|_| ()));
    let why = late.await.unwrap_err().to_string();
    assert!(why.contains("an answer") && why.contains("getMe"), "{why}");
}
