//! Which part of a line may be shown: values of secrets, environments, headers and URLs never are.

use super::{Node, NodeKind};
use std::collections::HashMap;

/// First hidden column (from 1) by line.
pub(super) type Masks = HashMap<u32, u32>;

/// Tables and keys whose every value is hidden.
const WHOLE: [&str; 12] = [
    "env",
    "environment",
    "header",
    "headers",
    "secret",
    "secrets",
    "authorization",
    "password",
    "passwd",
    "url",
    "uri",
    "apikey",
];

/// Endings of keys whose value is hidden.
const ENDINGS: [&str; 8] = ["token", "secret", "password", "_key", "-key", "_url", "-url", "credentials"];

fn is_hidden(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    WHOLE.contains(&key.as_str()) || ENDINGS.iter().any(|e| key.ends_with(e))
}

/// Walks the tree once.
pub(super) fn masks(root: &Node) -> Masks {
    let mut out = Masks::new();
    walk(root, false, &mut out);
    out
}

fn walk(node: &Node, hidden: bool, out: &mut Masks) {
    match &node.kind {
        NodeKind::Table(entries) => {
            for (key, child) in entries {
                walk(child, hidden || is_hidden(&key.name), out);
            }
        }
        NodeKind::Array(items) => items.iter().for_each(|i| walk(i, hidden, out)),
        NodeKind::Str(text) if hidden || text.contains("://") => {
            hide(out, node.span.line, node.span.column);
            for line in node.span.line + 1..=node.span.end_line {
                hide(out, line, 1);
            }
        }
        NodeKind::Number(..) if hidden => hide(out, node.span.line, node.span.column),
        _ => {}
    }
}

fn hide(out: &mut Masks, line: u32, column: u32) {
    let slot = out.entry(line).or_insert(column);
    *slot = (*slot).min(column);
}

/// The line up to a column, then `…`.
pub(super) fn cut(line: &str, column: u32) -> String {
    let mut shown: String = line.chars().take(column.saturating_sub(1) as usize).collect();
    shown.push('…');
    shown
}

/// The same for a line of a text that could not be read, where only the words can tell.
pub(super) fn by_text(line: &str) -> String {
    let Some(at) = line.find(['=', ':']) else {
        return if line.contains("://") { "…".into() } else { line.to_string() };
    };
    let (key, rest) = line.split_at(at);
    let word = key.trim().trim_matches(['"', '\'', '{', '-', ' ']);
    let mentions = WHOLE.iter().chain(&ENDINGS).any(|w| rest.to_ascii_lowercase().contains(w));
    if is_hidden(word) || mentions || rest.contains("://") || rest.contains("${") {
        let column = line[..at].chars().count() as u32 + 2;
        return cut(line, column);
    }
    line.to_string()
}
