//! What a piece has to fit into.

use plugin_sdk::{AdapterLimits, Dialect, TextUnit};

/// Below this a piece has no room for the marks around one character.
const LIMIT_MIN: usize = 64;
/// More entities than can be open at one place: bold, italic, strike, a link, a quote, and one to spare.
const ENTITIES_MIN: usize = 6;

/// The parameters of a split. What a mark costs follows from the dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// How text is written.
    pub dialect: Dialect,
    /// Longest piece, in `unit`.
    pub limit: usize,
    /// Unit of the limit.
    pub unit: TextUnit,
    /// Most entities of a piece.
    pub entities_max: usize,
    /// Most pieces; what is longer ends in a file.
    pub max_pieces: usize,
}

impl Fit {
    /// For messages of an adapter.
    pub fn message(dialect: Dialect, limits: &AdapterLimits, max_pieces: usize) -> Self {
        let (limit, unit, entities_max) = (limits.text_max, limits.text_unit, limits.entities_max);
        Self { dialect, limit, unit, entities_max, max_pieces }
    }

    /// For the text under a file of an adapter.
    pub fn caption(dialect: Dialect, limits: &AdapterLimits, max_pieces: usize) -> Self {
        Self { limit: limits.caption_max, ..Self::message(dialect, limits, max_pieces) }
    }

    /// The same for a platform that called a piece too long: 90 % of the limit.
    pub fn tightened(self) -> Self {
        Self { limit: self.limit / 10 * 9 + self.limit % 10 * 9 / 10, ..self }
    }

    /// No limit at all, to see a text whole.
    pub(super) fn unbounded(dialect: Dialect) -> Self {
        let (limit, entities_max) = (usize::MAX, usize::MAX);
        Self { dialect, limit, unit: TextUnit::Bytes, entities_max, max_pieces: 1 }
    }

    /// The same with a limit that leaves room for progress. A platform with few entities gets a text without marks.
    pub(super) fn checked(self) -> Self {
        let dialect = match self.dialect {
            Dialect::Entities if self.entities_max < ENTITIES_MIN => Dialect::Plain,
            other => other,
        };
        Self { dialect, limit: self.limit.max(LIMIT_MIN), max_pieces: self.max_pieces.max(2), ..self }
    }
}

impl Default for Fit {
    fn default() -> Self {
        Self::unbounded(Dialect::Plain)
    }
}

/// Units of one character.
pub(super) fn width(unit: TextUnit, c: char) -> usize {
    match unit {
        TextUnit::Utf16 => c.len_utf16(),
        TextUnit::Chars => 1,
        TextUnit::Bytes => c.len_utf8(),
    }
}
