//! The listener: routes, the way of a request from its bytes to its answer.

use crate::asked::{Asked, Raw};
use crate::half::Half;
use crate::methods::{self, Call, updates};
use crate::options::Options;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::state::{Recorded, Violation};
use crate::world::{Fault, World};
use crate::{push, script};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Bytes of a request that are read: so much around the largest file, and as much again, so that a client that sends a
/// little too much hears why.
const SLACK: usize = 1 << 20;

/// Marks an answer that is never sent: the connection is closed instead.
#[derive(Debug, Clone, Copy)]
struct CloseSocket;

/// Starts the listener and the pushers; all end with the token.
pub(crate) async fn start(options: Options, port: u16, stop: &CancellationToken) -> io::Result<(SocketAddr, Shared)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let addr = listener.local_addr()?;
    let bots: Vec<i64> = options.bots.iter().map(|bot| bot.id()).collect();
    let shared = Shared::new(World::new(options));
    let app = script::routes().fallback(bot_request).layer(DefaultBodyLimit::disable()).with_state(shared.clone());
    for bot in bots {
        run(stop, push::run(shared.clone(), bot));
    }
    run(stop, accept(listener, app, stop.clone()));
    Ok((addr, shared))
}

/// Runs a part of the server until the token is cancelled.
#[expect(clippy::disallowed_methods, reason = "a server of its own; the token ends every part")]
fn run(stop: &CancellationToken, part: impl Future<Output = ()> + Send + 'static) {
    let stop = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            () = part => {}
        }
    });
}

async fn accept(listener: TcpListener, app: Router, stop: CancellationToken) {
    loop {
        // an error of one connection is that client's to see
        let Ok((socket, _)) = listener.accept().await else { continue };
        let app = app.clone();
        let service = hyper::service::service_fn(move |request| {
            let app = TowerToHyperService::new(app.clone());
            async move {
                let response = hyper::service::Service::call(&app, request).await.map_err(io::Error::other)?;
                match response.extensions().get::<CloseSocket>() {
                    Some(_) => Err(io::Error::other("closed by a fault")),
                    None => Ok(response),
                }
            }
        });
        run(&stop, async move {
            let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), service);
            let _ = connection.await;
        });
    }
}

/// What happens after the world was asked.
enum Next {
    Answer(u16, Value),
    Wait(updates::Poll),
    File(Bytes, bool),
    Page(u16, String),
    Never,
    Close,
}

async fn bot_request(State(shared): State<Shared>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let parts = Path::of(&path);
    let Some(parts) = parts else { return refused(&Refusal::plain(404, "Not Found")) };
    let bot = match bot_of(&shared, parts.token) {
        Ok(bot) => bot,
        Err(refusal) => {
            let fields = Value::Null;
            shared.change(|world| note(world, None, parts.method, fields, Some(&refusal)));
            return refused(&refusal);
        }
    };
    if let Some(file) = parts.file {
        let (number, next) = shared.change(|world| download(world, bot, file));
        return act(&shared, number, next).await;
    }
    let max = shared.look(|world| world.options.sizes.upload).saturating_mul(2) + SLACK;
    let raw = Raw::read(request, max).await;
    let method = parts.method.to_owned();
    let (number, next) = shared.change(|world| play(world, bot, &method, raw));
    act(&shared, number, next).await
}

/// The parts of a path: `/bot<TOKEN>/<Method>` or `/file/bot<TOKEN>/<path>`.
struct Path<'a> {
    token: &'a str,
    method: &'a str,
    file: Option<&'a str>,
}

impl<'a> Path<'a> {
    fn of(path: &'a str) -> Option<Self> {
        if let Some(rest) = path.strip_prefix("/file/bot") {
            let (token, file) = rest.split_once('/')?;
            return Some(Self { token, method: "file", file: Some(file) });
        }
        let (token, method) = path.strip_prefix("/bot")?.split_once('/')?;
        Some(Self { token, method, file: None })
    }
}

