//! One WebSocket.

use super::Frame;
use crate::server::Shared;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How a connection ended.
struct End {
    by_client: bool,
    code: u16,
    reason: String,
}

impl End {
    fn cut(by_client: bool) -> Self {
        Self { by_client, code: 1006, reason: String::new() }
    }
}

/// Serves a connection until it ends.
pub(crate) async fn serve(mut socket: WebSocket, shared: Shared, version_ok: bool) {
    let (out, frames) = mpsc::unbounded_channel();
    let number = shared.change(|world| world.line_opened(out, version_ok));
    let end = talk(&mut socket, &shared, number, frames).await;
    shared.change(|world| world.line_closed(number, end.by_client, end.code, &end.reason));
}

async fn talk(socket: &mut WebSocket, shared: &Shared, number: u64, mut frames: mpsc::UnboundedReceiver<Frame>) -> End {
    // a client's heartbeats come in real time, so their absence is measured in it, whatever the server's clock says
    let patience = shared.look(|world| Duration::from_millis(world.options.heartbeat_ms + world.options.grace_ms));
    let mut patient_until = Instant::now() + patience;
    loop {
        tokio::select! {
            frame = frames.recv() => match frame {
                Some(Frame::Text(text)) => {
                    if socket.send(Message::Text(text.into())).await.is_err() {
                        return End::cut(true);
                    }
                }
                Some(Frame::Pause(ms)) => {
                    let until = shared.look(|world| world.now_ms()) + ms;
                    shared.clock().reached(until).await;
                }
                Some(Frame::Close(code, reason)) => {
                    shared.change(|world| world.line_closed(number, false, code, &reason));
                    return close(socket, code, reason).await;
                }
                Some(Frame::Cut) | None => return End::cut(false),
            },
            heard = socket.recv() => match heard {
                Some(Ok(Message::Text(text))) => {
                    if shared.change(|world| world.heard(number, &text)) {
                        patient_until = Instant::now() + patience;
                    }
                }
                Some(Ok(Message::Binary(_))) => {
                    shared.change(|world| world.heard(number, ""));
                }
                Some(Ok(Message::Close(frame))) => {
                    let (code, reason) = frame.map_or((1005, String::new()), |f| (f.code, f.reason.to_string()));
                    return End { by_client: true, code, reason };
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return End::cut(true),
            },
            () = tokio::time::sleep_until(patient_until) => {
                shared.change(|world| world.line_timed_out(number));
                patient_until += patience;
            }
        }
    }
}

async fn close(socket: &mut WebSocket, code: u16, reason: String) -> End {
    let frame = CloseFrame { code, reason: Utf8Bytes::from(reason.as_str()) };
    if socket.send(Message::Close(Some(frame))).await.is_ok() {
        // until the client answers the close frame or goes, its connection stays open so that it can read the code
        while let Some(Ok(message)) = socket.recv().await {
            if matches!(message, Message::Close(_)) {
                break;
            }
        }
    }
    End { by_client: false, code, reason }
}
