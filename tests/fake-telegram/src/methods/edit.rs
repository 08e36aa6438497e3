//! Changing what was sent.

use super::send::count;
use super::{Call, Done, markup};
use crate::facts::facts;
use crate::refusal::Refusal;
use crate::text::{CAPTION, Formatted, Place, TEXT};
use crate::world::{ChatKind, Target, World};
use serde_json::{Map, Value};

const NOT_MODIFIED: &str = "message is not modified: specified new message content and reply markup are exactly the same \
                            as a current content and reply markup of the message";
const TWO_DAYS_MS: i64 = 48 * 3600 * 1000;

pub(super) fn text(world: &mut World, call: &Call<'_>) -> Done {
    let text = TEXT.read_some(&call.asked.fields)?.with_found();
    rewrite(world, call, Some((text, TEXT)))
}

pub(super) fn caption(world: &mut World, call: &Call<'_>) -> Done {
    let text = CAPTION.read(&call.asked.fields)?.with_found();
    rewrite(world, call, Some((text, CAPTION)))
}

pub(super) fn markup(world: &mut World, call: &Call<'_>) -> Done {
    rewrite(world, call, None)
}

fn rewrite(world: &mut World, call: &Call<'_>, new: Option<(Formatted, Place)>) -> Done {
    let keyboard = markup::inline(call.asked)?;
    let (target, id) = place(world, call)?;
    let Some(shown) = world.shown(target.chat, id) else { return Err(Refusal::bad("message to edit not found")) };
    if shown.bot != Some(call.bot) {
        return Err(Refusal::wrong("message can't be edited"));
    }
    let before = shown.message.as_object().cloned().unwrap_or_default();
    let mut after = before.clone();
    if let Some((text, place)) = new {
        let has_text = before.contains_key("text");
        match place == TEXT {
            true if !has_text => return Err(Refusal::wrong("there is no text in the message to edit")),
            false if has_text => return Err(Refusal::wrong("there is no caption in the message to edit")),
            _ => text.put(&mut after, place),
        }
    }
    after.remove("reply_markup");
    if let Some(keyboard) = keyboard {
        after.insert("reply_markup".into(), keyboard);
    }
    if same(&before, &after) {
        return Err(Refusal::bad(NOT_MODIFIED));
    }
    count(world, target)?;
    after.insert("edit_date".into(), world.now().into());
    let after = Value::Object(after);
    world.rewrite(target.chat, id, after.clone());
    Ok(after)
}

fn same(before: &Map<String, Value>, after: &Map<String, Value>) -> bool {
    let part = |map: &Map<String, Value>, name: &str| map.get(name).cloned().unwrap_or_default();
    ["text", "entities", "caption", "caption_entities", "reply_markup"]
        .iter()
        .all(|n| part(before, n) == part(after, n))
}

fn place(world: &World, call: &Call<'_>) -> Result<(Target, i64), Refusal> {
    if call.asked.text("inline_message_id").is_some() {
        return Err(Refusal::bad("MESSAGE_ID_INVALID"));
    }
    let id = call.asked.number("message_id").ok_or_else(|| Refusal::wrong("message identifier is not specified"))?;
    Ok((world.target(call.bot, call.asked)?, id))
}

pub(super) fn delete(world: &mut World, call: &Call<'_>) -> Done {
    let (target, id) = place(world, call)?;
    if world.shown(target.chat, id).is_none() {
        return Err(Refusal::bad("message to delete not found"));
    }
    if remove(world, call.bot, target, id) { Ok(true.into()) } else { Err(Refusal::bad("message can't be deleted")) }
}

pub(super) fn delete_many(world: &mut World, call: &Call<'_>) -> Done {
    let target = world.target(call.bot, call.asked)?;
    let ids: Vec<i64> =
        call.asked.get("message_ids").as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
    if !(1..=100).contains(&ids.len()) {
        return Err(Refusal::wrong("there must be 1 to 100 message identifiers"));
    }
    for id in ids {
        // what is not there or may not be deleted is skipped
        remove(world, call.bot, target, id);
    }
    Ok(true.into())
}

fn remove(world: &mut World, bot: i64, target: Target, id: i64) -> bool {
    let now = world.now_ms();
    let rights = world.has(target.chat, bot, "can_delete_messages");
    let Some(shown) = world.shown_mut(target.chat, id) else { return false };
    let own = shown.bot == Some(bot) || target.kind == ChatKind::Private;
    let young = now - shown.at_ms < TWO_DAYS_MS;
    let may = if target.kind == ChatKind::Private { young } else { rights || own && young };
    if may {
        shown.deleted_at_ms = Some(now);
    }
    may
}

pub(super) fn react(world: &mut World, call: &Call<'_>) -> Done {
    let (target, id) = place(world, call)?;
    let list = call.asked.get("reaction").as_array().cloned().unwrap_or_default();
    if list.len() > 1 {
        return Err(Refusal::wrong("REACTIONS_TOO_MANY"));
    }
    let known = |reaction: &Value| match reaction["type"].as_str() {
        Some("emoji") => facts().reactions.iter().any(|emoji| reaction["emoji"] == emoji.as_str()),
        Some("custom_emoji") => true,
        _ => false,
    };
    if !list.iter().all(known) {
        return Err(Refusal::wrong("REACTION_INVALID"));
    }
    let shown = world.shown_mut(target.chat, id).ok_or_else(|| Refusal::bad("message to react not found"))?;
    shown.reactions = list.into();
    Ok(true.into())
}
