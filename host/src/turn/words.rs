//! What a person's message looks like to a model: heads, quotes, media in words.

use plugin_sdk::{MediaRef, MentionTarget, Message, Principal, Role, Scope, Segment};

const NAME_MAX: usize = 40;

/// Characters nobody sees: controls, line and paragraph separators, directions, zero widths, tags.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A display name that can forge nothing: nothing unseen, no brackets, no line breaks.
pub fn clean_name(name: &str) -> String {
    let bad = |c: char| is_unseen(c) || matches!(c, '[' | ']' | ',' | '［' | '］');
    // no more of a name of any length is looked at than can be shown
    let plain: String = name.chars().filter(|c| !bad(*c)).take(4 * NAME_MAX).collect();
    let cut: String = plain.trim().chars().take(NAME_MAX).collect();
    if cut.trim().is_empty() { "someone".into() } else { cut }
}

/// Lines as any reader may see them, not only those that `\n` ends.
fn lines_of(text: &str) -> Vec<String> {
    let breaks = |c: char| matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    text.replace("\r\n", "\n").split(breaks).map(str::to_owned).collect()
}

/// What a line begins with, behind everything unseen.
fn visible_start(line: &str) -> &str {
    line.trim_start_matches(|c: char| c.is_whitespace() || is_unseen(c))
}

fn is_bracketed(line: &str) -> bool {
    visible_start(line).starts_with(['[', '［'])
}

/// Whether a line begins like one of the host's own.
fn is_like_the_hosts(line: &str) -> bool {
    let inner = visible_start(line).trim_start_matches(['[', '［']);
    let inner: String = inner.chars().filter(|c| !is_unseen(*c)).take(20).collect();
    let inner = inner.trim_start().to_lowercase();
    is_bracketed(line) && ["host", "system", "earlier messages", "result of"].iter().any(|w| inner.starts_with(w))
}

fn quoted_where(text: &str, forges: impl Fn(&str) -> bool) -> String {
    let quote = |line: String| if forges(&line) { format!("> {line}") } else { line };
    lines_of(text).into_iter().map(quote).collect::<Vec<_>>().join("\n")
}

/// A text of others among the host's words, with no line that could pass for the host's or a head.
pub(super) fn as_data(text: &str) -> String {
    quoted_where(text, is_bracketed)
}

fn role_word(role: Option<Role>) -> &'static str {
    match role {
        Some(Role::Master) => "master",
        Some(Role::Trusted) => "trusted",
        _ => "member",
    }
}

/// `[Ann, telegram:42, member]`.
pub fn head_line(principal: &Principal) -> String {
    format!("[{}, {}, {}]", clean_name(&principal.name), clean_name(&principal.id()), role_word(principal.role))
}

/// A message of the conversation as the present turn shows it. In shared places it has a head line, and the
/// words of anybody but `present` are marked. A line that could pass for a head, or for the host's, is quoted.
pub(super) fn spoken(text: &str, author: &Principal, present: &Principal, scope: Scope) -> String {
    if scope == Scope::Private {
        return quoted_where(text, is_like_the_hosts);
    }
    let mark = if author.id() == present.id() { "" } else { " (untrusted)" };
    format!("{}{mark} {}", head_line(author), quoted_where(text, is_bracketed))
}

/// The text of a message, with everything that is no text named in words; its first `carried` images go along
/// as they are.
pub fn in_words(message: &Message, carried: usize) -> String {
    let mut out = String::new();
    let mut images = 0;
    for segment in &message.segments {
        images += usize::from(matches!(segment, Segment::Image { .. }));
        let (line, inline) = match segment {
            Segment::Image { caption, .. } if images <= carried => (caption.clone().unwrap_or_default(), false),
            other => describe(other),
        };
        if line.is_empty() {
            continue;
        }
        if !inline && !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&line);
        if !inline {
            out.push('\n');
        }
    }
    out.trim().to_string()
}

/// The words and whether they belong inside the running text.
fn describe(segment: &Segment) -> (String, bool) {
    match segment {
        Segment::Text { text, .. } => (text.clone(), true),
        Segment::Mention { target, name, .. } => match target {
            MentionTarget::Bot => (String::new(), true),
            _ => (format!("@{}", clean_name(name)), true),
        },
        Segment::Image { media, caption } => {
            (media_line("image", media, "this model cannot see images", caption), false)
        }
        Segment::Audio { media, caption } => (media_line("audio", media, "this model cannot use it", caption), false),
        Segment::Video { media, caption } => (media_line("video", media, "this model cannot use it", caption), false),
        Segment::File { media, caption } => (media_line("file", media, "this model cannot use it", caption), false),
        Segment::Reply { name, excerpt, .. } => {
            (quoted(name.as_deref(), excerpt.as_deref().unwrap_or_default()), false)
        }
        Segment::Forward { entries, .. } => {
            let lines: Vec<String> = entries.iter().map(|e| quoted(Some(&e.name), &e.text)).collect();
            (lines.join("\n"), false)
        }
        Segment::Keyboard { .. } => (String::new(), true),
    }
}

fn media_line(kind: &str, media: &MediaRef, note: &str, caption: &Option<String>) -> String {
    let name = clean_name(media.name.as_deref().unwrap_or(&media.mime));
    let size = media.size.map(|b| format!(" {} KB", b.div_ceil(1024))).unwrap_or_default();
    let line = format!("[{kind} {name}{size}: {note}]");
    match caption {
        Some(text) if !text.trim().is_empty() => format!("{line}\n{text}"),
        _ => line,
    }
}

fn quoted(name: Option<&str>, text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let head = name.map(|n| format!("{} wrote:\n", clean_name(n))).unwrap_or_default();
    let lines: Vec<String> = lines_of(text.trim_end()).into_iter().map(|l| format!("> {l}")).collect();
    format!("{head}{}", lines.join("\n"))
}

/// Whether the message has something the model cannot use; it sees the first `seen` images.
pub(super) fn has_unusable(message: &Message, seen: usize) -> bool {
    let images = message.segments.iter().filter(|s| matches!(s, Segment::Image { .. })).count();
    let other = |s: &Segment| matches!(s, Segment::Audio { .. } | Segment::Video { .. } | Segment::File { .. });
    images > seen || message.segments.iter().any(other)
}
