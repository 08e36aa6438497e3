//! Pushing updates to a webhook, one after the other.

use crate::shared::Shared;
use crate::world::{Update, Webhook};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::net::TcpStream;

/// A webhook that does not answer in this time is tried again.
const PATIENCE: Duration = Duration::from_secs(20);
const MAX_RETRY_SECONDS: i64 = 60;

/// Pushes the updates of a bot for ever.
pub(crate) async fn run(shared: Shared, bot: i64) {
    let mut changes = shared.changes();
    let mut retry = 0;
    loop {
        let due = shared.look(|world| {
            let bot = world.bot(bot)?;
            Some((bot.webhook.clone()?, bot.queue.first()?))
        });
        let Some((webhook, update)) = due else {
            if changes.changed().await.is_err() {
                return;
            }
            continue;
        };
        match push(&webhook, &update).await {
            Ok(()) => {
                retry = 0;
                shared.change(|world| world.bot(bot).map(|bot| bot.queue.pushed(update.id)));
            }
            Err(why) => {
                let until = shared.change(|world| {
                    let (now, first) = (world.now_ms(), world.options.push_retry_seconds);
                    retry = (retry * 2).clamp(first, MAX_RETRY_SECONDS);
                    if let Some(webhook) = world.bot(bot).and_then(|bot| bot.webhook.as_mut()) {
                        webhook.last_error = Some((now / 1000, why));
                    }
                    now + retry * 1000
                });
                // a new webhook is tried at once
                while shared.look(|world| {
                    world.now_ms() < until
                        && world.bot(bot).and_then(|b| b.webhook.as_ref()).is_some_and(|w| w.url == webhook.url)
                }) {
                    shared.changed_or(&mut changes, until).await;
                }
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a server of its own; patience with a client is real time")]
async fn push(webhook: &Webhook, update: &Update) -> Result<(), String> {
    tokio::select! {
        done = post(webhook, update) => done,
        () = tokio::time::sleep(PATIENCE) => Err("Read timeout expired".into()),
    }
}

async fn post(webhook: &Webhook, update: &Update) -> Result<(), String> {
    let rest = webhook.url.strip_prefix("http://").ok_or("only http on the loopback address is pushed to")?;
    let (host, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    let socket = TcpStream::connect(host).await.map_err(|_| "Connection refused".to_owned())?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(socket)).await.map_err(|e| e.to_string())?;
    let mut request = Request::post(path).header("host", host).header("content-type", "application/json");
    if let Some(secret) = &webhook.secret {
        request = request.header("x-telegram-bot-api-secret-token", secret);
    }
    let request = request.body(Full::new(Bytes::from(update.body.to_string()))).map_err(|e| e.to_string())?;
    let answer = sender.send_request(request);
    tokio::pin!(connection, answer);
    let mut open = true;
    let response = loop {
        tokio::select! {
            biased;
            response = &mut answer => break response,
            // an answer may come with the end of the connection
            _ = &mut connection, if open => open = false,
        }
    };
    let status = response.map_err(|_| "Connection closed".to_owned())?.status();
    if status.is_success() { Ok(()) } else { Err(format!("Wrong response from the webhook: {status}")) }
}
