//! Byte offsets to lines and columns in constant time, whatever the length of a line.

use plugin_sdk::Span;
use std::ops::Range;

/// Bytes between two counted places.
const STEP: usize = 1024;

/// Where lines start, and how many characters stand before every 1,024th byte.
#[derive(Debug)]
pub(super) struct Lines {
    starts: Vec<usize>,
    counted: Vec<usize>,
}

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        let mut starts = vec![0];
        let mut counted = vec![0];
        let mut chars = 0;
        for (i, byte) in text.bytes().enumerate() {
            if i > 0 && i % STEP == 0 {
                counted.push(chars);
            }
            // a character is counted at its first byte
            chars += usize::from(byte & 0xC0 != 0x80);
            if byte == b'\n' {
                starts.push(i + 1);
            }
        }
        Self { starts, counted }
    }

    /// Characters before a byte that is a character boundary.
    fn chars_before(&self, text: &str, byte: usize) -> usize {
        let slot = (byte / STEP).min(self.counted.len() - 1);
        let rest = &text.as_bytes()[slot * STEP..byte];
        self.counted[slot] + rest.iter().filter(|b| **b & 0xC0 != 0x80).count()
    }

    fn position(&self, text: &str, byte: usize) -> (u32, u32) {
        let byte = text.floor_char_boundary(byte.min(text.len()));
        let line = self.starts.partition_point(|s| *s <= byte).max(1);
        let start = self.starts[line - 1];
        let column = self.chars_before(text, byte) - self.chars_before(text, start) + 1;
        (line as u32, column as u32)
    }

    pub(super) fn span(&self, text: &str, range: Range<usize>) -> Span {
        let (line, column) = self.position(text, range.start);
        let (end_line, end_column) = self.position(text, range.end.max(range.start));
        Span { line, column, end_line, end_column }
    }

    /// Text of a line (from 1) without its end.
    pub(super) fn text<'t>(&self, text: &'t str, line: u32) -> Option<&'t str> {
        let index = (line as usize).checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).map_or(text.len(), |e| e - 1);
        text.get(start..end).map(|l| l.trim_end_matches('\r'))
    }
}
