//! `parse_mode` HTML.

use super::{Formatted, Growing};
use serde_json::Value;

struct Open {
    tag: String,
    from: usize,
    attributes: Vec<(String, String)>,
}

impl Open {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

const TAGS: [&str; 18] = [
    "b",
    "strong",
    "i",
    "em",
    "u",
    "ins",
    "s",
    "strike",
    "del",
    "span",
    "tg-spoiler",
    "tg-emoji",
    "tg-time",
    "a",
    "code",
    "pre",
    "blockquote",
    "br",
];

/// Parses a text; the error says what is wrong and where.
pub(super) fn parse(source: &str) -> Result<Formatted, String> {
    let mut out = Growing::default();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(c) = source.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = source.get(at..).unwrap_or_default();
        at += match c {
            '&' => {
                let (c, length) = reference(rest);
                out.push(c);
                length
            }
            '<' if rest.starts_with("</") => {
                if open.is_empty() {
                    return Err(format!("Unexpected end tag at byte offset {at}"));
                }
                let (name, length) = end_tag(rest).ok_or_else(|| format!("Unclosed end tag at byte offset {at}"))?;
                close(name, at, &mut open, &mut out)?;
                length
            }
            '<' => {
                let (tag, length) = start(rest, at, out.units)?;
                open.push(tag);
                length
            }
            c => {
                out.push(c);
                c.len_utf8()
            }
        };
    }
    match open.last() {
        Some(tag) => Err(format!("Can't find end tag corresponding to start tag \"{}\"", tag.tag)),
        None => {
            // a language outside a block of code means nothing
            for entity in out.entities.iter_mut().filter(|e| e["type"] == "code") {
                entity.as_object_mut().map(|entity| entity.remove("language"));
            }
            Ok(out.done())
        }
    }
}

/// A character reference, or the ampersand itself.
fn reference(rest: &str) -> (char, usize) {
    let named = [("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&'), ("&quot;", '"')];
    if let Some((name, c)) = named.iter().find(|(name, _)| rest.starts_with(name)) {
        return (*c, name.len());
    }
    let numbered = rest.strip_prefix("&#").and_then(|tail| {
        let end = tail.find(';').filter(|end| *end <= 8)?;
        let digits = tail.get(..end)?;
        let code = match digits.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => digits.parse().ok()?,
        };
        Some((char::from_u32(code).filter(|c| *c != '\0')?, end + 3))
    });
    numbered.unwrap_or(('&', 1))
}

/// The name of an end tag, and its length.
fn end_tag(rest: &str) -> Option<(&str, usize)> {
    let inner = rest.get(2..)?;
    let length = inner.find(|c: char| c.is_whitespace() || c == '>')?;
    let tail = inner.get(length..)?.trim_start().strip_prefix('>')?;
    Some((inner.get(..length)?, rest.len() - tail.len()))
}

/// A start tag with its attributes, and its length.
fn start(rest: &str, at: usize, units: usize) -> Result<(Open, usize), String> {
    let inner = rest.get(1..).unwrap_or_default();
    let length = inner.find(|c: char| c.is_whitespace() || c == '>');
    let length = length.ok_or_else(|| format!("Unclosed start tag at byte offset {at}"))?;
    let tag = inner.get(..length).unwrap_or_default().to_lowercase();
    if !TAGS.contains(&tag.as_str()) || tag == "br" {
        return Err(format!("Unsupported start tag \"{tag}\" at byte offset {at}"));
    }
    let mut open = Open { tag, from: units, attributes: Vec::new() };
    let mut tail = inner.get(length..).unwrap_or_default();
    loop {
        tail = tail.trim_start();
        if let Some(after) = tail.strip_prefix('>') {
            checked(&open, at)?;
            return Ok((open, rest.len() - after.len()));
        }
        let end = tail.find(|c: char| c.is_whitespace() || c == '=' || c == '>');
        let Some(end) = end.filter(|end| *end > 0) else {
            return Err(format!("Unclosed start tag \"{}\" at byte offset {at}", open.tag));
        };
        let name = tail.get(..end).unwrap_or_default().to_lowercase();
        tail = tail.get(end..).unwrap_or_default().trim_start();
        let mut value = String::new();
        if let Some(after) = tail.strip_prefix('=') {
            (value, tail) = attribute_value(after.trim_start())
                .ok_or_else(|| format!("Unclosed start tag \"{}\" at byte offset {at}", open.tag))?;
        }
        open.attributes.push((name, value));
    }
}

fn attribute_value(rest: &str) -> Option<(String, &str)> {
    let (raw, tail) = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest.get(1..)?.split_once(quote)?,
        _ => rest.split_at(rest.find(|c: char| c.is_whitespace() || c == '>')?),
    };
    let mut value = String::new();
    let mut at = 0;
    while let Some(c) = raw.get(at..).and_then(|r| r.chars().next()) {
        let (c, length) = if c == '&' { reference(raw.get(at..)?) } else { (c, c.len_utf8()) };
        value.push(c);
        at += length;
    }
    Some((value, tail))
}

fn checked(open: &Open, at: usize) -> Result<(), String> {
    match open.tag.as_str() {
        "span" if open.attribute("class") != Some("tg-spoiler") => {
            Err(format!("Tag \"span\" must have class \"tg-spoiler\" at byte offset {at}"))
        }
        "tg-emoji" if open.attribute("emoji-id").is_none_or(|id| id.parse::<i64>().is_err()) => {
            Err("Invalid custom emoji identifier specified".into())
        }
        _ => Ok(()),
    }
}

fn close(name: &str, at: usize, open: &mut Vec<Open>, out: &mut Growing) -> Result<(), String> {
    let name = name.to_lowercase();
    let Some(tag) = open.pop() else { return Err(format!("Unexpected end tag at byte offset {at}")) };
    if !name.is_empty() && name != tag.tag {
        return Err(format!("Unmatched end tag at byte offset {at}, expected \"</{}>\", found \"</{name}>\"", tag.tag));
    }
    let from = tag.from;
    match tag.tag.as_str() {
        "b" | "strong" => out.entity("bold", from, &[]),
        "i" | "em" => out.entity("italic", from, &[]),
        "u" | "ins" => out.entity("underline", from, &[]),
        "s" | "strike" | "del" => out.entity("strikethrough", from, &[]),
        "span" | "tg-spoiler" => out.entity("spoiler", from, &[]),
        "tg-emoji" => {
            let id = tag.attribute("emoji-id").unwrap_or_default();
            out.entity("custom_emoji", from, &[("custom_emoji_id", id.into())]);
        }
        "a" => {
            let url = tag.attribute("href").unwrap_or(out.since(from)).to_owned();
            out.link(from, &url);
        }
        "pre" => pre(from, out),
        "blockquote" => {
            let long = tag.attribute("expandable").is_some();
            out.entity(if long { "expandable_blockquote" } else { "blockquote" }, from, &[]);
        }
        "code" => {
            let language = tag.attribute("class").and_then(|class| class.strip_prefix("language-"));
            let more = language.map(|language| ("language", Value::from(language)));
            out.entity("code", from, more.as_slice());
        }
        _ => {}
    }
    Ok(())
}

/// A block of code; the language stands at a `code` tag that fills it.
fn pre(from: usize, out: &mut Growing) {
    let length = out.units - from;
    let inside = |e: &Value| e["type"] == "code" && e["offset"] == from && e["length"] == length;
    let language = out.entities.iter().position(inside).map(|at| out.entities.remove(at)["language"].clone());
    let more = language.filter(|l| !l.is_null()).map(|language| ("language", language));
    out.entity("pre", from, more.as_slice());
}