fn bot_of(shared: &Shared, token: &str) -> Result<i64, Refusal> {
    let found = shared.look(|world| world.bots.iter().find(|bot| bot.token == token).map(|bot| bot.id));
    let formed = token.split_once(':').is_some_and(|(id, rest)| id.parse::<u64>().is_ok() && rest.len() >= 30);
    match found {
        Some(bot) => Ok(bot),
        None if formed => Err(Refusal::plain(401, "Unauthorized")),
        None => Err(Refusal::plain(404, "Not Found")),
    }
}

/// Records a request; a refusal that was avoidable is a violation.
fn note(world: &mut World, bot: Option<i64>, method: &str, fields: Value, refusal: Option<&Refusal>) -> u64 {
    let at_ms = world.now_ms();
    let request =
        Recorded { number: 0, at_ms, bot, method: method.to_owned(), fields, status: None, refused: None, fault: None };
    let number = world.state.record(request);
    if let Some(refusal) = refusal {
        settle(world, number, Err(refusal));
    }
    number
}

/// Writes down how a request ended.
fn settle(world: &mut World, number: u64, end: Result<(), &Refusal>) {
    let Some(recorded) = world.state.recorded(number) else { return };
    recorded.status = Some(end.as_ref().map_or_else(|refusal| refusal.code, |()| 200));
    if let Err(refusal) = end {
        recorded.refused = Some(refusal.description.clone());
        let (request, method, what) = (number, recorded.method.clone(), refusal.description.clone());
        if refusal.avoidable {
            world.state.violations.push(Violation { request, method, what });
        }
    }
}

fn play(world: &mut World, bot: i64, method: &str, raw: Result<Raw, Refusal>) -> (u64, Next) {
    let raw = match raw {
        Ok(raw) => raw,
        Err(refusal) => {
            let number = note(world, Some(bot), method, Value::Null, Some(&refusal));
            return (number, Next::Answer(refusal.code, refusal.body()));
        }
    };
    let fields = raw.shown();
    let asked = Asked::check(method, raw);
    let known = asked.as_ref().map_or(method, |asked| asked.method.name.as_str()).to_owned();
    let number = note(world, Some(bot), &known, fields.clone(), None);
    let end = match &asked {
        Err(refusal) => Err(refusal.clone()),
        Ok(asked) => held(world, asked).and_then(|()| met(world, number, &Call { bot, asked }, &fields)),
    };
    let next = match end {
        Ok(next) => next,
        Err(refusal) => {
            settle(world, number, Err(&refusal));
            Next::Answer(refusal.code, refusal.body())
        }
    };
    (number, next)
}

/// During a penalty nothing may go to that conversation; who asks anyway did not wait.
fn held(world: &mut World, asked: &Asked) -> Result<(), Refusal> {
    let Some(chat) = asked.number("chat_id").filter(|_| !asked.method.name.starts_with("get")) else { return Ok(()) };
    let now = world.now_ms();
    world.rates.held(chat, now).map_or(Ok(()), |seconds| Err(Refusal::slow_down(seconds).avoidable()))
}

/// The call, or the fault it meets.
fn met(world: &mut World, number: u64, call: &Call<'_>, fields: &Value) -> Result<Next, Refusal> {
    let name = call.asked.method.name.as_str();
    let Some(fault) = world.fault(name, fields) else { return called(world, number, call) };
    if let Some(recorded) = world.state.recorded(number) {
        recorded.fault = Some(fault.name());
    }
    let chat = call.asked.number("chat_id");
    Err(match fault {
        Fault::TooMany { seconds, hold } => {
            let now = world.now_ms();
            if let Some(chat) = chat.filter(|_| hold) {
                world.rates.hold(chat, seconds, now);
            }
            Refusal::slow_down(seconds)
        }
        Fault::Conflict => {
            let who = "other getUpdates request; make sure that only one bot instance is running";
            Refusal::plain(409, format!("Conflict: terminated by {who}"))
        }
        Fault::Parse => Refusal::bad("can't parse entities: Can't find end of the entity starting at byte offset 0"),
        Fault::Forbidden { description } => Refusal::forbidden(description),
        Fault::Migrate { to } => {
            if let Some(chat) = chat {
                world.migrate(chat, to, false);
            }
            Refusal::migrated(to)
        }
        Fault::Status { status, description, html: false } => Refusal::plain(status, description),
        Fault::Status { status, description, html: true } => {
            let refusal = Refusal::plain(status, description);
            settle(world, number, Err(&refusal));
            return Ok(Next::Page(status, format!("<html><body><h1>{}</h1></body></html>", refusal.description)));
        }
        Fault::Garbage => return Ok(Next::Page(200, "<not json".into())),
        Fault::Answer { result } => {
            settle(world, number, Ok(()));
            return Ok(Next::Answer(200, json!({"ok": true, "result": result})));
        }
        Fault::Never => return Ok(Next::Never),
        Fault::Close | Fault::CutFile => return Ok(Next::Close),
        Fault::AppliedThenNever => return applied(world, number, call).map(|()| Next::Never),
        Fault::AppliedThenClose => return applied(world, number, call).map(|()| Next::Close),
    })
}

