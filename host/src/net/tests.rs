use super::*;
use crate::task::{ManualClock, Tasks};
use bytes::Bytes;
use futures::{StreamExt, stream};
use proptest::prelude::*;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn collect(chunks: Vec<Vec<u8>>) -> Vec<Result<String, NetError>> {
    let bytes = stream::iter(chunks.into_iter().map(|c| Ok(Bytes::from(c))));
    futures::executor::block_on(data_events(bytes).collect())
}

#[test]
fn events_survive_any_cut() {
    let text = "data: {\"a\":\"😀\"}\n\n: note\r\n\r\ndata: b\r\ndata: c\r\n\r\ndata: [DONE]\n\n".as_bytes();
    for cut in 0..text.len() {
        let (a, b) = text.split_at(cut);
        let events: Vec<String> = collect(vec![a.to_vec(), b.to_vec()]).into_iter().map(Result::unwrap).collect();
        assert_eq!(events, ["{\"a\":\"😀\"}", "b\nc", "[DONE]"]);
    }
}

#[test]
fn a_line_and_an_event_have_a_limit() {
    let long = collect(vec![b"data: x\n\ndata: ".to_vec(), vec![b'a'; MAX_LINE_BYTES]]);
    assert_eq!(long.last().unwrap(), &Err(NetError::TooLarge { what: "line", limit: MAX_LINE_BYTES }));
    let line = [b"data: ".as_slice(), &vec![b'a'; 600_000], b"\n"].concat();
    let many = collect(vec![line; 8]);
    assert_eq!(many.last().unwrap(), &Err(NetError::TooLarge { what: "event", limit: MAX_EVENT_BYTES }));
    let short = collect(vec![b"data: a\n\n".repeat(1000); 600]);
    assert!(short.iter().all(Result::is_ok));
}

#[test]
fn scrub_takes_secrets_queries_and_line_breaks_out() {
    let text = "key sk-abcdef at https://h.example/p?key=1\nsk-abcdef\u{7} end";
    assert_eq!(scrub(text, &["sk-abcdef", ""], 200), "key [redacted] at https://h.example/p [redacted] end");
    assert_eq!(scrub("界界界界", &[], 3), "界界…");
}

#[tokio::test]
async fn no_redirect_is_followed_and_no_address_is_in_an_error() {
    let http = Http::new(ManualClock::default().shared()).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let server = Tasks::new().spawn("server", async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 2048];
        let _ = socket.read(&mut buffer).await.unwrap();
        socket.write_all(b"HTTP/1.1 307 T\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    });
    let answer = http.client().get(format!("http://{addr}/x")).send().await.unwrap();
    assert_eq!(answer.status(), 307);
    server.await.unwrap();
    let refused = http.client().get(format!("http://{addr}/secret?key=1")).timeout(Duration::from_secs(5));
    let error = NetError::from(refused.send().await.unwrap_err());
    assert!(matches!(error, NetError::Connect(_)), "{error:?}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..12)) {
        let _ = collect(chunks);
    }

    #[test]
    fn scrub_keeps_its_limit(text in ".*", limit in 1usize..50) {
        prop_assert!(scrub(&text, &["abcd"], limit).chars().count() <= limit);
    }
}
