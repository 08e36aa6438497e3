//! Answers to button presses.

use super::{Call, Done};
use crate::refusal::Refusal;
use crate::state::Answer;
use crate::world::World;

const MAX_TEXT: usize = 200;
const TOO_OLD: &str = "query is too old and response timeout expired or query ID is invalid";

pub(super) fn answer(world: &mut World, call: &Call<'_>) -> Done {
    let now = world.now_ms();
    let good_until = world.options.callback_seconds * 1000;
    let id = call.asked.text("callback_query_id").unwrap_or_default();
    let text = call.asked.text("text").unwrap_or_default().to_owned();
    if text.chars().count() > MAX_TEXT {
        return Err(Refusal::wrong("MESSAGE_TOO_LONG"));
    }
    if call.asked.text("url").is_some_and(|url| !url.is_empty()) {
        return Err(Refusal::wrong("URL_INVALID"));
    }
    let press = world.state.presses.iter_mut().find(|p| p.id == id && p.bot == call.bot);
    let Some(press) = press else { return Err(Refusal::wrong(TOO_OLD)) };
    if !press.answers.is_empty() {
        return Err(Refusal::wrong(TOO_OLD));
    }
    if now - press.at_ms > good_until {
        return Err(Refusal::bad(TOO_OLD));
    }
    press.answers.push(Answer { at_ms: now, text, alert: call.asked.flag("show_alert") });
    Ok(true.into())
}
