//! Scripted faults, rates, penalties and webhooks.

use super::client::SOON;
use super::{Client, GROUP, PERSON};
use crate::{Fault, Options, Say, TOKEN};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

fn say(chat: i64, text: &str) -> Value {
    json!({"chat_id": chat, "text": text})
}

#[tokio::test]
async fn rates_are_kept_by_chat_group_and_all_together() {
    let client = Client::with(Options::default().frozen()).await;
    let wait = |seconds: u64| client.server.advance(Duration::from_secs(seconds));
    client.good("sendMessage", say(PERSON, "1")).await;
    let (status, body) = client.call("sendMessage", say(PERSON, "2")).await;
    assert_eq!((status, body["parameters"]["retry_after"].as_i64()), (429, Some(3)), "{body}");
    client.good("sendMessage", say(GROUP, "other chats are free")).await;
    wait(2);
    assert_eq!(client.call("sendMessage", say(PERSON, "2")).await.1["parameters"]["retry_after"], 1);
    wait(1);
    client.good("sendMessage", say(PERSON, "2")).await;
    assert_eq!(client.violations().len(), 2);
    for n in 1..20 {
        wait(1);
        client.good("sendMessage", say(GROUP, &n.to_string())).await;
    }
    wait(1);
    let (status, body) = client.call("sendMessage", say(GROUP, "21")).await;
    assert_eq!(status, 429);
    wait(body["parameters"]["retry_after"].as_u64().unwrap());
    client.good("sendMessage", say(GROUP, "21")).await;
    wait(60);
    for person in 0..31_i64 {
        let from = crate::Person::new(8_000_000_000_000 + person, "Many");
        client.server.say(Say::text("hi").from(from)).unwrap();
        let (status, body) = client.call("sendMessage", say(8_000_000_000_000 + person, "hi")).await;
        assert_eq!(status, if person < 30 { 200 } else { 429 }, "{person} {body}");
    }
    assert_eq!(client.call("sendMessage", say(PERSON, "x")).await.0, 429, "everything is held");
    client.server.rates(false);
    client.good("sendMessage", say(PERSON, "x")).await;
}

#[tokio::test]
async fn edits_count_as_sends() {
    let client = Client::with(Options::default().frozen()).await;
    let id = client.good("sendMessage", say(PERSON, "1")).await["message_id"].clone();
    let edit = json!({"chat_id": PERSON, "message_id": id, "text": "2"});
    assert_eq!(client.call("editMessageText", edit.clone()).await.0, 429);
    client.server.advance(Duration::from_secs(3));
    client.good("editMessageText", edit).await;
}

#[tokio::test]
async fn a_fault_meets_the_nth_call_and_a_penalty_must_be_waited_for() {
    let client = Client::with(Options::default().unlimited().frozen()).await;
    client.server.fault(Fault::too_many(3).once("sendMessage").nth(2));
    client.good("sendMessage", say(PERSON, "1")).await;
    let (status, body) = client.call("sendMessage", say(PERSON, "2")).await;
    assert_eq!((status, &body["parameters"]), (429, &json!({"retry_after": 3})));
    assert_eq!(client.violations(), Vec::<String>::new(), "the first one is nobody's fault");
    client.server.advance(Duration::from_millis(2_900));
    assert_eq!(client.call("sendChatAction", json!({"chat_id": PERSON, "action": "typing"})).await.0, 429);
    assert_eq!(client.violations(), ["Too Many Requests: retry after 1"]);
    client.good("sendMessage", say(GROUP, "free")).await;
    client.server.advance(Duration::from_millis(100));
    client.good("sendMessage", say(PERSON, "2")).await;
    assert_eq!(client.server.look(|s| s.requests[2].fault.clone()), None);
    assert_eq!(client.server.look(|s| s.requests[1].fault.clone()).as_deref(), Some("too_many"));
}

