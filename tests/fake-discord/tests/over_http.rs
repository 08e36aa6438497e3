//! The server as a client on the wire sees it: files, faults, time, and the pages of the script's side.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use fake_discord::{FakeDiscord, Options, RestEffect, RestFault, Time, ids};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const SOON: Duration = Duration::from_secs(20);

#[expect(clippy::disallowed_methods, reason = "a test's own client")]
fn client() -> Client {
    // another test may have installed it
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().user_agent("DiscordBot (test, 1)").no_proxy().build().unwrap()
}

fn messages(fake: &FakeDiscord, client: &Client) -> RequestBuilder {
    let url = format!("{}/v10/channels/{}/messages", fake.api_url(), ids::GENERAL);
    client.post(url).header("authorization", format!("Bot {}", fake.token()))
}

async fn frozen() -> FakeDiscord {
    let time = Time::Frozen(1_772_359_200_000);
    FakeDiscord::start_with(Options { time, ..Options::default() }, 0).await.unwrap()
}

#[tokio::test]
async fn a_file_goes_up_and_comes_down() {
    let (fake, client) = (frozen().await, client());
    let form = concat!(
        "--b\r\ncontent-disposition: form-data; name=\"payload_json\"\r\ncontent-type: application/json\r\n\r\n",
        "{\"content\":\"see\",\"attachments\":[{\"id\":0,\"filename\":\"a.txt\"}]}\r\n",
        "--b\r\ncontent-disposition: form-data; name=\"files[0]\"; filename=\"x\"\r\ncontent-type: text/plain\r\n\r\n",
        "hello\r\n--b--\r\n"
    );
    let sent = messages(&fake, &client).header("content-type", "multipart/form-data; boundary=b").body(form);
    let answer = sent.send().await.unwrap();
    assert_eq!(answer.headers()["x-ratelimit-remaining"], "4");
    let message: Value = answer.json().await.unwrap();
    let url = message["attachments"][0]["url"].as_str().unwrap();
    let file = client.get(url).send().await.unwrap();
    assert_eq!(file.headers()["content-type"], "text/plain");
    assert_eq!(file.text().await.unwrap(), "hello");
    assert_eq!(fake.state().requests[0].files, ["x"]);
    let broken = messages(&fake, &client).header("content-type", "application/json").body("{");
    let answer: Value = broken.send().await.unwrap().json().await.unwrap();
    assert_eq!(answer["code"], 50109);
    let plain = messages(&fake, &client).header("content-type", "text/plain").body("x").send().await.unwrap();
    assert_eq!(plain.status(), 400);
}

#[tokio::test]
async fn a_cut_breaks_the_connection_with_or_without_doing_it() {
    let (fake, client) = (frozen().await, client());
    for (what, done) in [(RestEffect::Cut, 0), (RestEffect::ApplyThenCut, 1)] {
        fake.fault(RestFault::once("POST channels/*/messages", what));
        let error = messages(&fake, &client).json(&json!({"content": "x"})).send().await.unwrap_err();
        assert!(error.status().is_none(), "nothing was answered");
        assert_eq!(fake.state().sent(ids::GENERAL).len(), done);
    }
}

#[tokio::test]
async fn no_answer_comes_before_its_time() {
    let (fake, client) = (frozen().await, client());
    fake.fault(RestFault::once("POST channels/*/messages", RestEffect::Delay { ms: 60_000 }));
    let request = messages(&fake, &client).json(&json!({"content": "x"})).send();
    let advance = async {
        fake.wait_for(|s| s.requests.len() == 1, SOON).await.unwrap();
        fake.advance(Duration::from_millis(59_999));
        assert!(fake.state().sent(ids::GENERAL).is_empty());
        fake.advance(Duration::from_millis(1));
    };
    let (answer, ()) = tokio::join!(request, advance);
    assert_eq!(answer.unwrap().status(), 200);
    for (what, done) in [(RestEffect::Hang, 1), (RestEffect::ApplyThenHang, 2)] {
        fake.fault(RestFault::once("POST channels/*/messages", what));
        let hanging = messages(&fake, &client).json(&json!({"content": "x"})).send();
        let wait = fake.wait_for(|s| s.sent(ids::GENERAL).len() == done && s.requests.len() == 1 + done, SOON);
        tokio::select! {
            answer = hanging => panic!("{answer:?}"),
            state = wait => assert_eq!(state.unwrap().requests.last().unwrap().fault.is_some(), true),
        }
    }
}

