//! The pages of the script's side.

use crate::act::Act;
use crate::fault::Fault;
use crate::server::Shared;
use crate::state::State;
use axum::Router;
use axum::extract::State as Held;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    #[serde(default)]
    advance_ms: u64,
    frozen: Option<bool>,
}

pub(crate) fn routes() -> Router<Shared> {
    Router::new()
        .route("/__script", post(script))
        .route("/__faults", post(load).get(faults).delete(clear))
        .route("/__state", get(state))
        .route("/__clock", get(clock).post(turn))
        .route("/__violations", get(violations).delete(forgive))
}

/// Reads one, or several in order.
fn read<T: for<'de> Deserialize<'de>>(body: Value) -> Result<Vec<T>, Response> {
    let list = match body {
        Value::Array(list) => list,
        one => vec![one],
    };
    let read = list.into_iter().map(serde_json::from_value).collect::<Result<Vec<T>, _>>();
    read.map_err(|e| (StatusCode::BAD_REQUEST, e.to_string()).into_response())
}

async fn script(Held(shared): Held<Shared>, Json(body): Json<Value>) -> Response {
    let acts: Vec<Act> = match read(body) {
        Ok(acts) => acts,
        Err(refused) => return refused,
    };
    let mut ids = Vec::new();
    for act in acts {
        match shared.change(|world| world.act(act)) {
            Ok(id) => ids.push(id),
            Err(why) => return (StatusCode::BAD_REQUEST, why).into_response(),
        }
    }
    Json(json!({"ids": ids})).into_response()
}

async fn load(Held(shared): Held<Shared>, Json(body): Json<Value>) -> Response {
    match read::<Fault>(body) {
        Err(refused) => refused,
        Ok(faults) => {
            shared.change(|world| faults.into_iter().for_each(|fault| world.load(fault)));
            StatusCode::NO_CONTENT.into_response()
        }
    }
}

async fn faults(Held(shared): Held<Shared>) -> Response {
    Json(shared.look(|world| world.faults.waiting().to_vec())).into_response()
}

async fn clear(Held(shared): Held<Shared>) -> StatusCode {
    shared.change(|world| world.faults = Default::default());
    StatusCode::NO_CONTENT
}

async fn state(Held(shared): Held<Shared>) -> Json<State> {
    Json(shared.look(State::of))
}

async fn clock(Held(shared): Held<Shared>) -> Json<Value> {
    Json(json!({"now_ms": shared.clock().now_ms(), "frozen": shared.clock().frozen()}))
}

async fn turn(held: Held<Shared>, Json(turn): Json<Turn>) -> Json<Value> {
    if let Some(frozen) = turn.frozen {
        held.clock().freeze(frozen);
    }
    held.clock().advance(Duration::from_millis(turn.advance_ms));
    held.changed();
    clock(held).await
}

async fn violations(Held(shared): Held<Shared>) -> Response {
    Json(shared.look(|world| world.log.violations.clone())).into_response()
}

async fn forgive(Held(shared): Held<Shared>) -> StatusCode {
    shared.change(|world| world.log.violations.clear());
    StatusCode::NO_CONTENT
}
