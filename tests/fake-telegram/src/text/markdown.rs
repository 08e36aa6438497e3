//! `parse_mode` Markdown, the old one without nesting.

use super::{Formatted, Growing, language};

/// Parses a text; the error says what is wrong and where.
pub(super) fn parse(source: &str) -> Result<Formatted, String> {
    let mut out = Growing::default();
    let mut at = 0;
    while let Some(c) = source.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = source.get(at..).unwrap_or_default();
        let escaped = rest.get(1..).and_then(|tail| tail.chars().next()).filter(|next| "_*`[".contains(*next));
        match (c, escaped) {
            ('\\', Some(next)) => {
                out.push(next);
                at += 2;
            }
            ('_' | '*' | '`' | '[', _) => at += entity(rest, at, &mut out)?,
            _ => {
                out.push(c);
                at += c.len_utf8();
            }
        }
    }
    Ok(out.done())
}

/// One entity and its length in bytes.
fn entity(rest: &str, at: usize, out: &mut Growing) -> Result<usize, String> {
    let lost = || format!("Can't find end of the entity starting at byte offset {at}");
    let (kind, mark) = match rest.chars().next() {
        Some('_') => ("italic", "_"),
        Some('*') => ("bold", "*"),
        Some('[') => ("text_link", "]"),
        _ if rest.starts_with("```") => ("pre", "```"),
        _ => ("code", "`"),
    };
    let open = if mark == "]" { 1 } else { mark.len() };
    let inner = rest.get(open..).unwrap_or_default();
    let end = inner.find(mark).ok_or_else(lost)?;
    let from = out.units;
    let mut text = inner.get(..end).unwrap_or_default();
    let mut length = open + end + mark.len();
    let mut named = "";
    if kind == "pre" {
        let (name, skip) = language(inner);
        named = name;
        text = text.get(skip..).unwrap_or_default();
    }
    text.chars().for_each(|c| out.push(c));
    if kind == "text_link" && end > 0 {
        let tail = rest.get(length..).unwrap_or_default();
        if let Some(url) = tail.strip_prefix('(') {
            let end = url.find(')').ok_or_else(lost)?;
            out.link(from, url.get(..end).unwrap_or_default());
            length += end + 2;
        }
        return Ok(length);
    }
    if kind == "text_link" {
        return Ok(length);
    }
    let more = (!named.is_empty()).then(|| ("language", named.into()));
    out.entity(kind, from, more.as_slice());
    Ok(length)
}
