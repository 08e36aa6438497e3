//! The listener: checks, records, and plays the script.

use crate::auto::{auto, text_of};
use crate::check::{Refusal, check};
use crate::reply::reply;
use crate::script::{Fault, Script, Turn};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde::Serialize;
use serde_json::{Value, json};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const MAX_BODY: usize = 10 << 20;

/// A request as it came. The key itself is not kept.
#[derive(Debug, Clone, Serialize)]
pub struct Recorded {
    /// Number from 1.
    pub number: usize,
    /// Whether it carried a bearer token.
    pub authorized: bool,
    /// Headers but `authorization`.
    pub headers: Vec<(String, String)>,
    /// Body; `null` when it was no JSON.
    pub body: Value,
    /// Body as it came, for comparing requests byte by byte.
    #[serde(skip)]
    pub bytes: Bytes,
    /// Status of the answer.
    pub status: u16,
}

struct World {
    script: Script,
    recorded: Vec<Recorded>,
}

#[derive(Clone)]
struct Shared(Arc<Mutex<World>>);

impl Shared {
    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server.
pub struct FakeOpenAi;

/// A running server; dropping it ends it.
pub struct Handle {
    shared: Shared,
    task: JoinHandle<()>,
}

impl FakeOpenAi {
    /// Starts on a free loopback port.
    pub async fn start(script: Script) -> io::Result<(SocketAddr, Handle)> {
        Self::start_on(script, 0).await
    }

    /// Starts on a loopback port.
    pub async fn start_on(script: Script, port: u16) -> io::Result<(SocketAddr, Handle)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let addr = listener.local_addr()?;
        let shared = Shared(Arc::new(Mutex::new(World { script, recorded: Vec::new() })));
        let app = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/v1/models", get(models))
            .route("/__requests", get(requests).delete(forget))
            .route("/__script", post(set_script))
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .with_state(shared.clone());
        #[expect(clippy::disallowed_methods, reason = "a test server of its own; the handle ends it")]
        let task = tokio::spawn(async move {
            // Ends with the handle; an error of the listener ends it too, and every client sees that.
            let _ = axum::serve(listener, app).await;
        });
        Ok((addr, Handle { shared, task }))
    }
}

impl Handle {
    /// Requests so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.world().recorded.clone()
    }

    /// Replaces the script.
    pub fn set_script(&self, script: Script) {
        self.shared.world().script = script;
    }

    /// Waits until the server ends.
    pub async fn wait(mut self) {
        let _ = (&mut self.task).await;
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn requests(State(shared): State<Shared>) -> Json<Vec<Recorded>> {
    Json(shared.world().recorded.clone())
}

async fn forget(State(shared): State<Shared>) -> StatusCode {
    shared.world().recorded.clear();
    StatusCode::NO_CONTENT
}

async fn set_script(State(shared): State<Shared>, body: Bytes) -> Response {
    match serde_json::from_slice::<Script>(&body) {
        Ok(script) => {
            shared.world().script = script;
            StatusCode::NO_CONTENT.into_response()
        }
        Err(e) => (StatusCode::BAD_REQUEST, e.to_string()).into_response(),
    }
}

async fn models(State(shared): State<Shared>) -> Json<Value> {
    let ids = shared.world().script.models.clone();
    let list: Vec<Value> = ids.iter().map(|id| json!({"id": id, "object": "model", "owned_by": "fake"})).collect();
    Json(json!({"object": "list", "data": list}))
}

/// What the lock is needed for: the turn to play and the numbers around it.
struct Plan {
    turn: Turn,
    number: usize,
    latency: Duration,
}

async fn complete(State(shared): State<Shared>, headers: HeaderMap, bytes: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let plan = match plan(&shared, &headers, &body, &bytes) {
        Ok(plan) => plan,
        Err(refusal) => return refused(&refusal),
    };
    match &plan.turn.fault {
        Some(Fault::Status { .. } | Fault::Redirect { .. }) => failed(&plan.turn),
        Some(Fault::Hang { after: None }) => std::future::pending().await,
        _ => played(&plan, &body),
    }
}

fn plan(shared: &Shared, headers: &HeaderMap, body: &Value, bytes: &Bytes) -> Result<Plan, Refusal> {
    let mut world = shared.world();
    let number = world.recorded.len() + 1;
    let checked = authorized(&world.script, headers).and_then(|()| check(body, &world.script.models));
    let turn = checked.and_then(|()| {
        let turn = next_turn(&mut world.script, body);
        refuse_tool(&turn, body).map(|()| turn)
    });
    let status = match &turn {
        Err(refusal) => refusal.status,
        Ok(Turn { fault: Some(Fault::Status { status, .. }), .. }) => *status,
        Ok(Turn { fault: Some(Fault::Redirect { .. }), .. }) => 307,
        Ok(_) => 200,
    };
    let shown = headers.iter().filter(|(name, _)| *name != header::AUTHORIZATION);
    let shown = shown.map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
    world.recorded.push(Recorded {
        number,
        authorized: headers.contains_key(header::AUTHORIZATION),
        headers: shown.collect(),
        body: body.clone(),
        bytes: bytes.clone(),
        status,
    });
    let latency = Duration::from_millis(world.script.latency_ms);
    turn.map(|turn| Plan { turn, number, latency })
}

fn authorized(script: &Script, headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(key) = &script.key else { return Ok(()) };
    let sent = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok());
    if sent.and_then(|s| s.strip_prefix("Bearer ")) == Some(key) {
        return Ok(());
    }
    let shown = sent.unwrap_or("none");
    let message = format!("Incorrect API key provided: {shown}");
    Err(Refusal { status: 401, message, param: None, code: Some("invalid_api_key".into()) })
}

