//! The listener, and who a request is from.

use crate::answer::{CloseSocket, act, refused};
use crate::asked::Raw;
use crate::options::Options;
use crate::play::{download, note, play};
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::world::World;
use crate::{push, script};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::response::Response;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Bytes of a request that are read: so much around the largest file, and as much again, so that a client that sends a
/// little too much hears why.
const SLACK: usize = 1 << 20;

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

async fn bot_request(State(shared): State<Shared>, request: Request) -> Response {
    // some clients write the slash inside a file's path as %2F
    let path = percent_decode_str(request.uri().path()).decode_utf8_lossy().into_owned();
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
