//! The local HTTP server: one command path, one attached chat path.

use super::channel::Attached;
use super::control::{ControlFiles, same_secret};
use super::wire::{FromClient, FromHost, LINE_MAX};
use crate::task::Tasks;
use async_trait::async_trait;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use hyper_util::rt::TokioIo;
use plugin_sdk::{AdapterInfo, Connection, ConversationRef};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::UnixListener;
use tokio::sync::mpsc;

/// Largest request body.
const BODY_MAX: usize = 4 << 20;

/// What the server lets a local program do. Implemented by `app`.
#[async_trait]
pub trait Control: Send + Sync {
    /// Runs one command: exit code and body.
    async fn command(&self, command: &str, args: Value) -> (u8, Value);
    /// Serves an attached chat until it closes.
    async fn attach(&self, key: &str, info: AdapterInfo, connection: Connection, place: Option<ConversationRef>);
}

#[derive(Clone)]
struct Shared {
    control: Arc<dyn Control>,
    token: Arc<str>,
    tasks: Tasks,
}

/// A command request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandRequest {
    command: String,
    #[serde(default)]
    args: Value,
}

/// Binds the socket and serves it on tracked tasks until they close.
pub fn serve(files: &ControlFiles, control: Arc<dyn Control>, tasks: &Tasks) -> std::io::Result<()> {
    let listener = UnixListener::bind(&files.socket)?;
    std::fs::set_permissions(&files.socket, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let shared = Shared { control, token: files.token.as_str().into(), tasks: tasks.clone() };
    let router = Router::new()
        .route("/v1/command", post(command))
        .route("/v1/chat", get(chat))
        .layer(axum::extract::DefaultBodyLimit::max(BODY_MAX))
        .with_state(shared);
    let ending = tasks.clone();
    tasks.spawn("control socket", async move {
        let closing = async move { ending.closing().await };
        if let Err(e) = axum::serve(listener, router).with_graceful_shutdown(closing).await {
            tracing::error!(error = %e, "the control socket ended");
        }
    });
    Ok(())
}

fn allowed(shared: &Shared, headers: &HeaderMap) -> bool {
    let sent = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok()).unwrap_or_default();
    sent.strip_prefix("Bearer ").is_some_and(|t| same_secret(t, &shared.token))
}

async fn command(State(shared): State<Shared>, headers: HeaderMap, body: axum::body::Bytes) -> Response {
    if !allowed(&shared, &headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    match serde_json::from_slice::<CommandRequest>(&body) {
        Ok(request) => {
            let (exit, body) = shared.control.command(&request.command, request.args).await;
            Json(json!({"exit": exit, "body": body})).into_response()
        }
        Err(e) => (StatusCode::BAD_REQUEST, e.to_string()).into_response(),
    }
}

async fn chat(State(shared): State<Shared>, request: Request) -> Response {
    if !allowed(&shared, request.headers()) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let tasks = shared.tasks.clone();
    let upgrade = hyper::upgrade::on(request);
    tasks.spawn("attached chat", async move {
        match upgrade.await {
            Ok(stream) => attached(shared, TokioIo::new(stream)).await,
            Err(e) => tracing::debug!(error = %e, "a chat did not attach"),
        }
    });
    let headers = [(header::CONNECTION, "upgrade"), (header::UPGRADE, "understudy-chat")];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}

/// Reads one line of bounded length; `None` at the end or on anything that is no line.
async fn line<R: AsyncRead + Unpin>(reader: &mut BufReader<R>) -> Option<FromClient> {
    let mut bytes = Vec::new();
    let read = reader.take(LINE_MAX as u64).read_until(b'\n', &mut bytes).await.ok()?;
    if read == 0 {
        return None;
    }
    serde_json::from_slice(&bytes).ok()
}

async fn attached<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(shared: Shared, stream: S) {
    let (read, mut write) = tokio::io::split(stream);
    let mut reader = BufReader::new(read);
    let Some(FromClient::Hello(hello)) = line(&mut reader).await else { return };
    let (lines, mut outgoing) = mpsc::unbounded_channel::<FromHost>();
    let (deliver, deliveries) = mpsc::unbounded_channel();
    let connection = Attached::connection(lines, deliveries);
    let work = shared.control.attach(&hello.key, hello.info, connection, hello.place);
    let reading = async {
        while let Some(FromClient::Message(message)) = line(&mut reader).await {
            if deliver.send(message.into_delivery()).is_err() {
                break;
            }
        }
        drop(deliver);
        std::future::pending::<()>().await;
    };
    let writing = async {
        while let Some(message) = outgoing.recv().await {
            let Ok(mut text) = serde_json::to_vec(&message) else { continue };
            text.push(b'\n');
            if write.write_all(&text).await.is_err() {
                break;
            }
        }
        // A terminal that cannot be written to is seen as gone by its next read.
        std::future::pending::<()>().await;
    };
    // A closing host ends the work itself, after the answers that are still owed.
    tokio::select! {
        () = work => {}
        () = reading => {}
        () = writing => {}
    }
    // What was queued before the end is still shown.
    while let Ok(message) = outgoing.try_recv() {
        let Ok(mut text) = serde_json::to_vec(&message) else { continue };
        text.push(b'\n');
        if write.write_all(&text).await.is_err() {
            return;
        }
    }
    // The stream closes with its halves; a failed shutdown changes nothing.
    drop(write.shutdown().await);
}
