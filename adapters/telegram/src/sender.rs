//! Who speaks. Accounts that stand for several people are no persons.

use crate::place::PLATFORM;
use plugin_sdk::{Principal, SenderKind};
use teloxide_core::types::{Chat, Message, User, UserId};

/// The account behind which admins of a group hide.
const ANONYMOUS_ADMIN: UserId = UserId(1_087_968_824);
/// The account that stands for channels.
const CHANNEL_BOT: UserId = UserId(136_817_688);
/// Telegram itself.
const SERVICE: UserId = UserId(777_000);

fn principal(user_id: String, name: String, sender: SenderKind) -> Principal {
    Principal { platform: PLATFORM.into(), user_id, name, role: None, platform_roles: Vec::new(), sender }
}

/// A person or bot as such.
pub(crate) fn of_user(user: &User) -> Principal {
    let sender = match user.id {
        ANONYMOUS_ADMIN => SenderKind::AnonymousAdmin,
        CHANNEL_BOT => SenderKind::Channel,
        SERVICE => SenderKind::System,
        _ if user.is_bot => SenderKind::Bot,
        _ => SenderKind::User,
    };
    principal(user.id.to_string(), user.full_name(), sender)
}

/// The sender of a message.
pub(crate) fn of_message(message: &Message) -> Principal {
    let chat = message.sender_chat.as_ref();
    match (&message.from, chat) {
        // Telegram names its own service account beside the channel a post comes from.
        (Some(user), _) if user.id == SERVICE => of_user(user),
        (_, Some(chat)) if chat.id == message.chat.id && !message.chat.is_channel() => {
            let id = message.from.as_ref().map_or(ANONYMOUS_ADMIN, |u| u.id);
            principal(id.to_string(), title(chat), SenderKind::AnonymousAdmin)
        }
        (_, Some(chat)) => principal(chat.id.to_string(), title(chat), SenderKind::Channel),
        (Some(user), None) => of_user(user),
        (None, None) => principal(message.chat.id.to_string(), title(&message.chat), SenderKind::Channel),
    }
}

fn title(chat: &Chat) -> String {
    chat.title().or_else(|| chat.username()).unwrap_or_default().to_string()
}
