//! The bot itself, and its files.

use super::{Call, Done};
use crate::refusal::Refusal;
use crate::world::World;
use serde_json::json;

pub(super) fn me(world: &mut World, call: &Call<'_>) -> Done {
    let Some(bot) = world.bot(call.bot) else { return Err(Refusal::plain(401, "Unauthorized")) };
    let mut me = bot.person.json();
    me["can_join_groups"] = true.into();
    me["can_read_all_group_messages"] = bot.reads_all.into();
    for name in ["supports_inline_queries", "can_connect_to_business", "has_main_web_app"] {
        me[name] = json!(false);
    }
    Ok(me)
}

pub(super) fn file(world: &mut World, call: &Call<'_>) -> Done {
    let now = world.now_ms();
    let id = call.asked.text("file_id").unwrap_or_default();
    let lost = || Refusal::bad("wrong file_id or the file is temporarily unavailable");
    // the small size of a photo is a file of its own with the same content
    let id = if world.files.get(id).is_some() { id } else { id.strip_suffix('s').unwrap_or(id) };
    let file = world.files.get(id).ok_or_else(lost)?;
    if file.content.size() > world.options.sizes.download {
        return Err(Refusal::bad("file is too big"));
    }
    let mut out = file.json();
    out["file_path"] = world.files.path(id, now).ok_or_else(lost)?.into();
    Ok(out)
}
