//! Targets of links: how they are cleaned, which a platform takes, how they are written.

use plugin_sdk::Dialect;
use std::fmt::Write;

/// A target without control characters; white space and backslashes are percent-encoded.
pub(super) fn clean(url: &str) -> String {
    let kept: String = url.chars().filter(|c| !c.is_control()).collect();
    encoded(kept.trim(), |c| c.is_whitespace() || c == '\\')
}

/// The form between the brackets of a Markdown link.
pub(super) fn in_brackets(url: &str) -> String {
    encoded(url, |c| matches!(c, '(' | ')' | '<' | '>'))
}

fn encoded(url: &str, refused: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(url.len());
    for c in url.chars() {
        if refused(c) {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// What follows a label when the target stands beside it: nothing when the label is the target.
pub(super) fn beside(label: &str, url: &str) -> String {
    let same = |l: &str| l == url || url.strip_prefix("mailto:") == Some(l);
    if url.is_empty() || same(label.trim()) {
        String::new()
    } else if label.trim().is_empty() {
        url.to_string()
    } else {
        format!(" ({url})")
    }
}

/// Whether a dialect can put this target under words; the others are written beside them.
pub(super) fn fits_under(dialect: Dialect, url: &str) -> bool {
    match dialect {
        Dialect::Entities | Dialect::DiscordMarkdown => is_web(url),
        Dialect::Markdown | Dialect::Plain => !url.is_empty(),
    }
}

/// `http` or `https` with a host that has a name of several parts.
fn is_web(url: &str) -> bool {
    let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
    let rest = match lower.as_str() {
        "https://" => url.get(8..),
        l if l.starts_with("http://") => url.get(7..),
        _ => None,
    };
    let Some(rest) = rest else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
    let part = |p: &str| !p.is_empty() && p.chars().all(|c| c.is_alphanumeric() || c == '-');
    name.contains('.') && name.split('.').all(part) && port.parse::<u16>().is_ok_and(|p| p > 0)
}
