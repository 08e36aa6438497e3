//! A client that knows nothing but HTTP.

use crate::facts::facts;
use crate::shape::fits;
use crate::{FakeTelegram, Group, Options, Say, TOKEN};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;

pub(crate) const GROUP: i64 = -4_987_654_321;
pub(crate) const SUPERGROUP: i64 = -1_002_345_678_901;
pub(crate) const PERSON: i64 = 7_012_345_678_901;

/// A server and its client.
pub(crate) struct Client {
    pub(crate) server: Arc<FakeTelegram>,
    token: String,
}

/// Status and body of an answer.
pub(crate) type Answer = (u16, Value);

impl Client {
    /// A server without rates, a private conversation, a group and a forum with topics 55 and 60.
    pub(crate) async fn start() -> Self {
        Self::with(Options::default().unlimited()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let server = Arc::new(FakeTelegram::with(options, 0).await.unwrap());
        server.say(Say::text("hello")).unwrap();
        server.group(Group::new(GROUP)).unwrap();
        server.group(Group::new(SUPERGROUP).topics(&[(55, "News"), (60, "Talk")])).unwrap();
        Self { server, token: TOKEN.into() }
    }

    /// A client of another bot of the same server.
    pub(crate) fn as_bot(&self, token: &str) -> Self {
        Self { server: self.server.clone(), token: token.into() }
    }

    /// A method with JSON; an answer of the wrong shape fails the test.
    pub(crate) async fn call(&self, method: &str, fields: Value) -> Answer {
        let path = format!("/bot{}/{method}", self.token);
        let answer = self.send(&path, "application/json", fields.to_string().into()).await.unwrap();
        self.shaped(method, answer)
    }

    /// The result of a method that must work.
    pub(crate) async fn good(&self, method: &str, fields: Value) -> Value {
        let (status, body) = self.call(method, fields).await;
        assert_eq!(status, 200, "{method}: {body}");
        body["result"].clone()
    }

    /// The description of a refusal.
    pub(crate) async fn bad(&self, method: &str, fields: Value) -> String {
        let (status, body) = self.call(method, fields.clone()).await;
        assert_eq!(status, 400, "{method} {fields}: {body}");
        body["description"].as_str().unwrap().to_owned()
    }

    /// The updates from an offset on.
    pub(crate) async fn updates(&self, offset: i64) -> Vec<Value> {
        self.good("getUpdates", json!({"offset": offset})).await.as_array().unwrap().clone()
    }

    pub(crate) fn shaped(&self, method: &str, (status, body): Answer) -> Answer {
        assert_eq!(body["ok"], Value::Bool(status == 200), "{method}: {status} {body}");
        if status == 200 {
            let returns = &facts().method(method).unwrap().returns;
            fits(&body["result"], returns, method).unwrap_or_else(|why| panic!("{why} in {body}"));
        } else {
            assert_eq!(body["error_code"], status, "{body}");
            assert!(body["description"].is_string(), "{body}");
        }
        (status, body)
    }

    /// Any request; `None` when the connection closes without an answer.
    pub(crate) async fn send(&self, path: &str, kind: &str, body: Bytes) -> Option<Answer> {
        let (status, bytes) = self.raw(path, kind, body).await?;
        Some((status, serde_json::from_slice(&bytes?).unwrap_or(Value::Null)))
    }

    /// The same with bytes; the inner `None` is a body that broke off.
    pub(crate) async fn raw(&self, path: &str, kind: &str, body: Bytes) -> Option<(u16, Option<Bytes>)> {
        let host = self.server.url().replace("http://", "");
        let socket = TcpStream::connect(&host).await.ok()?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(socket)).await.ok()?;
        let builder =
            if kind.is_empty() { Request::get(path) } else { Request::post(path).header("content-type", kind) };
        let request = builder.header("host", host).body(Full::new(body)).unwrap();
        let work = async {
            let response = sender.send_request(request).await.ok()?;
            let status = response.status().as_u16();
            Some((status, response.into_body().collect().await.ok().map(|body| body.to_bytes())))
        };
        tokio::pin!(connection, work);
        let mut open = true;
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = &mut connection, if open => open = false,
            }
        }
    }

    /// A step of the script over HTTP.
    pub(crate) async fn step(&self, path: &str, body: Value) -> Answer {
        self.send(path, "application/json", body.to_string().into()).await.unwrap()
    }

    /// What was recorded as a violation since the last look.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.server.violations().into_iter().map(|v| v.what).collect()
    }
}

/// A form of several parts.
pub(crate) fn form(fields: &[(&str, &str)], files: &[(&str, &str, &[u8])]) -> (String, Bytes) {
    let mut out: Vec<u8> = Vec::new();
    for (name, value) in fields {
        out.extend(format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").bytes());
    }
    for (name, file, bytes) in files {
        let head = format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file}\"\r\n");
        out.extend(head.bytes());
        out.extend(b"Content-Type: application/octet-stream\r\n\r\n");
        out.extend(*bytes);
        out.extend(b"\r\n");
    }
    out.extend(b"--b--\r\n");
    ("multipart/form-data; boundary=b".into(), out.into())
}

/// Long enough for anything that happens at all.
pub(crate) const SOON: Duration = Duration::from_secs(10);
