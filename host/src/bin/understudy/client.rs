//! Speaks to a running host over its local socket.

use crate::out::Failure;
use bytes::Bytes;
use host::task::Tasks;
use http_body_util::{BodyExt, Full};
use hyper::http::request::Builder;
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode, body::Incoming};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tokio::net::UnixStream;

/// A found host.
pub(crate) struct Client {
    socket: PathBuf,
    token: String,
    tasks: Tasks,
}

/// What the control file says about a running host.
fn control(data_dir: &Path) -> Result<Option<Value>, Failure> {
    match std::fs::read_to_string(data_dir.join("control.json")) {
        Ok(text) => Ok(serde_json::from_str(&text).ok()),
        Err(e) if e.kind() == ErrorKind::PermissionDenied => {
            Err(Failure::forbidden(format!("{} belongs to somebody else: {e}", data_dir.display())))
        }
        Err(_) => Ok(None),
    }
}

impl Client {
    /// The running host of a data folder; `None` when there is none (a stale file counts as none).
    pub(crate) fn find(data_dir: &Path) -> Result<Option<Self>, Failure> {
        let Some(control) = control(data_dir)? else { return Ok(None) };
        let pid = control.get("pid").and_then(Value::as_i64).and_then(|p| u32::try_from(p).ok());
        if !pid.is_some_and(host::store::is_alive) {
            return Ok(None);
        }
        let protocol = control.get("protocol").and_then(Value::as_u64);
        if protocol != Some(host::admin::PROTOCOL) {
            let theirs = protocol.map_or("none".to_string(), |p| p.to_string());
            return Err(Failure::protocol(format!(
                "the running host speaks protocol {theirs}, this program {}; use the same version",
                host::admin::PROTOCOL
            )));
        }
        let socket = control.get("socket").and_then(Value::as_str).unwrap_or_default();
        // The pid may be another program's by now; only a host listens on its socket.
        match std::os::unix::net::UnixStream::connect(socket) {
            Err(e) if matches!(e.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) => return Ok(None),
            _ => {}
        }
        let token = std::fs::read_to_string(data_dir.join("control.token"))
            .map_err(|e| Failure::forbidden(format!("control.token: {e}")))?;
        Ok(Some(Self { socket: PathBuf::from(socket), token: token.trim().to_string(), tasks: Tasks::new() }))
    }

    /// As `find`, but no host is exit 3.
    pub(crate) fn require(data_dir: &Path) -> Result<Self, Failure> {
        Self::find(data_dir)?.ok_or_else(|| Failure::not_running(data_dir))
    }

    /// Sends one request and gives the response with its body still to be read.
    async fn send(&self, request: Builder, body: String) -> Result<Response<Incoming>, Failure> {
        let unreachable = |e: &dyn std::fmt::Display| Failure::no_host(format!("the host does not answer: {e}"));
        let stream = UnixStream::connect(&self.socket).await.map_err(|e| unreachable(&e))?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|e| unreachable(&e))?;
        self.tasks.spawn("control socket", connection.with_upgrades());
        let request = request
            .header("host", "understudy")
            .header("authorization", format!("Bearer {}", self.token))
            .body(Full::new(Bytes::from(body)))
            .map_err(|e| Failure::internal(e.to_string()))?;
        let response = sender.send_request(request).await.map_err(|e| unreachable(&e))?;
        match response.status() {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(Failure::forbidden("the host refused the token of this data folder"))
            }
            StatusCode::PAYLOAD_TOO_LARGE => Err(Failure::refused("this is more than the host takes at once")),
            status if status.is_success() || status == StatusCode::SWITCHING_PROTOCOLS => Ok(response),
            status => Err(Failure::refused(format!("the host answered {status}"))),
        }
    }

    /// A stream of the host's own protocol.
    pub(crate) async fn upgrade(&self, path: &str, protocol: &str) -> Result<TokioIo<Upgraded>, Failure> {
        let request = Request::get(path).header("connection", "upgrade").header("upgrade", protocol);
        let response = self.send(request, String::new()).await?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Err(Failure::protocol("the host does not take an attached terminal"));
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(|e| Failure::no_host(e.to_string()))?;
        Ok(TokioIo::new(upgraded))
    }

    /// One command: its exit code and body.
    pub(crate) async fn command(&self, command: &str, args: Value) -> Result<(u8, Value), Failure> {
        let body = serde_json::json!({"command": command, "args": args});
        let request = Request::post("/v1/command").header("content-type", "application/json");
        let response = self.send(request, body.to_string()).await?;
        let bytes = response.into_body().collect().await.map_err(|e| Failure::no_host(e.to_string()))?.to_bytes();
        let answer: Value = serde_json::from_slice(&bytes).map_err(|e| Failure::protocol(e.to_string()))?;
        let exit = answer.get("exit").and_then(Value::as_u64).and_then(|e| u8::try_from(e).ok()).unwrap_or(70);
        Ok((exit, answer.get("body").cloned().unwrap_or_default()))
    }
}