/// The first turn that fits this request, used up; without one the server answers by itself.
fn next_turn(script: &mut Script, body: &Value) -> Turn {
    let last = body.get("messages").and_then(Value::as_array).and_then(|m| m.last()).map(text_of).unwrap_or_default();
    let fits = |turn: &Turn| turn.when.as_ref().is_none_or(|part| last.contains(part));
    match script.turns.iter().position(fits) {
        Some(at) => script.turns.remove(at),
        None => auto(body),
    }
}

fn refuse_tool(turn: &Turn, body: &Value) -> Result<(), Refusal> {
    let Some(Fault::RefuseTool { name }) = &turn.fault else { return Ok(()) };
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let mut names = tools.filter_map(|t| t.pointer("/function/name")?.as_str());
    if !names.any(|n| n == name) {
        return Ok(());
    }
    let message = format!("Invalid schema for function '{name}': not supported");
    Err(Refusal { status: 400, message, param: None, code: Some("invalid_function_parameters".into()) })
}

fn refused(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    (status, Json(refusal.body())).into_response()
}

fn failed(turn: &Turn) -> Response {
    match &turn.fault {
        Some(Fault::Redirect { to }) => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to.clone())]).into_response()
        }
        Some(Fault::Status { status, message, code, param, retry_after, html }) => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let mut response = if *html {
                let page = format!("<html><body><h1>{message}</h1></body></html>");
                (status, [(header::CONTENT_TYPE, "text/html")], page).into_response()
            } else {
                let error = json!({"message": message, "type": "server_error", "param": param, "code": code});
                (status, Json(json!({"error": error}))).into_response()
            };
            if let Some(value) = retry_after.as_ref().and_then(|v| v.parse().ok()) {
                response.headers_mut().insert(header::RETRY_AFTER, value);
            }
            response
        }
        _ => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn played(plan: &Plan, body: &Value) -> Response {
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    let want_usage = body.pointer("/stream_options/include_usage").and_then(Value::as_bool).unwrap_or(false);
    let reply = reply(&plan.turn, model, plan.number, want_usage);
    let streams = body.get("stream").and_then(Value::as_bool).unwrap_or(false);
    if !streams && plan.turn.raw.is_none() {
        return Json(reply.whole).into_response();
    }
    let mut chunks = match &plan.turn.raw {
        Some(raw) => raw.clone(),
        None => reply.chunks,
    };
    if plan.turn.raw.is_none() {
        chunks.push("data: [DONE]\n\n".into());
    }
    let stream = with_fault(chunks, plan.turn.fault.as_ref());
    let body = Body::from_stream(paced(stream, plan.latency));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

type Chunks = BoxStream<'static, Result<Bytes, io::Error>>;

fn with_fault(mut chunks: Vec<String>, fault: Option<&Fault>) -> Chunks {
    let sent = |chunks: Vec<String>| stream::iter(chunks.into_iter().map(|c| Ok(Bytes::from(c))));
    match fault {
        Some(Fault::Cut { after }) => {
            chunks.truncate(*after);
            // An error here ends the connection without the end of the body.
            sent(chunks).chain(stream::iter([Err(io::Error::other("cut"))])).boxed()
        }
        Some(Fault::Hang { after: Some(after) }) => {
            chunks.truncate(*after);
            sent(chunks).chain(stream::pending()).boxed()
        }
        Some(Fault::StreamError { after, message }) => {
            chunks.truncate(*after);
            chunks.push(format!("data: {}\n\n", json!({"error": {"message": message, "code": 500}})));
            sent(chunks).boxed()
        }
        _ => sent(chunks).boxed(),
    }
}

#[expect(clippy::disallowed_methods, reason = "a test server of its own, with real latency")]
fn paced(stream: Chunks, latency: Duration) -> Chunks {
    if latency.is_zero() {
        return stream;
    }
    stream
        .then(move |chunk| async move {
            tokio::time::sleep(latency).await;
            chunk
        })
        .boxed()
}
