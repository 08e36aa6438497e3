//! The listener: checks, records, and plays the script.

use crate::auto::auto;
use crate::fault::Fault;
use crate::halves;
use crate::script::{Script, Turn};
use crate::send::{Sending, send};
use crate::wire::{Asked, BASE, Refusal, Reply, Wire};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use serde::Serialize;
use serde_json::{Value, json};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const MAX_BODY: usize = 32 << 20;
/// Headers that may hold a key.
const SECRET: [&str; 2] = ["authorization", "x-api-key"];

/// A request as it came. The key itself is not kept.
#[derive(Debug, Clone, Serialize)]
pub struct Recorded {
    /// Number from 1.
    pub number: usize,
    /// Whether it carried a key.
    pub authorized: bool,
    /// Headers but those of the key.
    pub headers: Vec<(String, String)>,
    /// Body; `null` when it was no JSON.
    pub body: Value,
    /// Body as it came, for comparing requests byte by byte.
    #[serde(skip)]
    pub bytes: Bytes,
    /// Status of the answer.
    pub status: u16,
    /// Why it was refused by the rules of the format.
    pub refused: Option<String>,
}

impl Recorded {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

struct World {
    wire: Box<dyn Wire>,
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

/// A running server; dropping it ends it.
pub struct Handle {
    shared: Shared,
    task: JoinHandle<()>,
}

/// Starts a server of a format on a loopback port; 0 takes a free one.
pub async fn start(wire: impl Wire, script: Script, port: u16) -> io::Result<(SocketAddr, Handle)> {
    playable(&wire, &script).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let addr = listener.local_addr()?;
    let path = format!("{BASE}{}", wire.path());
    let world = World { wire: Box::new(wire), script, recorded: Vec::new() };
    let shared = Shared(Arc::new(Mutex::new(world)));
    let app = Router::new()
        .route(&path, post(complete))
        .route(&format!("{BASE}/models"), get(models))
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

impl Handle {
    /// Requests so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.world().recorded.clone()
    }

    /// Forgets the requests so far.
    pub fn forget(&self) {
        self.shared.world().recorded.clear();
    }

    /// Replaces the script.
    pub fn set_script(&self, script: Script) {
        self.shared.world().script = script;
    }

    /// Turns that were not used.
    pub fn unused(&self) -> usize {
        self.shared.world().script.turns.len()
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

fn playable(wire: &dyn Wire, script: &Script) -> Result<(), String> {
    let mut faulty = script.turns.iter().enumerate().filter_map(|(i, turn)| Some((i, wire.unplayable(turn)?)));
    faulty.next().map_or(Ok(()), |(i, why)| Err(format!("turns[{i}]: {why}")))
}

async fn requests(State(shared): State<Shared>) -> Json<Vec<Recorded>> {
    Json(shared.world().recorded.clone())
}

async fn forget(State(shared): State<Shared>) -> StatusCode {
    shared.world().recorded.clear();
    StatusCode::NO_CONTENT
}

async fn set_script(State(shared): State<Shared>, body: Bytes) -> Response {
    let mut world = shared.world();
    let script = serde_json::from_slice::<Script>(&body).map_err(|e| e.to_string());
    match script.and_then(|script| playable(world.wire.as_ref(), &script).map(|()| script)) {
        Ok(script) => {
            world.script = script;
            StatusCode::NO_CONTENT.into_response()
        }
        Err(why) => (StatusCode::BAD_REQUEST, why).into_response(),
    }
}

async fn models(State(shared): State<Shared>) -> Json<Value> {
    let ids = shared.world().script.models.clone();
    // both formats list so; each client reads the keys it knows
    let list = ids.iter().map(|id| json!({"id": id, "object": "model", "type": "model", "display_name": id}));
    Json(json!({"object": "list", "data": list.collect::<Vec<_>>(), "has_more": false}))
}

/// What the lock is needed for: the turn to play and its answer.
struct Plan {
    turn: Turn,
    reply: Reply,
    stream_error: String,
    failure: String,
    latency: Duration,
}

async fn complete(State(shared): State<Shared>, headers: HeaderMap, bytes: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let plan = match plan(&shared, &headers, &body, &bytes) {
        Ok(plan) => plan,
        Err((status, body)) => return json_text(status, body),
    };
    match &plan.turn.fault {
        Some(Fault::Hang { after: None }) => std::future::pending().await,
        Some(fault @ (Fault::Status { .. } | Fault::Redirect { .. })) => failed(fault, plan.failure),
        _ => played(plan, &body),
    }
}

fn plan(shared: &Shared, headers: &HeaderMap, body: &Value, bytes: &Bytes) -> Result<Plan, (u16, String)> {
    let mut world = shared.world();
    let number = world.recorded.len() + 1;
    let checked = authorized(&world, headers)
        .and_then(|()| world.wire.check(&Asked { headers, body, models: &world.script.models }));
    let turn = checked.and_then(|()| {
        let turn = next_turn(&mut world, body);
        scripted_refusal(&world, &turn, headers, body).map_or(Ok(turn), Err)
    });
    let status = match &turn {
        Err(refusal) => refusal.status,
        Ok(Turn { fault: Some(Fault::Status { status, .. }), .. }) => *status,
        Ok(Turn { fault: Some(Fault::Redirect { .. }), .. }) => 307,
        Ok(_) => 200,
    };
    let shown = headers.iter().filter(|(name, _)| !SECRET.contains(&name.as_str()));
    let shown = shown.map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
    let authorized = world.wire.key(headers).is_some();
    world.recorded.push(Recorded {
        number,
        authorized,
        headers: shown.collect(),
        body: body.clone(),
        bytes: bytes.clone(),
        status,
        refused: turn.as_ref().err().map(|r| r.message.clone()),
    });
    match turn {
        Err(refusal) => Err((refusal.status, world.wire.error(&refusal, false))),
        Ok(turn) => Ok(ready(&mut world, turn, body, number)),
    }
}

fn ready(world: &mut World, turn: Turn, body: &Value, number: usize) -> Plan {
    let reply = world.wire.reply(&turn, body, number);
    let stream_error = match &turn.fault {
        Some(Fault::StreamError { message, .. }) => {
            let refusal = Refusal { status: 529, message: message.clone(), param: None, code: None };
            world.wire.error(&refusal, true)
        }
        _ => String::new(),
    };
    let failure = match &turn.fault {
        Some(Fault::Status { status, message, code, param, .. }) => {
            let (message, param, code) = (message.clone(), param.clone(), code.clone());
            world.wire.error(&Refusal { status: *status, message, param, code }, false)
        }
        _ => String::new(),
    };
    let latency = Duration::from_millis(turn.latency_ms.unwrap_or(world.script.latency_ms));
    Plan { turn, reply, stream_error, failure, latency }
}

fn authorized(world: &World, headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(key) = &world.script.key else { return Ok(()) };
    let sent = world.wire.key(headers);
    if sent.as_ref() == Some(key) {
        return Ok(());
    }
    let message = format!("Incorrect API key provided: {}", sent.as_deref().unwrap_or("none"));
    Err(Refusal { status: 401, message, param: None, code: Some("invalid_api_key".into()) })
}

/// The first turn that fits this request, used up; without one the server answers by itself.
fn next_turn(world: &mut World, body: &Value) -> Turn {
    let seen = world.wire.seen(body);
    let turns = &mut world.script.turns;
    let fits = |turn: &Turn| turn.when.as_ref().is_none_or(|part| seen.last.contains(part));
    let Some(at) = turns.iter().position(fits) else { return auto(&seen) };
    match turns.get_mut(at) {
        Some(turn) if turn.times == Some(0) => turn.clone(),
        Some(turn) if turn.times.is_some_and(|n| n > 1) => {
            turn.times = turn.times.map(|n| n - 1);
            turn.clone()
        }
        _ => turns.remove(at),
    }
}

fn scripted_refusal(world: &World, turn: &Turn, headers: &HeaderMap, body: &Value) -> Option<Refusal> {
    match &turn.fault {
        Some(Fault::RefuseTool { name }) => world.wire.refuse_tool(body, name),
        Some(Fault::RefuseField { name }) => {
            let quoted = format!("\"{name}\"");
            let beta = headers.get_all("anthropic-beta").iter().any(|v| v.to_str().is_ok_and(|v| v.contains(name)));
            let used = beta || body.to_string().contains(&quoted);
            let message = format!("{name}: Extra inputs are not permitted");
            used.then(|| Refusal { status: 400, message, param: Some(name.clone()), code: None })
        }
        _ => None,
    }
}

fn code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn json_text(status: u16, body: String) -> Response {
    (code(status), [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn failed(fault: &Fault, failure: String) -> Response {
    let (status, message, retry_after, html) = match fault {
        Fault::Redirect { to } => {
            return (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to.clone())]).into_response();
        }
        Fault::Status { status, message, retry_after, html, .. } => (*status, message, retry_after, *html),
        _ => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    let mut response = if html {
        let page = format!("<html><body><h1>{message}</h1></body></html>");
        (code(status), [(header::CONTENT_TYPE, "text/html")], page).into_response()
    } else {
        json_text(status, failure)
    };
    if let Some(value) = retry_after.as_deref().and_then(|v| waited(v).parse().ok()) {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

/// `Retry-After` as it is sent.
#[expect(clippy::disallowed_methods, reason = "a date from now on, as a real server gives one")]
fn waited(value: &str) -> String {
    match value.strip_prefix("date+").and_then(|n| n.parse().ok()) {
        None => value.to_owned(),
        Some(seconds) => {
            let at = chrono::Utc::now() + chrono::Duration::seconds(seconds);
            at.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
        }
    }
}

fn played(plan: Plan, body: &Value) -> Response {
    let streams = body.get("stream").and_then(Value::as_bool).unwrap_or(false);
    if !streams && plan.turn.raw.is_none() {
        return Json(plan.reply.whole).into_response();
    }
    let how = Sending {
        fault: plan.turn.fault.as_ref(),
        split: plan.turn.split_bytes,
        latency: plan.latency,
        stream_error: plan.stream_error,
    };
    let mut chunks = plan.turn.raw.clone().unwrap_or(plan.reply.chunks);
    if plan.turn.halves {
        chunks = chunks.iter().map(|c| halves::placed(c)).collect();
    }
    let stream = send(chunks, &how);
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(stream)).into_response()
}
