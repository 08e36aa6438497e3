//! Markdown as plain text, for channels without marks and for a piece whose markup was refused.

/// Drops the marks that only style; keeps every word, link target and line.
pub fn plain_text(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut fenced = false;
    for line in markdown.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            out.push_str(line);
        } else if fenced {
            out.push_str(line);
        } else {
            out.push_str(&without_marks(line.trim_start_matches('#').trim_start_matches(' '), line));
        }
    }
    out
}

/// Removes paired `**`, `__`, `` ` `` of a line; an unpaired mark stays, because it may be text.
fn without_marks(stripped: &str, line: &str) -> String {
    let mut text = if line.starts_with('#') { stripped.to_string() } else { line.to_string() };
    for mark in ["**", "__", "~~", "`"] {
        if text.matches(mark).count().is_multiple_of(2) {
            text = text.replace(mark, "");
        }
    }
    text
}
