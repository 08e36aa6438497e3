//! One request of a bot: recorded, checked, met by a fault or done. Nothing here waits.

use crate::answer::Next;
use crate::asked::{Asked, Raw};
use crate::methods::{self, Call, updates};
use crate::refusal::Refusal;
use crate::state::{Recorded, Violation};
use crate::world::{Fault, World};
use serde_json::{Value, json};

/// Records a request; a refusal that was avoidable is a violation.
pub(crate) fn note(world: &mut World, bot: Option<i64>, method: &str, fields: Value, refusal: Option<&Refusal>) -> u64 {
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
pub(crate) fn settle(world: &mut World, number: u64, end: Result<(), &Refusal>) {
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

/// Plays a request; what is to be answered may still have to wait.
pub(crate) fn play(world: &mut World, bot: i64, method: &str, raw: Result<Raw, Refusal>) -> (u64, Next) {
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
        Fault::Garbage => {
            settle(world, number, Ok(()));
            return Ok(Next::Page(200, "<not json".into()));
        }
        Fault::Late { seconds } => {
            let until = world.now_ms().saturating_add(seconds.saturating_mul(1000));
            return called(world, number, call).map(|next| Next::Late(until, Box::new(next)));
        }
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

/// Plays a download.
pub(crate) fn download(world: &mut World, bot: i64, path: &str) -> (u64, Next) {
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
