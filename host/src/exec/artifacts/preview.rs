//! What stays visible of a text that was saved whole.

use plugin_sdk::PreviewMode;

/// Stands for what is left out between the two ends.
const GAP: &str = "\n[...]\n";
const GAP_CHARS: usize = 7;

/// At most `chars` characters of a text, cut on characters. A text that fits stays whole.
pub fn preview(text: &str, chars: usize, mode: PreviewMode) -> String {
    let total = text.chars().count();
    if total <= chars {
        return text.to_string();
    }
    match mode {
        PreviewMode::HeadTail if chars > GAP_CHARS => {
            let shown = chars - GAP_CHARS;
            let tail = shown / 2;
            let head = shown - tail;
            let from = byte_of(text, total - tail);
            format!("{}{GAP}{}", &text[..byte_of(text, head)], &text[from..])
        }
        PreviewMode::Head | PreviewMode::HeadTail => text[..byte_of(text, chars)].to_string(),
    }
}

/// Byte position of the `n`th character.
fn byte_of(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}

/// Preview and notice within `max` characters together, `prefix` characters of something before them included.
pub(super) fn with_notice(text: &str, shown_path: &str, prefix: usize, limits: Limits) -> String {
    let total = text.chars().count();
    let notice = notice(total, shown_path, limits.max.saturating_sub(prefix));
    let room = limits.max.saturating_sub(prefix + notice.chars().count());
    let preview = preview(text, limits.preview.min(room), limits.mode);
    format!("{preview}{notice}")
}

/// The numbers a projection keeps to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Characters of everything.
    pub(super) max: usize,
    /// Characters of the preview.
    pub(super) preview: usize,
    /// Form of the preview.
    pub(super) mode: PreviewMode,
}

/// One sentence with length and path; a short form where there is little room.
fn notice(total: usize, path: &str, room: usize) -> String {
    let long = format!("\n\n[The whole text has {total} characters and is saved as {path}. Above is a preview.]");
    if long.chars().count() * 2 <= room {
        return long;
    }
    let short = format!("\n[{total} chars, saved: {path}]");
    short.chars().take(room).collect()
}
