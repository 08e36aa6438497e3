//! What a person's message looks like to a model: heads, quotes, media in words.

use plugin_sdk::{MediaRef, MentionTarget, Message, Principal, Role, Scope, Segment};

const NAME_MAX: usize = 40;

/// A display name that can forge nothing: no control characters, brackets or line breaks.
pub fn clean_name(name: &str) -> String {
    let bad = |c: char| c.is_control() || matches!(c, '[' | ']' | ',' | '\u{2028}' | '\u{2029}');
    let plain: String = name.chars().filter(|c| !bad(*c)).collect();
    let cut: String = plain.trim().chars().take(NAME_MAX).collect();
    if cut.is_empty() { "someone".into() } else { cut }
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
/// words of anybody but `present` are marked; a line that could pass for a head is quoted.
pub(super) fn spoken(text: &str, author: &Principal, present: &Principal, scope: Scope) -> String {
    if scope == Scope::Private {
        return text.to_string();
    }
    let mark = if author.id() == present.id() { "" } else { " (untrusted)" };
    let body: Vec<String> =
        text.lines().map(|l| if l.trim_start().starts_with('[') { format!("> {l}") } else { l.to_string() }).collect();
    format!("{}{mark} {}", head_line(author), body.join("\n"))
}

/// The text of a message, with everything that is no text named in words.
pub fn in_words(message: &Message) -> String {
    let mut out = String::new();
    for segment in &message.segments {
        let (line, inline) = describe(segment);
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
    let name = media.name.as_deref().map_or_else(|| media.mime.clone(), clean_name);
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
    let lines: Vec<String> = text.lines().map(|l| format!("> {l}")).collect();
    format!("{head}{}", lines.join("\n"))
}

/// Whether the message has something no model of this build can use.
pub(super) fn has_media(message: &Message) -> bool {
    message.segments.iter().any(|s| {
        matches!(s, Segment::Image { .. } | Segment::Audio { .. } | Segment::Video { .. } | Segment::File { .. })
    })
}
