//! From what the world said to bytes, or to silence.

use crate::half::Half;
use crate::methods::updates;
use crate::play::settle;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use serde_json::{Value, json};

/// Marks an answer that is never sent: the connection is closed instead.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CloseSocket;

/// What happens after the world was asked.
pub(crate) enum Next {
    Answer(u16, Value),
    Wait(updates::Poll),
    /// Only from this time on.
    Late(i64, Box<Next>),
    File(Bytes, bool),
    Page(u16, String),
    Never,
    Close,
}

/// Waits until an answer may go out.
async fn punctual(shared: &Shared, mut next: Next) -> Next {
    let mut changes = shared.changes();
    while let Next::Late(until, after) = next {
        while shared.look(|world| world.now_ms() < until) {
            shared.changed_or(&mut changes, until).await;
        }
        next = *after;
    }
    next
}

/// Answers, waits, or does not.
pub(crate) async fn act(shared: &Shared, number: u64, next: Next) -> Response {
    let next = punctual(shared, next).await;
    match next {
        Next::Answer(status, body) => answer(status, body),
        Next::Wait(poll) => {
            let end = updates::finish(shared, poll).await;
            shared.change(|world| settle(world, number, end.as_ref().map(|_| ())));
            end.map_or_else(|refusal| refused(&refusal), |list| answer(200, json!({"ok": true, "result": list})))
        }
        Next::File(bytes, cut) => file(bytes, cut),
        Next::Page(status, text) => (code(status), [(header::CONTENT_TYPE, "text/html")], text).into_response(),
        Next::Never | Next::Late(..) => std::future::pending().await,
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

/// The answer of a refusal.
pub(crate) fn refused(refusal: &Refusal) -> Response {
    answer(refusal.code, refusal.body())
}