#[tokio::test]
async fn faults_choose_their_calls() {
    let client = Client::start().await;
    client.server.fault(Fault::Parse.always("SENDMESSAGE").formatted().chat(GROUP).text("now"));
    let bold = json!([{"type": "bold", "offset": 0, "length": 1}]);
    let formatted = |chat: i64, text: &str| json!({"chat_id": chat, "text": text, "entities": bold});
    client.good("sendMessage", say(GROUP, "now")).await;
    client.good("sendMessage", formatted(PERSON, "now")).await;
    client.good("sendMessage", formatted(GROUP, "later")).await;
    client.good("sendMessage", json!({"chat_id": GROUP, "text": "now", "entities": []})).await;
    for _ in 0..3 {
        assert!(client.bad("sendMessage", formatted(GROUP, "now")).await.contains("can't parse entities"));
    }
    client.server.clear_faults();
    client.good("sendMessage", formatted(GROUP, "now")).await;
    assert_eq!(client.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn errors_of_every_kind() {
    let client = Client::start().await;
    let blocked = Fault::Forbidden { description: "bot was blocked by the user".into() };
    let broken = Fault::Status { status: 502, description: "Bad Gateway".into(), html: false };
    for (fault, status) in [(blocked, 403), (Fault::Conflict, 409), (broken, 502), (Fault::Parse, 400)] {
        client.server.fault(fault.once("*"));
        assert_eq!(client.call("sendMessage", say(PERSON, "x")).await.0, status);
    }
    client.server.fault(Fault::Status { status: 500, description: "x".into(), html: true }.once("*"));
    let path = format!("/bot{TOKEN}/getMe");
    let (status, page) = client.raw(&path, "", "".into()).await.unwrap();
    assert!(status == 500 && page.unwrap().starts_with(b"<html>"));
    client.server.fault(Fault::Answer { result: json!(7) }.once("getMyStarBalance"));
    let path = format!("/bot{TOKEN}/getMyStarBalance");
    assert_eq!(client.send(&path, "", "".into()).await.unwrap(), (200, json!({"ok": true, "result": 7})));
    let to = -1_002_222_222_222_i64;
    client.server.fault(Fault::Migrate { to }.once("sendMessage"));
    for _ in 0..2 {
        let (status, body) = client.call("sendMessage", say(GROUP, "x")).await;
        assert_eq!((status, &body["parameters"]["migrate_to_chat_id"]), (400, &json!(to)));
    }
    client.good("sendMessage", say(to, "x")).await;
    assert_eq!(client.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn connections_close_before_or_after_the_work() {
    let client = Client::start().await;
    let path = format!("/bot{TOKEN}/sendMessage");
    for (fault, sent) in [(Fault::Close, 0), (Fault::AppliedThenClose, 1)] {
        client.server.fault(fault.once("sendMessage"));
        let body = say(PERSON, "x").to_string();
        assert_eq!(client.send(&path, "application/json", body.into()).await, None);
        assert_eq!(client.server.look(|s| s.sent(PERSON).count()), sent);
        assert_eq!(client.server.look(|s| s.requests.back().unwrap().status), None);
    }
    client.good("sendMessage", say(PERSON, "y")).await;
}

#[tokio::test]
async fn answers_that_never_come_before_or_after_the_work() {
    let client = Client::start().await;
    for (n, fault) in [Fault::Never, Fault::AppliedThenNever].into_iter().enumerate() {
        let name = fault.name();
        client.server.fault(fault.once("sendMessage"));
        let seen = client.server.wait_for("the call came", SOON, |s| {
            s.requests.iter().any(|r| r.fault.as_ref() == Some(&name)).then(|| s.sent(PERSON).count())
        });
        tokio::select! {
            _ = client.call("sendMessage", say(PERSON, "x")) => panic!("it was answered"),
            sent = seen => assert_eq!(sent.unwrap(), n),
        }
    }
}

#[tokio::test]
async fn a_late_answer_comes_when_its_time_is_there() {
    let client = Client::with(Options::default().unlimited().frozen()).await;
    client.server.fault(Fault::Late { seconds: 20 }.once("sendMessage"));
    let answered = std::cell::Cell::new(false);
    let late = async {
        let answer = client.call("sendMessage", say(PERSON, "x")).await;
        answered.set(true);
        answer
    };
    let meanwhile = async {
        client.server.wait_for("it is done", SOON, |s| s.sent(PERSON).next().map(|_| ())).await.unwrap();
        client.server.advance(Duration::from_secs(19));
        client.good("sendMessage", say(PERSON, "others are answered meanwhile")).await;
        assert!(!answered.get(), "a second too early");
        client.server.advance(Duration::from_secs(1));
    };
    let ((status, _), ()) = tokio::join!(late, meanwhile);
    assert_eq!(status, 200);
    client.server.fault(Fault::Garbage.once("getMe"));
    let (status, page) = client.raw(&format!("/bot{TOKEN}/getMe"), "", "".into()).await.unwrap();
    assert_eq!((status, page.unwrap().starts_with(b"<")), (200, true));
}

#[tokio::test]
async fn downloads_fail_too() {
    let client = Client::start().await;
    let id = client.server.file("a.txt", "text/plain", "0123456789");
    let path = client.good("getFile", json!({"file_id": id})).await["file_path"].as_str().unwrap().to_owned();
    let path = format!("/file/bot{TOKEN}/{path}");
    client.server.fault(Fault::CutFile.once("file"));
    assert_eq!(client.raw(&path, "", "".into()).await, Some((200, None)), "the body broke off");
    client.server.fault(Fault::Status { status: 500, description: "x".into(), html: false }.once("file"));
    assert_eq!(client.raw(&path, "", "".into()).await.unwrap().0, 500);
    assert_eq!(client.raw(&path, "", "".into()).await, Some((200, Some("0123456789".into()))));
}

#[tokio::test]
async fn old_updates_come_again_and_numbers_start_anew() {
    let client = Client::start().await;
    let first = client.updates(0).await[0]["update_id"].as_i64().unwrap();
    assert_eq!(client.updates(first + 1).await.len(), 0);
    assert_eq!(client.server.replay(&[first, 3]), 1);
    let again = client.updates(first + 1).await;
    assert_eq!(again.len(), 1, "whatever offset was asked for");
    assert_eq!(again[0]["update_id"], first);
    assert_eq!(client.updates(first + 1).await.len(), 0, "once");
    client.server.reset_updates(1_200);
    client.server.say(Say::text("after a quiet week")).unwrap();
    assert_eq!(client.updates(first + 1).await[0]["update_id"], 1_200);
    assert_eq!(client.updates(first + 1).await.len(), 1, "an offset from before confirms nothing");
    assert_eq!(client.updates(1_201).await.len(), 0);
}

/// A webhook that answers each push with the next status; what came is in the result.
async fn hook(listener: TcpListener, statuses: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    for status in statuses {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut text = String::new();
        let mut buffer = [0; 4_096];
        while !text.contains("\r\n\r\n{") || !text.ends_with('}') {
            let n = socket.read(&mut buffer).await.unwrap();
            assert!(n > 0, "{text}");
            text.push_str(std::str::from_utf8(&buffer[..n]).unwrap());
        }
        out.push(text);
        let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        socket.write_all(answer.as_bytes()).await.unwrap();
    }
    out
}

#[tokio::test]
async fn a_webhook_gets_every_update_with_its_secret_until_it_takes_it() {
    let client = Client::with(Options::default().unlimited().frozen()).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook?x=1", listener.local_addr().unwrap());
    for (fields, part) in [
        (json!({"url": "http://example.org"}), "HTTPS"),
        (json!({"url": url, "secret_token": "a b"}), "secret"),
        (json!({"url": url, "secret_token": "x".repeat(257)}), "secret"),
        (json!({"url": url, "max_connections": 0}), "max_connections"),
    ] {
        assert!(client.bad("setWebhook", fields).await.contains(part));
    }
    let set =
        json!({"url": url, "secret_token": "s3-cret_", "drop_pending_updates": true, "allowed_updates": ["message"]});
    client.good("setWebhook", set).await;
    assert_eq!(client.good("getWebhookInfo", json!({})).await["pending_update_count"], 0);
    client.server.say(Say::text("one")).unwrap();
    client.server.say(Say::text("two")).unwrap();
    let (pushed, ()) = tokio::join!(hook(listener, &["503", "200", "204"]), async {
        let mut changes = 0;
        while client.good("getWebhookInfo", json!({})).await.get("last_error_message").is_none() {
            changes += 1;
            assert!(changes < 100_000, "the refusal is never noted");
        }
        client.server.advance(Duration::from_secs(1));
    });
    assert!(
        pushed
            .iter()
            .all(|p| p.starts_with("POST /hook?x=1 ") && p.contains("x-telegram-bot-api-secret-token: s3-cret_"))
    );
    let texts: Vec<bool> = pushed.iter().map(|p| p.contains("\"text\":\"one\"")).collect();
    assert_eq!(texts, [true, true, false], "a refused one comes again first");
    assert!(pushed[2].contains("\"text\":\"two\""));
}
