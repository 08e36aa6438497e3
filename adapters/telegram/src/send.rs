//! One piece, one request. Nothing is cut, waited for or repeated here.

use crate::{Line, fault, media, place};
use async_trait::async_trait;
use plugin_sdk::{Button, EntityKind, MediaRef, Outgoing, Segment, Send, SendError, Sent, TextEntity};
use std::future::IntoFuture;
use std::time::Duration;
use teloxide_core::RequestError;
use teloxide_core::payloads::{
    SendAudioSetters, SendDocumentSetters, SendMessageSetters, SendPhotoSetters, SendVideoSetters,
};
use teloxide_core::prelude::Requester;
use teloxide_core::types::{
    ChatId, InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions, Message, MessageEntity, MessageEntityKind,
    ReplyMarkup, ReplyParameters, ThreadId,
};

/// A request that takes longer may still arrive. Longer than the client's own limit, which ends it first; the library
/// pauses for 10 s after a server error.
const LIMIT: Duration = Duration::from_secs(40);

/// The answer of a request, its errors typed.
pub(crate) async fn answered<T>(request: impl IntoFuture<Output = Result<T, RequestError>>) -> Result<T, SendError> {
    match tokio::time::timeout(LIMIT, request.into_future()).await {
        Ok(answer) => answer.map_err(|e| fault::sending(&e)),
        Err(_) => Err(SendError::Ambiguous("no answer in time".into())),
    }
}

/// A file and what it is shown as.
enum Body<'a> {
    Text(&'a str),
    Image(&'a MediaRef, Option<&'a str>),
    Audio(&'a MediaRef, Option<&'a str>),
    Video(&'a MediaRef, Option<&'a str>),
    File(&'a MediaRef, Option<&'a str>),
}

/// What a piece is made of: at most one text or file, and a keyboard.
struct Parts<'a> {
    body: Option<Body<'a>>,
    keyboard: Option<InlineKeyboardMarkup>,
}

fn parts(piece: &Outgoing) -> Result<Parts<'_>, SendError> {
    let mut out = Parts { body: None, keyboard: None };
    for segment in &piece.segments {
        let body = match segment {
            Segment::Text { text, .. } => Body::Text(text),
            Segment::Image { media, caption } => Body::Image(media, caption.as_deref()),
            Segment::Audio { media, caption } => Body::Audio(media, caption.as_deref()),
            Segment::Video { media, caption } => Body::Video(media, caption.as_deref()),
            Segment::File { media, caption } => Body::File(media, caption.as_deref()),
            Segment::Keyboard { rows } => {
                out.keyboard = Some(keyboard(rows));
                continue;
            }
            // What is answered is the piece's own field; the others are inbound only.
            Segment::Reply { .. } | Segment::Mention { .. } | Segment::Forward { .. } => continue,
        };
        if out.body.replace(body).is_some() {
            return Err(SendError::Permanent("a piece holds one text or one file".into()));
        }
    }
    Ok(out)
}

/// Rows of buttons. A link whose address is none has nothing to lead to and is left out.
pub(crate) fn keyboard(rows: &[Vec<Button>]) -> InlineKeyboardMarkup {
    let button = |b: &Button| match &b.url {
        Some(address) => url::Url::parse(address).ok().map(|url| InlineKeyboardButton::url(b.label.clone(), url)),
        None => Some(InlineKeyboardButton::callback(b.label.clone(), b.id.clone())),
    };
    let rows = rows.iter().map(|row| row.iter().filter_map(button).collect::<Vec<_>>());
    InlineKeyboardMarkup::new(rows.filter(|row| !row.is_empty()))
}

/// Marks in Telegram's form. A link to something that is no address stays plain words.
pub(crate) fn entities(marks: &[TextEntity]) -> Vec<MessageEntity> {
    let kind = |kind: &EntityKind| {
        Some(match kind {
            EntityKind::Bold => MessageEntityKind::Bold,
            EntityKind::Italic => MessageEntityKind::Italic,
            EntityKind::Strikethrough => MessageEntityKind::Strikethrough,
            EntityKind::Code => MessageEntityKind::Code,
            EntityKind::Pre { language } => MessageEntityKind::Pre { language: language.clone() },
            EntityKind::TextLink { url } => MessageEntityKind::TextLink { url: url::Url::parse(url).ok()? },
            EntityKind::Blockquote => MessageEntityKind::Blockquote,
        })
    };
    marks.iter().filter_map(|m| Some(MessageEntity::new(kind(&m.kind)?, m.offset, m.length))).collect()
}

/// What every kind of message takes beside its body.
struct Around {
    chat: ChatId,
    thread: Option<ThreadId>,
    reply: Option<ReplyParameters>,
    markup: Option<ReplyMarkup>,
    entities: Vec<MessageEntity>,
    protect: bool,
}

macro_rules! around {
    ($request:expr, $around:expr) => {{
        let mut request = $request.protect_content($around.protect);
        if let Some(thread) = $around.thread {
            request = request.message_thread_id(thread);
        }
        if let Some(reply) = $around.reply {
            request = request.reply_parameters(reply);
        }
        if let Some(markup) = $around.markup {
            request = request.reply_markup(markup);
        }
        request
    }};
}

macro_rules! captioned {
    ($request:expr, $around:expr, $caption:expr) => {{
        let mut request = $request;
        if let Some(caption) = $caption {
            request = request.caption(caption).caption_entities(std::mem::take(&mut $around.entities));
        }
        answered(around!(request, $around)).await
    }};
}

impl Line {
    async fn message(&self, body: Body<'_>, mut around: Around) -> Result<Message, SendError> {
        match body {
            Body::Text(text) => {
                let marks = std::mem::take(&mut around.entities);
                let mut request = self.bot.send_message(around.chat, text).entities(marks);
                if !self.settings.link_previews {
                    request = request.link_preview_options(no_previews());
                }
                answered(around!(request, around)).await
            }
            Body::Image(file, caption) => {
                captioned!(self.bot.send_photo(around.chat, media::input(file)?), around, caption)
            }
            Body::Audio(file, caption) => {
                captioned!(self.bot.send_audio(around.chat, media::input(file)?), around, caption)
            }
            Body::Video(file, caption) => {
                captioned!(self.bot.send_video(around.chat, media::input(file)?), around, caption)
            }
            Body::File(file, caption) => {
                captioned!(self.bot.send_document(around.chat, media::input(file)?), around, caption)
            }
        }
    }
}

/// Links stay as they are written.
pub(crate) fn no_previews() -> LinkPreviewOptions {
    LinkPreviewOptions {
        is_disabled: true,
        url: None,
        prefer_small_media: false,
        prefer_large_media: false,
        show_above_text: false,
    }
}

#[async_trait]
impl Send for Line {
    async fn send(&self, piece: Outgoing) -> Result<Sent, SendError> {
        let parts = parts(&piece)?;
        let body = parts.body.ok_or_else(|| SendError::Permanent("a piece without text or file".into()))?;
        let reply = piece.reply_to.as_deref().map(place::message_id).transpose()?.map(ReplyParameters::new);
        let around = Around {
            chat: place::chat(&piece.conversation)?,
            thread: place::thread(&piece.conversation)?,
            reply,
            markup: parts.keyboard.map(ReplyMarkup::InlineKeyboard),
            entities: entities(&piece.entities),
            protect: self.settings.protect_content,
        };
        let sent = self.message(body, around).await?;
        Ok(Sent { message_id: sent.id.to_string() })
    }
}
