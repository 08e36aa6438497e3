//! Entities nobody marked: commands, mentions, hashtags and web addresses.

use super::units;
use serde_json::{Value, json};

/// Finds them in a text.
pub(crate) fn find(text: &str) -> Vec<Value> {
    let mut out = Vec::new();
    let mut before = None;
    let mut skip = 0;
    for (at, c) in text.char_indices() {
        if at >= skip
            // an address may follow a letter, nothing else does
            && (c == 'h' || !before.is_some_and(word))
            && let Some((kind, length)) = start(text.get(at..).unwrap_or_default(), c, before)
        {
            let offset = units(text.get(..at).unwrap_or_default());
            let own = text.get(at..at + length).unwrap_or_default();
            out.push(json!({"type": kind, "offset": offset, "length": units(own)}));
            skip = at + length;
        }
        before = Some(c);
    }
    out
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn start(rest: &str, c: char, before: Option<char>) -> Option<(&'static str, usize)> {
    match c {
        '@' => username(rest.get(1..)?, 4).map(|length| ("mention", 1 + length)),
        '/' if !matches!(before, Some('/' | '<' | '>')) => command(rest).map(|length| ("bot_command", length)),
        '#' => {
            let length = rest.get(1..)?.find(|c| !word(c)).unwrap_or(rest.len() - 1);
            let name = rest.get(1..=length)?;
            let tail = rest.get(1 + length..)?;
            // a hashtag of one conversation names it
            let chat = tail.strip_prefix('@').and_then(|name| username(name, 3)).map_or(0, |length| 1 + length);
            let good = !tail.starts_with('#') && name.contains(|c: char| c.is_alphabetic());
            good.then_some(("hashtag", 1 + length + chat))
        }
        'h' => {
            let tail = rest.strip_prefix("https://").or_else(|| rest.strip_prefix("http://"))?;
            let end = tail.find(char::is_whitespace).unwrap_or(tail.len());
            let own = tail.get(..end)?.trim_end_matches(['.', ',', '!', '?', ')', ';', ':']);
            (!own.is_empty()).then(|| ("url", rest.len() - tail.len() + own.len()))
        }
        _ => None,
    }
}

fn name(rest: &str) -> usize {
    rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())
}

/// The length of a username that ends where a word ends.
fn username(rest: &str, shortest: usize) -> Option<usize> {
    let length = name(rest);
    let ends = !rest.get(length..)?.starts_with(word);
    ((shortest..=32).contains(&length) && ends).then_some(length)
}

fn command(rest: &str) -> Option<usize> {
    let own = name(rest.get(1..)?);
    if !(1..=64).contains(&own) {
        return None;
    }
    let tail = rest.get(1 + own..)?;
    if let Some(bot) = tail.strip_prefix('@') {
        let length = username(bot, 3)?;
        return (!bot.get(length..)?.starts_with(['/', '<', '>'])).then_some(1 + own + 1 + length);
    }
    (!tail.starts_with(|c| word(c) || matches!(c, '/' | '<' | '>'))).then_some(1 + own)
}
