//! The rules, without a network.

mod commands;
mod gateway;
mod interactions;
mod limits;
mod messages;
mod places;

use crate::act::{Act, Say};
use crate::clock::{Clock, Time};
use crate::exchange::{Asked, Settled, Shown};
use crate::id::Id;
use crate::options::Options;
use crate::rest::Call;
use crate::seed;
use crate::upload::{Body, File};
use crate::world::World;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// 2026-03-01T10:00:00Z.
const NOON: u64 = 1_772_359_200_000;

fn world() -> World {
    world_with(Options::default())
}

/// Limits are off: most tests ask more than a bot may.
fn world_with(options: Options) -> World {
    let clock = Arc::new(Clock::new(Time::Frozen(NOON)));
    World::new(Options { rates: false, ..options }, clock, "127.0.0.1:1".into())
}

fn pass(world: &World, ms: u64) {
    world.clock.advance(Duration::from_millis(ms));
}

fn asked(method: &str, path: &str, json: Value) -> Asked {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let pairs = query.split('&').filter_map(|p| p.split_once('=')).map(|(k, v)| (k.into(), v.into()));
    Asked {
        call: Call {
            method: method.into(),
            parts: path.split('/').map(str::to_owned).collect(),
            query: pairs.collect(),
            body: Body { json, files: Vec::new() },
        },
        query: query.into(),
        token: Some(seed::TOKEN.into()),
        agent: true,
        unread: None,
    }
}

fn settle(world: &mut World, asked: &Asked) -> Settled {
    let (number, effect) = world.arrive(asked);
    world.settle(number, asked, effect.as_ref())
}

/// Status and body.
fn ask(world: &mut World, method: &str, path: &str, json: Value) -> (u16, Value) {
    let settled = settle(world, &asked(method, path, json));
    match settled.body {
        Shown::Json(body) => (settled.status, body),
        _ => (settled.status, Value::Null),
    }
}

fn ask_with(world: &mut World, method: &str, path: &str, json: Value, files: Vec<File>) -> (u16, Value) {
    let mut asked = asked(method, path, json);
    asked.call.body.files = files;
    match settle(world, &asked) {
        Settled { status, body: Shown::Json(body), .. } => (status, body),
        Settled { status, .. } => (status, Value::Null),
    }
}

fn file(number: u64, size: usize) -> File {
    File { number: Some(number), name: "a b.txt".into(), mime: "text/plain".into(), bytes: vec![0; size].into() }
}

/// Status and Discord's code.
fn code(answer: &(u16, Value)) -> (u16, u64) {
    (answer.0, answer.1["code"].as_u64().unwrap_or_default())
}

/// Paths and codes of a wrong form, joined: `components.0:CODE`.
fn faults(answer: &(u16, Value)) -> Vec<String> {
    fn walk(node: &Value, at: &str, out: &mut Vec<String>) {
        for (key, value) in node.as_object().into_iter().flatten() {
            if key == "_errors" {
                let codes = value.as_array().into_iter().flatten();
                out.extend(codes.map(|e| format!("{at}:{}", e["code"].as_str().unwrap_or_default())));
            } else {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                walk(value, &at, out);
            }
        }
    }
    let mut out = Vec::new();
    walk(&answer.1["errors"], "", &mut out);
    out
}

fn send(world: &mut World, channel: Id, json: Value) -> (u16, Value) {
    ask(world, "POST", &format!("channels/{channel}/messages"), json)
}

fn sent(world: &mut World, channel: Id, text: &str) -> Id {
    let (status, body) = send(world, channel, json!({"content": text}));
    assert_eq!(status, 200, "{body}");
    Id::of(&body["id"]).unwrap()
}

fn say(world: &mut World, user: Id, channel: Id, text: &str) -> Id {
    world.act(Act::Say(Say::new(user, channel, text))).unwrap()
}
