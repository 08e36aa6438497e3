//! The methods of the Bot API that are simulated.

mod account;
mod callback;
mod chat;
mod commands;
mod edit;
mod markup;
mod media;
mod send;
pub(crate) mod updates;
mod webhook;

use crate::asked::Asked;
use crate::refusal::Refusal;
use crate::world::World;
use serde_json::Value;

/// A request of a bot whose fields are known to be right.
pub(crate) struct Call<'a> {
    pub(crate) bot: i64,
    pub(crate) asked: &'a Asked,
}

type Done = Result<Value, Refusal>;

/// Plays a method; `getUpdates` waits and is elsewhere.
pub(crate) fn run(world: &mut World, call: &Call<'_>) -> Done {
    match call.asked.method.name.as_str() {
        "getMe" => account::me(world, call),
        "getFile" => account::file(world, call),
        "logOut" | "close" => Ok(true.into()),
        "setMyCommands" => commands::set(world, call),
        "getMyCommands" => commands::get(world, call),
        "deleteMyCommands" => commands::delete(world, call),
        "setWebhook" => webhook::set(world, call),
        "deleteWebhook" => webhook::delete(world, call),
        "getWebhookInfo" => webhook::info(world, call),
        "sendMessage" => send::message(world, call),
        "sendChatAction" => send::action(world, call),
        "forwardMessage" => send::forward(world, call),
        "copyMessage" => send::copy(world, call),
        "sendMediaGroup" => media::group(world, call),
        "editMessageText" => edit::text(world, call),
        "editMessageCaption" => edit::caption(world, call),
        "editMessageReplyMarkup" => edit::markup(world, call),
        "deleteMessage" => edit::delete(world, call),
        "deleteMessages" => edit::delete_many(world, call),
        "setMessageReaction" => edit::react(world, call),
        "answerCallbackQuery" => callback::answer(world, call),
        "getChat" => chat::info(world, call),
        "getChatMember" => chat::member(world, call),
        "getChatAdministrators" => chat::administrators(world, call),
        "getChatMemberCount" => chat::count(world, call),
        "leaveChat" => chat::leave(world, call),
        "createForumTopic" => chat::create_topic(world, call),
        "closeForumTopic" | "reopenForumTopic" | "deleteForumTopic" => chat::change_topic(world, call),
        name => match media::kind(name) {
            Some(kind) => media::one(world, call, kind),
            None => Err(Refusal::plain(501, format!("Not Implemented: {name} is not simulated")).avoidable()),
        },
    }
}
