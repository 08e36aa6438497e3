//! Paths, tokens, encodings, fields and types.

use super::client::form;
use super::{Client, PERSON};
use crate::TOKEN;
use serde_json::{Value, json};

#[tokio::test]
async fn a_wrong_token_is_401_and_a_malformed_one_404() {
    let client = Client::start().await;
    for (path, status) in [
        (format!("/bot{}/getMe", TOKEN.replace("AAF", "AAG")), 401),
        ("/botnonsense/getMe".into(), 404),
        ("/file/botnonsense/x".into(), 404),
        ("/elsewhere".into(), 404),
    ] {
        let (got, body) = client.send(&path, "", "".into()).await.unwrap();
        assert_eq!((got, body["error_code"].as_u64()), (status, Some(u64::from(status))), "{path}");
    }
    let seen = client.server.state();
    assert!(!serde_json::to_string(&seen).unwrap().contains("AAG"), "a token is shown");
}

#[tokio::test]
async fn methods_are_found_in_any_case_and_unknown_ones_are_404() {
    let client = Client::start().await;
    let path = format!("/bot{TOKEN}/GETME");
    let (status, body) = client.send(&path, "", "".into()).await.unwrap();
    assert_eq!((status, &body["result"]["username"]), (200, &json!("mybot")));
    assert_eq!(body["result"]["id"], 712_345_678_901_i64);
    assert_eq!(body["result"]["can_read_all_group_messages"], false);
    assert_eq!(client.server.look(|s| s.calls("getMe").count()), 1);
    let (status, body) = client.call("sendThought", json!({})).await;
    assert_eq!((status, body["description"].as_str()), (404, Some("Not Found: method not found")));
    assert_eq!(client.violations(), ["Not Found: method not found"]);
}

#[tokio::test]
async fn a_method_nobody_simulates_says_so() {
    let client = Client::start().await;
    let (status, _) = client.call("getMyStarBalance", json!({})).await;
    assert_eq!(status, 501);
    assert!(client.violations()[0].contains("getMyStarBalance is not simulated"));
}

#[tokio::test]
async fn json_forms_queries_and_parts_mean_the_same() {
    let client = Client::start().await;
    let path = format!("/bot{TOKEN}/sendMessage");
    let entities = r#"[{"type":"bold","offset":0,"length":2}]"#;
    let id = PERSON.to_string();
    let fields = [("chat_id", id.as_str()), ("text", "hi & you"), ("entities", entities), ("protect_content", "false")];
    let encoded = "chat_id=7012345678901&text=hi+%26+you&entities=%5B%7B%22type%22%3A%22bold%22%2C%22offset%22%3A0\
                   %2C%22length%22%3A2%7D%5D&protect_content=false";
    let whole =
        json!({"chat_id": PERSON, "text": "hi & you", "entities": [{"type": "bold", "offset": 0, "length": 2}]});
    let (kind, parts) = form(&fields, &[]);
    for (path, kind, body) in [
        (path.clone(), "application/json", whole.to_string().into()),
        (path.clone(), "application/x-www-form-urlencoded", encoded.into()),
        (format!("{path}?{encoded}"), "", "".into()),
        (path.clone(), kind.as_str(), parts),
    ] {
        let answer = client.send(&path, kind, body).await.unwrap();
        let (status, body) = client.shaped("sendMessage", answer);
        assert_eq!(status, 200, "{kind}: {body}");
        assert_eq!(body["result"]["text"], "hi & you");
        assert_eq!(body["result"]["entities"], json!([{"type": "bold", "offset": 0, "length": 2}]));
        assert_eq!(body["result"]["chat"]["id"], PERSON);
    }
    assert_eq!(client.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn fields_that_do_not_exist_or_fit_are_refused_and_recorded() {
    let client = Client::start().await;
    let base = json!({"chat_id": PERSON, "text": "x"});
    let with = |name: &str, value: Value| {
        let mut all = base.clone();
        all[name] = value;
        all
    };
    let cases = [
        (with("reply_to_message_id", json!(1)), "is no field of sendMessage"),
        (with("chat_id", json!(1.5)), "chat_id"),
        (with("chat_id", json!({})), "chat_id"),
        (with("message_thread_id", json!("five")), "message_thread_id"),
        (with("disable_notification", json!("maybe")), "disable_notification"),
        (with("entities", json!([{"type": "bold", "offset": 0}])), "entities[0].length: is missing"),
        (with("entities", json!([{"type": "bold", "offset": 0, "length": 1, "colour": 1}])), "colour: is no field"),
        (with("reply_parameters", json!({"message_id": "x"})), "reply_parameters.message_id"),
        (with("reply_markup", json!({"inline_keyboard": [[{"label": "x"}]]})), "reply_markup"),
        (json!({"chat_id": PERSON}), "message text is empty"),
        (json!({"text": "x"}), "chat_id is empty"),
        (with("text", Value::Null), "text"),
    ];
    for (n, (fields, part)) in cases.iter().enumerate() {
        let why = client.bad("sendMessage", fields.clone()).await;
        assert!(why.starts_with("Bad Request: ") && why.contains(part), "{fields}: {why}");
        assert_eq!(client.violations().len(), n + 1, "{fields}");
    }
    let path = format!("/bot{TOKEN}/sendMessage");
    let (status, _) = client.send(&path, "text/xml", "<x/>".into()).await.unwrap();
    assert_eq!(status, 400);
    let (status, _) = client.send(&path, "application/json", "{".into()).await.unwrap();
    assert_eq!(status, 400);
    let (status, _) = client.send(&path, "application/x-www-form-urlencoded", "text=a&text=b".into()).await.unwrap();
    assert_eq!(status, 400);
    assert_eq!(client.server.look(|s| s.sent(PERSON).count()), 0);
}

#[tokio::test]
async fn foreign_bytes_never_end_the_server() {
    let client = Client::start().await;
    let bodies: [&[u8]; 7] =
        [b"\xff\xfe", b"[]", b"null", b"{\"chat_id\":99999999999999999999}", b"--b", b"%zz=%", b"{\"a\":"];
    for kind in [
        "application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=b",
        "multipart/form-data",
    ] {
        for body in bodies {
            let path = format!("/bot{TOKEN}/sendMessage");
            let (status, _) = client.send(&path, kind, body.to_vec().into()).await.unwrap();
            assert_eq!(status, 400, "{kind} {body:?}");
        }
    }
    client.good("getMe", json!({})).await;
}