fn applied(world: &mut World, number: u64, call: &Call<'_>) -> Result<(), Refusal> {
    called(world, number, call)?;
    if let Some(recorded) = world.state.recorded(number) {
        // it was done, but nobody was told
        recorded.status = None;
    }
    Ok(())
}

fn called(world: &mut World, number: u64, call: &Call<'_>) -> Result<Next, Refusal> {
    if call.asked.method.name == "getUpdates" {
        return updates::begin(world, call.bot, call.asked).map(Next::Wait);
    }
    let result = methods::run(world, call)?;
    settle(world, number, Ok(()));
    Ok(Next::Answer(200, json!({"ok": true, "result": result})))
}

fn download(world: &mut World, bot: i64, path: &str) -> (u64, Next) {
    let fields = json!({"path": path});
    let number = note(world, Some(bot), "file", fields.clone(), None);
    let fault = world.fault("file", &fields);
    let now = world.now_ms();
    let content = world.files.fetch(path, now).map(|file| file.content.bytes());
    let lost = Refusal::plain(404, "Not Found");
    let refusal = match (&fault, content) {
        (Some(Fault::Never), _) => return (number, Next::Never),
        (Some(Fault::Close), _) => return (number, Next::Close),
        (Some(Fault::TooMany { seconds, .. }), _) => Refusal::slow_down(*seconds),
        (Some(Fault::Status { status, description, .. }), _) => Refusal::plain(*status, description.clone()),
        (_, Some(bytes)) => {
            settle(world, number, Ok(()));
            return (number, Next::File(bytes, matches!(fault, Some(Fault::CutFile))));
        }
        (_, None) => lost,
    };
    settle(world, number, Err(&refusal));
    (number, Next::Answer(refusal.code, refusal.body()))
}

async fn act(shared: &Shared, number: u64, next: Next) -> Response {
    match next {
        Next::Answer(status, body) => answer(status, body),
        Next::Wait(poll) => {
            let end = updates::finish(shared, poll).await;
            shared.change(|world| settle(world, number, end.as_ref().map(|_| ())));
            end.map_or_else(|refusal| refused(&refusal), |list| answer(200, json!({"ok": true, "result": list})))
        }
        Next::File(bytes, cut) => file(bytes, cut),
        Next::Page(status, text) => (code(status), [(header::CONTENT_TYPE, "text/html")], text).into_response(),
        Next::Never => std::future::pending().await,
        Next::Close => {
            let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
            response.extensions_mut().insert(CloseSocket);
            response
        }
    }
}

fn file(bytes: Bytes, cut: bool) -> Response {
    let length = bytes.len();
    let body = if cut { Body::new(Half::of(bytes.slice(..length / 2))) } else { Body::from(bytes) };
    (
        [(header::CONTENT_TYPE, "application/octet-stream".to_owned()), (header::CONTENT_LENGTH, length.to_string())],
        body,
    )
        .into_response()
}

fn code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn answer(status: u16, body: Value) -> Response {
    let seconds = body.pointer("/parameters/retry_after").and_then(Value::as_i64);
    let mut response = (code(status), Json(body)).into_response();
    if let Some(seconds) = seconds {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

fn refused(refusal: &Refusal) -> Response {
    answer(refusal.code, refusal.body())
}