#[tokio::test]
async fn the_script_is_driven_over_http() {
    let (fake, client) = (frozen().await, client());
    let post = |page: &str, body: Value| client.post(format!("{}/{page}", fake.url())).json(&body).send();
    let get = |page: &str| client.get(format!("{}/{page}", fake.url())).send();
    let say = json!({"do": "say", "user": ids::ANN, "channel": ids::GENERAL, "content": "hi"});
    let answer: Value = post("__script", json!([say, say])).await.unwrap().json().await.unwrap();
    assert_eq!(answer["ids"].as_array().unwrap().len(), 2);
    let wrong =
        post("__script", json!({"do": "say", "user": "7", "channel": ids::GENERAL, "content": "x"})).await.unwrap();
    assert_eq!((wrong.status().as_u16(), wrong.text().await.unwrap()), (400, "there is no user 7".into()));
    let unknown = post("__script", json!({"do": "say", "user": ids::ANN, "contents": "x"})).await.unwrap();
    assert_eq!(unknown.status(), 400, "a key nobody knows is no slip of the pen");
    let fault =
        json!({"rest": {"on": "POST channels/*/messages", "what": {"kind": "status", "status": 503, "html": true}}});
    assert_eq!(post("__faults", fault).await.unwrap().status(), 204);
    assert_eq!(get("__faults").await.unwrap().json::<Value>().await.unwrap().as_array().unwrap().len(), 1);
    let down = messages(&fake, &client).json(&json!({"content": "x"})).send().await.unwrap();
    assert_eq!(
        (down.status().as_u16(), down.headers()["content-type"].to_str().unwrap()),
        (503, "text/html; charset=UTF-8")
    );
    let moved: Value = post("__clock", json!({"advance_ms": 1_000})).await.unwrap().json().await.unwrap();
    assert_eq!(moved, json!({"now_ms": 1_772_359_201_000_u64, "frozen": true}));
    let empty = messages(&fake, &client).json(&json!({"content": ""})).send().await.unwrap();
    assert_eq!(empty.status(), 400);
    let seen: Value = get("__violations").await.unwrap().json().await.unwrap();
    assert_eq!((seen[0]["kind"].clone(), seen[0]["code"].clone()), (json!("malformed"), json!(50006)));
    client.delete(format!("{}/__violations", fake.url())).send().await.unwrap();
    assert_eq!(fake.violations(), []);
    let state: Value = get("__state").await.unwrap().json().await.unwrap();
    let general = &state["conversations"][ids::GENERAL.to_string()];
    assert_eq!(general["messages"].as_object().unwrap().len(), 2);
    assert_eq!(state["requests"].as_array().unwrap().len(), 2);
    client.delete(format!("{}/__faults", fake.url())).send().await.unwrap();
}

/// Opens a WebSocket by hand and reads it to its end; gives the code of the close frame.
async fn silent_client(fake: &FakeDiscord) -> u16 {
    let addr = fake.url().trim_start_matches("http://").to_owned();
    let mut socket = TcpStream::connect(&addr).await.unwrap();
    let head = format!(
        "GET /gateway?v=10 HTTP/1.1\r\nhost: {addr}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut seen = Vec::new();
    while !seen.ends_with(b"\r\n\r\n") {
        seen.push(socket.read_u8().await.unwrap());
    }
    loop {
        let (kind, length) = (socket.read_u8().await.unwrap() & 0x0f, usize::from(socket.read_u8().await.unwrap()));
        let mut payload = vec![0; length];
        socket.read_exact(&mut payload).await.unwrap();
        if kind == 8 {
            return u16::from_be_bytes([payload[0], payload[1]]);
        }
        assert!(String::from_utf8(payload).unwrap().contains("heartbeat_interval"));
    }
}

#[tokio::test]
async fn a_client_that_never_beats_is_given_up() {
    let fake =
        FakeDiscord::start_with(Options { heartbeat_ms: 40, grace_ms: 20, ..Options::default() }, 0).await.unwrap();
    let code = tokio::time::timeout(SOON, silent_client(&fake)).await.unwrap();
    assert_eq!(code, 4009);
    let state = fake.state();
    assert_eq!((state.gateway.closes[0].code, state.violations[0].code), (4009, 4009));
}
