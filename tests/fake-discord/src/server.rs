//! The listener. Connections are served by hand so that one can be broken in the middle of a request.

use crate::clock::Clock;
use crate::control;
use crate::exchange::{Asked, Settled, Shown};
use crate::fault::RestEffect;
use crate::gateway;
use crate::id::Id;
use crate::options::Options;
use crate::rest::Call;
use crate::upload::{self, Body};
use crate::world::World;
use axum::Router;
use axum::body::Body as HttpBody;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State as Held, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response as HttpResponse, StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{any, get};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::json;
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tower::ServiceExt;

/// The world, with word of every change of it.
#[derive(Clone)]
pub(crate) struct Shared {
    world: Arc<Mutex<World>>,
    clock: Arc<Clock>,
    changes: watch::Sender<u64>,
}

impl Shared {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn look<T>(&self, f: impl FnOnce(&World) -> T) -> T {
        f(&self.world())
    }

    pub(crate) fn change<T>(&self, f: impl FnOnce(&mut World) -> T) -> T {
        let out = f(&mut self.world());
        self.changed();
        out
    }

    pub(crate) fn changed(&self) {
        self.changes.send_modify(|n| *n += 1);
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }
}

/// Says that the connection is to be broken instead of answered.
#[derive(Clone)]
struct Cut;

/// A server that listens.
pub(crate) struct Started {
    pub(crate) addr: SocketAddr,
    pub(crate) shared: Shared,
    pub(crate) app: Router,
    pub(crate) task: JoinHandle<()>,
}

/// Starts on a loopback port; 0 takes a free one.
pub(crate) async fn start(options: Options, port: u16) -> io::Result<Started> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let addr = listener.local_addr()?;
    let clock = Arc::new(Clock::new(options.time));
    let world = World::new(options, clock.clone(), addr.to_string());
    let (changes, _) = watch::channel(0);
    let shared = Shared { world: Arc::new(Mutex::new(world)), clock, changes };
    let app = Router::new()
        .route("/api/v10/{*path}", any(api))
        .route("/gateway", get(connect))
        .route("/attachments/{channel}/{id}/{name}", get(attachment))
        .merge(control::routes())
        .fallback(nothing)
        .layer(DefaultBodyLimit::max(upload::BODY_MAX))
        .with_state(shared.clone());
    #[expect(clippy::disallowed_methods, reason = "a test server of its own; its owner ends it")]
    let task = tokio::spawn(accept(listener, app.clone()));
    Ok(Started { addr, shared, app, task })
}

async fn accept(listener: TcpListener, app: Router) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // a client that is gone before it is accepted is no concern of the others
                if let Ok((stream, _)) = accepted {
                    connections.spawn(connection(stream, app.clone()));
                }
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}

/// Serves one connection to its end.
pub(crate) async fn connection(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, app: Router) {
    let service = service_fn(|request: HttpRequest| {
        let app = app.clone();
        async move {
            let Ok(response) = app.oneshot(request.map(HttpBody::new)).await;
            whole(response)
        }
    });
    // how a connection ends is the client's business
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades().await;
}

type HttpRequest = hyper::Request<Incoming>;

/// An error here breaks the connection before anything is written.
fn whole(response: Response) -> io::Result<HttpResponse<HttpBody>> {
    if response.extensions().get::<Cut>().is_some() { Err(io::Error::other("cut by script")) } else { Ok(response) }
}

fn cut() -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    response.extensions_mut().insert(Cut);
    response
}

async fn api(Held(shared): Held<Shared>, request: Request) -> Response {
    let asked = asked(request).await;
    let (number, effect) = shared.change(|world| world.arrive(&asked));
    match &effect {
        Some(RestEffect::Hang) => return std::future::pending().await,
        Some(RestEffect::Cut) => return cut(),
        Some(RestEffect::Delay { ms }) => {
            let until = shared.clock().now_ms() + ms;
            shared.clock().reached(until).await;
        }
        _ => {}
    }
    let settled = shared.change(|world| world.settle(number, &asked, effect.as_ref()));
    match effect {
        Some(RestEffect::ApplyThenHang) => std::future::pending().await,
        Some(RestEffect::ApplyThenCut) => cut(),
        _ => written(settled),
    }
}

/// The token of the bot, and whether the client says what it is.
fn signed(headers: &HeaderMap) -> (Option<String>, bool) {
    let of = |name: HeaderName| headers.get(name).and_then(|v| v.to_str().ok());
    let token = of(header::AUTHORIZATION).and_then(|v| v.strip_prefix("Bot ")).map(str::to_owned);
    (token, of(header::USER_AGENT).is_some_and(|v| !v.is_empty()))
}

async fn asked(request: Request) -> Asked {
    let method = request.method().to_string();
    let path = request.uri().path().trim_start_matches("/api/v10/").to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let (token, agent) = signed(request.headers());
    let (body, unread) = match upload::read(request).await {
        Ok(body) => (body, None),
        Err(refusal) => (Body::default(), Some(refusal)),
    };
    let parts = path.split('/').filter(|p| !p.is_empty()).map(decoded).collect();
    let pairs = query.split('&').filter_map(|pair| pair.split_once('=')).map(|(k, v)| (decoded(k), decoded(v)));
    let call = Call { method, parts, query: pairs.collect(), body };
    Asked { call, query, token, agent, unread }
}

/// Text without its percent signs.
fn decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn written(settled: Settled) -> Response {
    let status = StatusCode::from_u16(settled.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = match settled.body {
        Shown::Nothing => status.into_response(),
        Shown::Json(body) => (status, Json(body)).into_response(),
        Shown::Page(page) => (status, [(header::CONTENT_TYPE, "text/html; charset=UTF-8")], page).into_response(),
    };
    for (name, value) in settled.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}

async fn connect(
    Held(shared): Held<Shared>,
    Query(query): Query<HashMap<String, String>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let mut changes = shared.changes();
    while shared.look(|world| world.faults.hold) {
        if changes.changed().await.is_err() {
            break;
        }
    }
    if shared.change(|world| world.faults.refuse_connection.take()) {
        return (StatusCode::SERVICE_UNAVAILABLE, "no gateway").into_response();
    }
    let version = query.get("v").is_none_or(|v| v == "10");
    let encoding = query.get("encoding").is_none_or(|e| e == "json");
    upgrade.on_upgrade(move |socket| gateway::serve(socket, shared, version && encoding))
}

async fn attachment(Held(shared): Held<Shared>, Path((_, id, _)): Path<(Id, Id, String)>) -> Response {
    let found = shared.look(|world| world.files.get(&id).map(|f| (f.mime.clone(), f.bytes.clone())));
    match found {
        Some((mime, bytes)) => ([(header::CONTENT_TYPE, mime)], bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn nothing() -> Response {
    (StatusCode::NOT_FOUND, Json(json!({"message": "404: Not Found", "code": 0}))).into_response()
}
