//! Message texts: length in UTF-16 units, entities and the three markup languages.

mod find;
mod html;
mod markdown;
mod markdown_v2;

pub(crate) use find::find;

use crate::facts::facts;
use crate::refusal::Refusal;
use serde_json::{Map, Value, json};

const MAX_ENTITIES: usize = 100;

/// A text with its entities.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Formatted {
    pub(crate) text: String,
    pub(crate) entities: Vec<Value>,
}

/// Which fields hold a text, and how long it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    text: &'static str,
    entities: &'static str,
    max: usize,
    too_long: &'static str,
}

/// A message's text.
pub(crate) const TEXT: Place = Place { text: "text", entities: "entities", max: 4096, too_long: "message is too long" };
/// The caption of a file.
pub(crate) const CAPTION: Place =
    Place { text: "caption", entities: "caption_entities", max: 1024, too_long: "message caption is too long" };

impl Place {
    /// Reads a text; without one it is empty.
    pub(crate) fn read(self, fields: &Map<String, Value>) -> Result<Formatted, Refusal> {
        let text = fields.get(self.text).and_then(Value::as_str).unwrap_or_default();
        let mode = fields.get("parse_mode").and_then(Value::as_str).unwrap_or_default();
        let parsed = match mode.to_lowercase().as_str() {
            "" => given(text, fields.get(self.entities))?,
            "html" => html::parse(text).map_err(markup)?,
            "markdownv2" => markdown_v2::parse(text).map_err(markup)?,
            "markdown" => markdown::parse(text).map_err(markup)?,
            _ => return Err(Refusal::wrong("unsupported parse_mode")),
        };
        if parsed.entities.len() > MAX_ENTITIES {
            return Err(Refusal::wrong(format!(
                "too many entities: {} of at most {MAX_ENTITIES}",
                parsed.entities.len()
            )));
        }
        let parsed = parsed.trimmed();
        if units(&parsed.text) > self.max {
            return Err(Refusal::wrong(self.too_long));
        }
        Ok(parsed)
    }

    /// The same for a text that must say something.
    pub(crate) fn read_some(self, fields: &Map<String, Value>) -> Result<Formatted, Refusal> {
        if fields.get(self.text).and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err(Refusal::wrong("message text is empty"));
        }
        let read = self.read(fields)?;
        if read.text.is_empty() { Err(Refusal::wrong("text must be non-empty")) } else { Ok(read) }
    }
}

fn markup(why: String) -> Refusal {
    Refusal::wrong(format!("can't parse entities: {why}"))
}

/// UTF-16 units of a text.
pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The place in bytes of a place in UTF-16 units; `None` in the middle of a character or outside.
pub(crate) fn byte_at(text: &str, unit: usize) -> Option<usize> {
    let mut at = 0;
    for (byte, c) in text.char_indices() {
        if at >= unit {
            return (at == unit).then_some(byte);
        }
        at += c.len_utf16();
    }
    (at == unit).then_some(text.len())
}

fn given(text: &str, entities: Option<&Value>) -> Result<Formatted, Refusal> {
    let list = entities.and_then(Value::as_array).cloned().unwrap_or_default();
    let total = units(text);
    for entity in &list {
        entity_fits(text, total, entity).map_err(|why| Refusal::wrong(format!("can't parse entities: {why}")))?;
    }
    Ok(Formatted { text: text.to_owned(), entities: list })
}

fn entity_fits(text: &str, total: usize, entity: &Value) -> Result<(), String> {
    let kind = entity["type"].as_str().unwrap_or_default();
    if !facts().entities.iter().any(|known| known == kind) {
        return Err(format!("there is no entity of type {kind:?}"));
    }
    let number = |name: &str| entity[name].as_i64().and_then(|n| usize::try_from(n).ok());
    let (Some(offset), Some(length)) = (number("offset"), number("length").filter(|n| *n > 0)) else {
        return Err("an entity needs an offset from 0 and a length over 0".into());
    };
    let end = offset.saturating_add(length);
    if end > total {
        return Err(format!("entity at {offset} ends at UTF-16 offset {end}, after the end of the text at {total}"));
    }
    if byte_at(text, offset).is_none() || byte_at(text, end).is_none() {
        return Err(format!("entity begins or ends in a middle of a UTF-16 symbol at offset {offset}"));
    }
    let needs = match kind {
        "text_link" => "url",
        "text_mention" => "user",
        "custom_emoji" => "custom_emoji_id",
        _ => return Ok(()),
    };
    if entity.get(needs).is_some() { Ok(()) } else { Err(format!("a {kind} needs \"{needs}\"")) }
}

