//! What a message holds, as segments.

use crate::address::Addresses;
use plugin_sdk::{ForwardEntry, MediaRef, MediaSource, MentionTarget, Segment};
use teloxide_core::types::{FileMeta, Message, MessageOrigin};

/// Longest excerpt of a message that is answered.
const EXCERPT: usize = 500;

/// The segments of a message, in the order a reader meets them: what it answers, its files, its words.
pub(crate) fn segments(message: &Message, text: &str, found: &Addresses) -> Vec<Segment> {
    let mut out = Vec::new();
    if let Some(answered) = message.reply_to_message().filter(|m| m.forum_topic_created().is_none()) {
        let words = answered.text().or_else(|| answered.caption());
        out.push(Segment::Reply {
            message_id: answered.id.to_string(),
            name: Some(crate::sender::of_message(answered).name).filter(|n| !n.is_empty()),
            excerpt: words.map(|w| w.chars().take(EXCERPT).collect()),
        });
    }
    out.extend(file(message));
    match message.forward_origin() {
        Some(origin) => {
            let name = origin_name(origin);
            let entry = ForwardEntry { name: name.clone().unwrap_or_default(), text: text.to_string() };
            out.push(Segment::Forward { from: name, entries: vec![entry] });
        }
        None => words(text, found, &mut out),
    }
    out
}

/// The text, parted at mentions. The word of a command loses the bot's name.
fn words(text: &str, found: &Addresses, out: &mut Vec<Segment>) {
    let mut from = 0;
    if let Some((call, range)) = &found.command {
        let line = format!("/{}", call.name);
        let next = found.mentions.iter().map(|m| m.range.start).find(|start| *start >= range.end);
        let end = next.unwrap_or(text.len());
        out.push(Segment::plain(format!("{line}{}", &text[range.end..end])));
        from = end;
    }
    for mention in &found.mentions {
        // Within what is written already; entities of a sound message never overlap.
        if mention.range.start < from {
            continue;
        }
        if from < mention.range.start {
            out.push(Segment::plain(&text[from..mention.range.start]));
        }
        out.push(Segment::Mention {
            target: if mention.is_bot { MentionTarget::Bot } else { MentionTarget::User },
            id: mention.id.clone().unwrap_or_default(),
            name: mention.name.clone(),
        });
        from = mention.range.end;
    }
    if from < text.len() {
        out.push(Segment::plain(&text[from..]));
    }
}

fn origin_name(origin: &MessageOrigin) -> Option<String> {
    match origin {
        MessageOrigin::User { sender_user, .. } => Some(sender_user.full_name()),
        MessageOrigin::HiddenUser { sender_user_name, .. } => Some(sender_user_name.clone()),
        MessageOrigin::Chat { sender_chat: chat, .. } | MessageOrigin::Channel { chat, .. } => {
            chat.title().map(str::to_string)
        }
    }
}

/// The file of a message. A type is what the sender said; the host looks at the bytes.
fn file(message: &Message) -> Option<Segment> {
    let caption = None;
    if let Some(sizes) = message.photo() {
        let largest = sizes.iter().max_by_key(|s| u64::from(s.width) * u64::from(s.height))?;
        return Some(Segment::Image { media: media(&largest.file, "image/jpeg", None), caption });
    }
    if let Some(voice) = message.voice() {
        let mime = voice.mime_type.as_ref().map_or("audio/ogg", |m| m.as_ref());
        return Some(Segment::Audio { media: media(&voice.file, mime, None), caption });
    }
    if let Some(audio) = message.audio() {
        let mime = audio.mime_type.as_ref().map_or("audio/mpeg", |m| m.as_ref());
        return Some(Segment::Audio { media: media(&audio.file, mime, audio.file_name.as_deref()), caption });
    }
    if let Some(video) = message.video() {
        let mime = video.mime_type.as_ref().map_or("video/mp4", |m| m.as_ref());
        return Some(Segment::Video { media: media(&video.file, mime, video.file_name.as_deref()), caption });
    }
    if let Some(note) = message.video_note() {
        return Some(Segment::Video { media: media(&note.file, "video/mp4", None), caption });
    }
    if let Some(sticker) = message.sticker() {
        return Some(Segment::Image { media: media(&sticker.file, "image/webp", None), caption });
    }
    // An animation comes with a document that means the same.
    if let Some(animation) = message.animation() {
        let mime = animation.mime_type.as_ref().map_or("video/mp4", |m| m.as_ref());
        return Some(Segment::Video { media: media(&animation.file, mime, animation.file_name.as_deref()), caption });
    }
    let document = message.document()?;
    let mime = document.mime_type.as_ref().map_or("application/octet-stream", |m| m.as_ref());
    let media = media(&document.file, mime, document.file_name.as_deref());
    Some(if mime.starts_with("image/") { Segment::Image { media, caption } } else { Segment::File { media, caption } })
}

fn media(file: &FileMeta, mime: &str, name: Option<&str>) -> MediaRef {
    MediaRef {
        source: MediaSource::PlatformFile(file.id.to_string()),
        mime: mime.to_string(),
        name: name.map(str::to_string),
        size: Some(u64::from(file.size)).filter(|s| *s > 0 && *s < u64::from(u32::MAX)),
        sha256: None,
    }
}
