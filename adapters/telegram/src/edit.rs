//! Changing what was sent, and the small signs beside it.

use crate::send::{answered, entities, keyboard, no_previews};
use crate::{Line, place};
use async_trait::async_trait;
use plugin_sdk::{ConversationRef, Edit, Outgoing, Segment, SendError};
use teloxide_core::payloads::{
    AnswerCallbackQuerySetters, EditMessageCaptionSetters, EditMessageReplyMarkupSetters, EditMessageTextSetters,
    SendChatActionSetters, SetMessageReactionSetters,
};
use teloxide_core::prelude::Requester;
use teloxide_core::types::{ChatAction, ReactionType};

/// Longest answer to a press.
const TOAST: usize = 200;

#[async_trait]
impl Edit for Line {
    async fn delete(&self, conversation: &ConversationRef, message_id: &str) -> Result<(), SendError> {
        let (chat, id) = (place::chat(conversation)?, place::message_id(message_id)?);
        answered(self.bot.delete_message(chat, id)).await.map(drop)
    }

    async fn react(&self, to: &ConversationRef, message_id: &str, emoji: Option<&str>) -> Result<(), SendError> {
        let (chat, id) = (place::chat(to)?, place::message_id(message_id)?);
        let signs = emoji.map(|e| ReactionType::Emoji { emoji: e.to_string() });
        answered(self.bot.set_message_reaction(chat, id).reaction(signs)).await.map(drop)
    }

    async fn typing(&self, conversation: &ConversationRef, _label: Option<&str>) -> Result<(), SendError> {
        let mut request = self.bot.send_chat_action(place::chat(conversation)?, ChatAction::Typing);
        if let Some(thread) = place::thread(conversation)? {
            request = request.message_thread_id(thread);
        }
        answered(request).await.map(drop)
    }

    async fn edit(&self, message_id: &str, piece: Outgoing) -> Result<(), SendError> {
        let (chat, id) = (place::chat(&piece.conversation)?, place::message_id(message_id)?);
        let buttons = piece.segments.iter().find_map(|s| match s {
            Segment::Keyboard { rows } => Some(keyboard(rows)),
            _ => None,
        });
        let marks = entities(&piece.entities);
        for segment in &piece.segments {
            match segment {
                Segment::Text { text, .. } => {
                    let mut request = self.bot.edit_message_text(chat, id, text).entities(marks);
                    if !self.settings.link_previews {
                        request = request.link_preview_options(no_previews());
                    }
                    if let Some(buttons) = buttons {
                        request = request.reply_markup(buttons);
                    }
                    return answered(request).await.map(drop);
                }
                Segment::Image { caption, .. }
                | Segment::Audio { caption, .. }
                | Segment::Video { caption, .. }
                | Segment::File { caption, .. } => {
                    let mut request = self.bot.edit_message_caption(chat, id).caption_entities(marks);
                    if let Some(caption) = caption {
                        request = request.caption(caption);
                    }
                    if let Some(buttons) = buttons {
                        request = request.reply_markup(buttons);
                    }
                    return answered(request).await.map(drop);
                }
                _ => {}
            }
        }
        let mut request = self.bot.edit_message_reply_markup(chat, id);
        if let Some(buttons) = buttons {
            request = request.reply_markup(buttons);
        }
        answered(request).await.map(drop)
    }

    /// Answers a press; each is answered once. A press too old to be answered was decided all the same.
    async fn answer_button(&self, token: u64, text: &str) -> Result<(), SendError> {
        let Some(press) = self.presses.take(token) else { return Ok(()) };
        let mut request = self.bot.answer_callback_query(press);
        if !text.is_empty() {
            request = request.text(text.chars().take(TOAST).collect::<String>());
        }
        answered(request).await.map(drop)
    }
}
