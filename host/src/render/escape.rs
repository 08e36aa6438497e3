//! Which characters a Markdown dialect would read as marks.

use plugin_sdk::Dialect;

/// Whether a character of plain text needs a backslash. A cut may make any place a line start, so what counts only
/// there is guarded everywhere.
pub(super) fn needs_backslash(dialect: Dialect, before: Option<char>, c: char, after: Option<char>) -> bool {
    let ends = after.is_none_or(char::is_whitespace);
    match c {
        '\\' | '*' | '_' | '~' | '`' | '|' | '<' | '>' | '[' | ']' => true,
        '#' => ends || after == Some('#'),
        '-' | '+' => ends || after == Some(c) || after == Some('#'),
        '.' | ')' => ends && before.is_some_and(|b| b.is_ascii_digit()),
        '&' => dialect == Dialect::Markdown,
        '=' => dialect == Dialect::Markdown && before.is_none_or(|b| b == '\n'),
        _ => false,
    }
}

/// Length in bytes of a web address that begins here; a platform links it by itself, so it stays as it is.
pub(super) fn web_address(text: &str, before: Option<char>) -> Option<usize> {
    let begins = text.starts_with("https://") || text.starts_with("http://");
    if !begins || before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    Some(text.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | '|')).unwrap_or(text.len()))
}

/// Places in code where a zero-width space keeps backticks from ending it; at most `run` stay together.
pub(super) fn broken_ticks(text: &str, run: usize) -> Vec<usize> {
    let (mut places, mut together) = (Vec::new(), 0);
    for (at, c) in text.char_indices() {
        if c != '`' {
            together = 0;
            continue;
        }
        if together == run {
            places.push(at);
            together = 0;
        }
        together += 1;
    }
    places
}

/// The longest run of backticks.
pub(super) fn longest_ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