impl Formatted {
    /// A text as it is shown: white space at both ends is gone, entities moved with it.
    fn trimmed(self) -> Self {
        let start = self.text.trim_start();
        let lost = units(&self.text) - units(start);
        let text = start.trim_end().to_owned();
        let end = units(&text);
        let moved = |mut entity: Value| {
            let number = |name: &str| entity[name].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
            let (from, to) = (number("offset"), number("offset") + number("length"));
            let (from, to) = (from.saturating_sub(lost).min(end), to.saturating_sub(lost).min(end));
            entity["offset"] = json!(from);
            entity["length"] = json!(to - from);
            (to > from).then_some(entity)
        };
        let mut entities: Vec<Value> = self.entities.into_iter().filter_map(moved).collect();
        entities.sort_by_key(|e| (e["offset"].as_u64(), std::cmp::Reverse(e["length"].as_u64())));
        Self { text, entities }
    }

    /// Adds what clients find by themselves: commands, mentions, addresses; not inside code or links.
    pub(crate) fn with_found(mut self) -> Self {
        let found = find(&self.text);
        let span = |e: &Value| (e["offset"].as_u64().unwrap_or(0), e["length"].as_u64().unwrap_or(0));
        let opaque = ["code", "pre", "text_link", "text_mention", "mention", "bot_command", "url", "email", "hashtag"];
        for entity in found {
            let (from, length) = span(&entity);
            let overlaps = |other: &Value| {
                let (other_from, other_length) = span(other);
                opaque.contains(&other["type"].as_str().unwrap_or_default())
                    && from < other_from + other_length
                    && other_from < from + length
            };
            if !self.entities.iter().any(overlaps) {
                self.entities.push(entity);
            }
        }
        self.entities.sort_by_key(|e| (e["offset"].as_u64(), std::cmp::Reverse(e["length"].as_u64())));
        self
    }

    /// Puts text and entities into a message.
    pub(crate) fn put(&self, message: &mut Map<String, Value>, place: Place) {
        message.insert(place.text.into(), self.text.clone().into());
        message.remove(place.entities);
        if !self.entities.is_empty() {
            message.insert(place.entities.into(), self.entities.clone().into());
        }
    }
}

/// The language that follows a fence, and the bytes to skip with it: a word before white space, then one line end.
fn language(rest: &str) -> (&str, usize) {
    let word = rest.find(|c: char| c.is_ascii_whitespace() || c == '`').unwrap_or(rest.len());
    let (name, tail) = rest.split_at(word);
    let name = if tail.is_empty() || tail.starts_with('`') { "" } else { name };
    let tail = rest.get(name.len()..).unwrap_or_default();
    (name, name.len() + usize::from(tail.starts_with('\n')))
}

/// A text that grows while markup is read.
#[derive(Debug, Default)]
struct Growing {
    text: String,
    units: usize,
    entities: Vec<Value>,
}

impl Growing {
    fn push(&mut self, c: char) {
        self.text.push(c);
        self.units += c.len_utf16();
    }

    /// The text since a place in units.
    fn since(&self, from: usize) -> &str {
        byte_at(&self.text, from).and_then(|at| self.text.get(at..)).unwrap_or_default()
    }

    fn entity(&mut self, kind: &str, from: usize, more: &[(&str, Value)]) {
        if self.units == from {
            return;
        }
        let mut entity = json!({"type": kind, "offset": from, "length": self.units - from});
        for (name, value) in more {
            entity[*name] = value.clone();
        }
        self.entities.push(entity);
    }

    /// A link: to a person, or to an address; a text that is no address makes none.
    fn link(&mut self, from: usize, url: &str) {
        if let Some(id) = url.strip_prefix("tg://user?id=").and_then(|id| id.parse::<i64>().ok()) {
            let user = json!({"id": id, "is_bot": false, "first_name": ""});
            return self.entity("text_mention", from, &[("user", user)]);
        }
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let known = url.split_once("://").is_none_or(|(kind, _)| matches!(kind, "http" | "https" | "tg" | "ton"));
        if known && (rest.contains('.') || url.starts_with("tg:")) && !rest.contains(char::is_whitespace) {
            self.entity("text_link", from, &[("url", url.into())]);
        }
    }

    fn done(self) -> Formatted {
        Formatted { text: self.text, entities: self.entities }
    }
}
