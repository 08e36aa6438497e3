//! Plain text for people: aligned tables, values of a JSON body as words.

use serde_json::Value;
use std::io::IsTerminal;

/// Narrowest last column that is still cut instead of wrapped.
const NARROW: usize = 20;

/// A table with aligned columns; on a terminal the last column is cut to its width, with `…`.
pub(crate) fn table(headers: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return "none\n".into();
    }
    let columns = headers.len();
    let cell = |row: &[String], i: usize| row.get(i).map(|c| clean(c)).unwrap_or_default();
    let widths: Vec<usize> = (0..columns)
        .map(|i| rows.iter().map(|r| width(&cell(r, i))).chain([width(headers[i])]).max().unwrap_or(0))
        .collect();
    let limit = terminal_columns();
    let mut out = String::new();
    let head: Vec<String> = headers.iter().map(|h| h.to_uppercase()).collect();
    for row in std::iter::once(&head).chain(rows) {
        let mut line = String::new();
        for (i, column) in widths.iter().enumerate() {
            let text = cell(row, i);
            if i + 1 == columns {
                line.push_str(&cut(&text, limit, width(&line)));
            } else {
                line.push_str(&text);
                line.push_str(&" ".repeat(column - width(&text) + 2));
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn cut(text: &str, limit: Option<usize>, used: usize) -> String {
    let Some(room) = limit.map(|l| l.saturating_sub(used).max(NARROW)).filter(|room| width(text) > *room) else {
        return text.to_string();
    };
    let mut out = String::new();
    for c in text.chars() {
        if width(&out) + 2 > room {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

fn terminal_columns() -> Option<usize> {
    let out = std::io::stdout();
    if !out.is_terminal() {
        return None;
    }
    rustix::termios::tcgetwinsize(&out).ok().map(|s| usize::from(s.ws_col)).filter(|c| *c > 0)
}

/// Columns of a terminal.
fn width(text: &str) -> usize {
    host::config::render::columns(text)
}

/// Nothing that comes from a file can steer the terminal or break a row.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The same for texts of several lines.
pub(crate) fn clean_lines(text: &str) -> String {
    adapter_console::clean(text)
}

/// A value as a word: `-` for none, lists joined.
pub(crate) fn word(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(s) if s.is_empty() => "-".into(),
        Value::String(s) => s.clone(),
        Value::Bool(b) => (if *b { "yes" } else { "no" }).into(),
        Value::Array(list) if list.is_empty() => "-".into(),
        Value::Array(list) => list.iter().map(word).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// The elements of a list; none when it is no list.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// One row per item: the named keys as words.
pub(crate) fn rows(list: &Value, keys: &[&str]) -> Vec<Vec<String>> {
    items(list).iter().map(|item| keys.iter().map(|k| word(&item[*k])).collect()).collect()
}

/// `2026-01-02T03:04:05Z` without the fraction of a second.
pub(crate) fn moment(value: &Value) -> String {
    let text = word(value);
    match text.split_once('.') {
        Some((whole, rest)) if rest.ends_with('Z') => format!("{whole}Z"),
        _ => text,
    }
}

/// The first twelve characters of a digest.
pub(crate) fn short(value: &Value) -> String {
    word(value).chars().take(12).collect()
}

/// `1 tool`, `2 tools`.
pub(crate) fn counted(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// Whole milliseconds.
pub(crate) fn millis(value: &Value) -> String {
    value.as_f64().map_or_else(|| word(value), |ms| format!("{ms:.0}"))
}

/// One line about a reload.
pub(crate) fn record_line(record: &Value) -> String {
    let mut line = format!("reload {}: {}", word(&record["id"]), word(&record["outcome"]));
    let (from, to) = (&record["from"], &record["to"]);
    if record["outcome"] == "published" {
        match from {
            Value::Null => line.push_str(&format!(", generation {}", word(to))),
            from => line.push_str(&format!(", generation {} -> {}", word(from), word(to))),
        }
    }
    let changed = |what: &str| -> u64 {
        let kinds = record["changes"].as_object().into_iter().flat_map(|m| m.values());
        kinds.map(|k| items(&k[what]).len() as u64).sum()
    };
    let counts = [("+", changed("added")), ("-", changed("removed")), ("~", changed("changed"))];
    if counts.iter().any(|(_, n)| *n > 0) {
        let shown: Vec<String> = counts.iter().map(|(sign, n)| format!("{sign}{n}")).collect();
        line.push_str(&format!(", {}", shown.join(" ")));
    }
    if !record["failed_step"].is_null() {
        line.push_str(&format!(", refused in step {}", word(&record["failed_step"])));
    }
    let restart = items(&record["restart_keys"]);
    if !restart.is_empty() {
        line.push_str(&format!(", needs a restart of the process: {}", word(&record["restart_keys"])));
    }
    line.push_str(&format!(" ({} ms)", millis(&record["duration_ms"])));
    line
}
