//! Files that are sent.

use super::send::{allowed, post, post_all};
use super::{Call, Done};
use crate::refusal::Refusal;
use crate::text::CAPTION;
use crate::world::{Content, File, World};
use serde_json::{Map, Value};

const ALBUM: std::ops::RangeInclusive<usize> = 2..=10;
const MAX_SIDES: u32 = 10_000;
const KINDS: [&str; 8] = ["photo", "document", "audio", "video", "voice", "animation", "video_note", "sticker"];

/// The kind of file a method sends.
pub(super) fn kind(method: &str) -> Option<&'static str> {
    Some(match method {
        "sendPhoto" => "photo",
        "sendDocument" => "document",
        "sendAudio" => "audio",
        "sendVideo" => "video",
        "sendVoice" => "voice",
        "sendAnimation" => "animation",
        "sendVideoNote" => "video_note",
        "sendSticker" => "sticker",
        _ => return None,
    })
}

/// Whether a message's field holds a file.
pub(super) fn is_media(name: &str) -> bool {
    KINDS.contains(&name)
}

pub(super) fn one(world: &mut World, call: &Call<'_>, kind: &'static str) -> Done {
    let content = captioned(&call.asked.fields)?;
    let target = allowed(world, call)?;
    let file = file(world, call, call.asked.text(kind).unwrap_or_default(), kind)?;
    let content = with_file(kind, &file, content);
    Ok(post(world, call, target, content)?.remove(0))
}

pub(super) fn group(world: &mut World, call: &Call<'_>) -> Done {
    let items = call.asked.get("media").as_array().cloned().unwrap_or_default();
    if !ALBUM.contains(&items.len()) {
        let many = if items.len() > *ALBUM.end() { "many" } else { "few" };
        return Err(Refusal::wrong(format!("too {many} messages to send as an album")));
    }
    let target = allowed(world, call)?;
    let types: Vec<&str> = items.iter().map(|item| item["type"].as_str().unwrap_or_default()).collect();
    let alone = |kind: &&str| matches!(*kind, "document" | "audio");
    if types.iter().any(alone) && types.iter().any(|t| Some(t) != types.first()) {
        return Err(Refusal::wrong("documents and audio files can be in an album only with their own kind"));
    }
    let mut contents = Vec::new();
    let album = world.number().to_string();
    for item in &items {
        let Some(kind) = KINDS.into_iter().find(|kind| item["type"] == *kind) else {
            return Err(Refusal::wrong("wrong media type in an album"));
        };
        let content = captioned(item.as_object().unwrap_or(&Map::new()))?;
        let file = file(world, call, item["media"].as_str().unwrap_or_default(), kind)?;
        let mut content = with_file(kind, &file, content);
        content.insert("media_group_id".into(), album.clone().into());
        contents.push(content);
    }
    Ok(post_all(world, call, target, contents)?.into())
}

fn captioned(fields: &Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    let caption = CAPTION.read(fields)?.with_found();
    let mut content = Map::new();
    if !caption.text.is_empty() {
        caption.put(&mut content, CAPTION);
    }
    Ok(content)
}

fn with_file(kind: &str, file: &File, content: Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert(kind.into(), file.media(kind));
    if kind == "animation" {
        out.insert("document".into(), file.media("document"));
    }
    out.extend(content);
    out
}

/// The file of a field: uploaded, or known by its id.
fn file(world: &mut World, call: &Call<'_>, value: &str, kind: &str) -> Result<File, Refusal> {
    let Some(name) = value.strip_prefix("attach://") else {
        if value.starts_with("http://") || value.starts_with("https://") {
            // nothing is fetched from anywhere
            return Err(Refusal::bad("failed to get HTTP URL content"));
        }
        return world
            .files
            .get(value)
            .cloned()
            .ok_or_else(|| Refusal::wrong("wrong remote file identifier specified: Wrong padding in the string"));
    };
    let Some(upload) = call.asked.files.get(name) else {
        return Err(Refusal::wrong(format!("there is no file \"{name}\" in the request")));
    };
    let (size, sizes) = (upload.bytes.len(), world.options.sizes);
    if size == 0 {
        return Err(Refusal::wrong("file must be non-empty"));
    }
    if size > sizes.upload {
        return Err(Refusal::plain(413, "Request Entity Too Large").avoidable());
    }
    if kind == "photo" {
        if size > sizes.photo {
            let max = sizes.photo;
            return Err(Refusal::wrong(format!(
                "file of size {size} bytes is too big for a photo; the maximum size is {max} bytes"
            )));
        }
        photo(&upload.bytes)?;
    }
    let (name, mime) = (Some(upload.name.clone()), upload.mime.clone());
    Ok(world.files.add(name, mime, Content::Bytes(upload.bytes.clone())))
}

/// A photo must be a picture, and a PNG not larger than a phone shows.
fn photo(bytes: &[u8]) -> Result<(), Refusal> {
    let starts: [&[u8]; 5] = [b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"RIFF", b"BM"];
    if !starts.iter().any(|start| bytes.starts_with(start)) {
        return Err(Refusal::bad("IMAGE_PROCESS_FAILED"));
    }
    let side = |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes);
    if bytes.starts_with(b"\x89PNG")
        && let (Some(width), Some(height)) = (side(16), side(20))
    {
        let (short, long) = (width.min(height), width.max(height));
        if short == 0 || width.saturating_add(height) > MAX_SIDES || long / short > 20 {
            return Err(Refusal::bad("PHOTO_INVALID_DIMENSIONS"));
        }
    }
    Ok(())
}
