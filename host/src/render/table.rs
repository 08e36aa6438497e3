//! A table as lines of text: columns when they fit, else one block of `key: value` lines for each row.

use super::link;
use unicode_width::UnicodeWidthStr;

/// Widest table that is shown in columns; a telephone shows no more.
const COLUMNS_MAX: usize = 60;

/// Rows of cells, the head first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    links: Vec<(usize, String)>,
}

/// How a table is shown.
pub(super) enum Shown {
    Columns(String),
    Blocks(String),
}

impl Table {
    pub(super) fn row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn cell(&mut self) {
        if let Some(row) = self.rows.last_mut() {
            row.push(String::new());
        }
    }

    fn open(&mut self) -> Option<&mut String> {
        self.rows.last_mut()?.last_mut()
    }

    pub(super) fn text(&mut self, text: &str) {
        if let Some(cell) = self.open() {
            cell.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
        }
    }

    pub(super) fn link(&mut self, url: String) {
        let at = self.open().map_or(0, |cell| cell.len());
        self.links.push((at, url));
    }

    pub(super) fn link_end(&mut self) {
        let Some((at, url)) = self.links.pop() else { return };
        let Some(cell) = self.open() else { return };
        let label = cell.get(at..).unwrap_or_default();
        let shown = link::beside(label, &url);
        cell.push_str(&shown);
    }

    pub(super) fn shown(&self) -> Shown {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| self.rows.iter().filter_map(|r| r.get(c)).map(|s| s.width()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let total = widths.iter().sum::<usize>() + 3 * columns.saturating_sub(1);
        if total > COLUMNS_MAX { Shown::Blocks(self.blocks()) } else { Shown::Columns(self.columns(&widths)) }
    }

    fn columns(&self, widths: &[usize]) -> String {
        let mut lines = Vec::with_capacity(self.rows.len() + 1);
        for (i, row) in self.rows.iter().enumerate() {
            let cell = |(c, width): (usize, &usize)| {
                let text = row.get(c).map_or("", String::as_str);
                format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
            };
            lines.push(widths.iter().enumerate().map(cell).collect::<Vec<_>>().join(" | ").trim_end().to_string());
            if i == 0 {
                lines.push(widths.iter().map(|w| "-".repeat(*w)).collect::<Vec<_>>().join("-+-"));
            }
        }
        lines.join("\n")
    }

    fn blocks(&self) -> String {
        let Some((head, rows)) = self.rows.split_first() else { return String::new() };
        if rows.is_empty() {
            return head.join("\n");
        }
        // A short row is filled with empty cells, which say nothing.
        let pair = |(c, value): (usize, &String)| match head.get(c).map(String::as_str) {
            _ if value.is_empty() => None,
            None | Some("") => Some(value.clone()),
            Some(key) => Some(format!("{key}: {value}")),
        };
        let block = |row: &Vec<String>| row.iter().enumerate().filter_map(pair).collect::<Vec<_>>().join("\n");
        rows.iter().map(block).collect::<Vec<_>>().join("\n\n")
    }
}
