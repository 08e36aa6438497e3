//! The script over HTTP. Every step is a `POST` of JSON; what cannot be played is a 400 with the reason.

use super::{Group, Membership, PressButton, Say, TopicChange, Unplayable};
use crate::shared::Shared;
use crate::world::{Armed, Content, Person, Rule, World};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::Duration;

const MAX_BODY: usize = 64 << 20;

/// The routes of the script.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
        .route("/__say", post(say))
        .route("/__press", post(press))
        .route("/__chats", post(chats))
        .route("/__people", post(people))
        .route("/__members", post(members))
        .route("/__topics", post(topics))
        .route("/__delete", post(delete))
        .route("/__migrate", post(migrate))
        .route("/__files", post(files))
        .route("/__updates", post(updates))
        .route("/__replay", post(replay))
        .route("/__ids", post(ids))
        .route("/__faults", get(faults).post(set_faults).delete(clear_faults))
        .route("/__clock", get(clock).post(advance))
        .route("/__settings", post(settings))
        .route("/__state", get(state))
        .route("/__violations", get(violations).delete(forgive))
        .layer(DefaultBodyLimit::max(MAX_BODY))
}

/// A step with its input.
fn step<T: DeserializeOwned>(
    shared: &Shared,
    body: &Bytes,
    play: impl FnOnce(&mut World, T) -> Result<Value, Unplayable>,
) -> Response {
    let input = serde_json::from_slice::<T>(body).map_err(|e| Unplayable::new(e.to_string()));
    match input.and_then(|input| shared.change(|world| play(world, input))) {
        Ok(value) => Json(value).into_response(),
        Err(why) => (StatusCode::BAD_REQUEST, Json(json!({"error": why.0}))).into_response(),
    }
}

/// One input, or several in order.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    Many(Vec<T>),
    One(T),
}

fn json_of(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

async fn say(State(shared): State<Shared>, body: Bytes) -> Response {
    // a list is read as a list, so that an error names the field of a message
    if body.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'[') {
        return step(&shared, &body, |world, list: Vec<Say>| {
            list.iter().map(|one| world.say(one).map(json_of)).collect::<Result<Vec<_>, _>>().map(Value::from)
        });
    }
    step(&shared, &body, |world, one: Say| world.say(&one).map(json_of))
}

async fn press(State(shared): State<Shared>, body: Bytes) -> Response {
    step(&shared, &body, |world, press: PressButton| world.press(&press).map(json_of))
}

async fn chats(State(shared): State<Shared>, body: Bytes) -> Response {
    step(&shared, &body, |world, group: Group| world.group(&group).map(|()| json!({})))
}

async fn people(State(shared): State<Shared>, body: Bytes) -> Response {
    step(&shared, &body, |world, person: Person| {
        world.know(&person);
        Ok(json!({}))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    chat: i64,
    member: Membership,
}

async fn members(State(shared): State<Shared>, body: Bytes) -> Response {
    step(&shared, &body, |world, change: Change| world.membership(change.chat, &change.member).map(|()| json!({})))
}

async fn topics(State(shared): State<Shared>, body: Bytes) -> Response {
    step(&shared, &body, |world, change: TopicChange| world.change_topic(&change).map(|()| json!({})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    chat: i64,
    message_id: i64,
}

async fn delete(State(shared): State<Shared>, body: Bytes) -> Response {
    step(&shared, &body, |world, place: Place| world.remove(place.chat, place.message_id).map(|()| json!({})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Move {
    from: i64,
    to: i64,
    #[serde(default)]
    silent: bool,
}

async fn migrate(State(shared): State<Shared>, body: Bytes) -> Response {
    step(&shared, &body, |world, it: Move| {
        world.migrate(it.from, it.to, !it.silent);
        Ok(json!({}))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileName {
    name: Option<String>,
    mime: Option<String>,
}

async fn files(State(shared): State<Shared>, Query(of): Query<FileName>, body: Bytes) -> Response {
    let file = shared.change(|world| world.files.add(of.name, of.mime, Content::Bytes(body)));
    Json(json!({"file_id": file.id})).into_response()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawUpdate {
    #[serde(default)]
    to: Option<i64>,
    update: Value,
}

async fn updates(State(shared): State<Shared>, body: Bytes) -> Response {
    step(&shared, &body, |world, raw: RawUpdate| world.raw_update(raw.to, raw.update).map(|id| json!({"update": id})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Replay {
    #[serde(default)]
    to: Option<i64>,
    ids: Vec<i64>,
}

async fn replay(State(shared): State<Shared>, body: Bytes) -> Response {
    step(&shared, &body, |world, it: Replay| world.replay(it.to, &it.ids).map(|found| json!({"replayed": found})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ids {
    #[serde(default)]
    to: Option<i64>,
    next: i64,
}

async fn ids(State(shared): State<Shared>, body: Bytes) -> Response {
    step(&shared, &body, |world, it: Ids| world.reset_updates(it.to, it.next).map(|()| json!({})))
}

async fn faults(State(shared): State<Shared>) -> Json<Value> {
    Json(shared.look(|world| json_of(&world.faults)))
}

async fn set_faults(State(shared): State<Shared>, body: Bytes) -> Response {
    step(&shared, &body, |world, rules: OneOrMany<Rule>| {
        let rules = match rules {
            OneOrMany::Many(rules) => rules,
            OneOrMany::One(rule) => vec![rule],
        };
        world.faults.extend(rules.into_iter().map(Armed::new));
        Ok(json!({}))
    })
}

async fn clear_faults(State(shared): State<Shared>) -> StatusCode {
    shared.change(|world| world.faults.clear());
    StatusCode::NO_CONTENT
}

async fn clock(State(shared): State<Shared>) -> Json<Value> {
    Json(json!({"now_ms": shared.look(|world| world.now_ms())}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    #[serde(default)]
    seconds: u64,
    #[serde(default)]
    ms: u64,
}

async fn advance(State(shared): State<Shared>, body: Bytes) -> Response {
    step(&shared, &body, |world, by: Advance| {
        world.clock.advance(Duration::from_secs(by.seconds).saturating_add(Duration::from_millis(by.ms)));
        Ok(json!({"now_ms": world.now_ms()}))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    rates: Option<bool>,
    can_read_all_group_messages: Option<bool>,
}

async fn settings(State(shared): State<Shared>, body: Bytes) -> Response {
    step(&shared, &body, |world, settings: Settings| {
        if let Some(rates) = settings.rates {
            world.set_rates(rates);
        }
        if let Some(all) = settings.can_read_all_group_messages {
            world.bots.iter_mut().for_each(|bot| bot.reads_all = all);
        }
        Ok(json!({}))
    })
}

async fn state(State(shared): State<Shared>) -> Json<Value> {
    Json(shared.look(|world| json_of(&world.state)))
}

async fn violations(State(shared): State<Shared>) -> Json<Value> {
    Json(shared.look(|world| json_of(&world.state.violations)))
}

async fn forgive(State(shared): State<Shared>) -> StatusCode {
    shared.change(|world| world.state.violations.clear());
    StatusCode::NO_CONTENT
}
