//! Asking Telegram.

use crate::send::answered;
use crate::{Line, fault, place};
use async_trait::async_trait;
use futures::StreamExt;
use plugin_sdk::{ConversationRef, Lookup, MediaRef, MediaSource, SendError};
use teloxide_core::net::Download;
use teloxide_core::payloads::SetMyCommandsSetters;
use teloxide_core::prelude::Requester;
use teloxide_core::types::{BotCommand, ChatMemberKind, FileId, UserId};

#[async_trait]
impl Lookup for Line {
    /// `owner`, or `administrator` and each right that is given, by Telegram's names without `can_`.
    async fn member(&self, conversation: &ConversationRef, user_id: &str) -> Result<Vec<String>, SendError> {
        let chat = place::chat(conversation)?;
        let user = user_id.parse().map(UserId).map_err(|_| SendError::Permanent("this is no id of a person".into()))?;
        let member = answered(self.bot.get_chat_member(chat, user)).await?;
        Ok(rights(&member.kind))
    }

    async fn download(&self, media: &MediaRef, max: u64) -> Result<Vec<u8>, SendError> {
        let MediaSource::PlatformFile(id) = &media.source else {
            return Err(SendError::Permanent("this is no file of Telegram".into()));
        };
        let file = answered(self.bot.get_file(FileId(id.clone()))).await?;
        let limit = usize::try_from(max).unwrap_or(usize::MAX);
        if u64::from(file.meta.size) > max && file.meta.size != u32::MAX {
            return Err(SendError::TooLong(limit));
        }
        let mut stream = self.bot.download_file_stream(&file.path);
        let mut bytes = Vec::new();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|e| {
                let e = e.without_url();
                SendError::Transient(if e.is_timeout() {
                    "no file in time".into()
                } else {
                    "the file broke off".into()
                })
            })?;
            if bytes.len().saturating_add(chunk.len()) > limit {
                return Err(SendError::TooLong(limit));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    async fn set_commands(&self, language: Option<&str>, commands: &[(String, String)]) -> Result<(), SendError> {
        let list = commands.iter().map(|(name, description)| BotCommand::new(name, description));
        let mut request = self.bot.set_my_commands(list);
        if let Some(language) = language {
            request = request.language_code(language);
        }
        answered(request).await.map(drop)
    }

    async fn probe(&self) -> Result<(), SendError> {
        self.bot.get_me().await.map(drop).map_err(|e| fault::sending(&e))
    }
}

fn rights(kind: &ChatMemberKind) -> Vec<String> {
    let held = match kind {
        ChatMemberKind::Owner(_) => return vec!["owner".into()],
        ChatMemberKind::Administrator(held) => held,
        _ => return Vec::new(),
    };
    let rights = [
        ("manage_chat", held.can_manage_chat),
        ("change_info", held.can_change_info),
        ("post_messages", held.can_post_messages),
        ("edit_messages", held.can_edit_messages),
        ("delete_messages", held.can_delete_messages),
        ("post_stories", held.can_post_stories),
        ("edit_stories", held.can_edit_stories),
        ("delete_stories", held.can_delete_stories),
        ("manage_video_chats", held.can_manage_video_chats),
        ("invite_users", held.can_invite_users),
        ("restrict_members", held.can_restrict_members),
        ("pin_messages", held.can_pin_messages),
        ("manage_topics", held.can_manage_topics),
        ("promote_members", held.can_promote_members),
    ];
    let given = rights.into_iter().filter(|(_, given)| *given).map(|(name, _)| name.to_string());
    std::iter::once("administrator".to_string()).chain(given).collect()
}
