//! A laid out text: what is shown, beside it what its parts are, and where something is written to keep it literal.

/// What a part of the text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    Bold,
    Italic,
    Strike,
    Heading(u8),
    /// `ticks`: number of backticks that no run inside has; `spaced`: a space stands between them and the code.
    Code {
        ticks: usize,
        spaced: bool,
    },
    /// `fence`: number of backticks that no run inside has.
    Pre {
        info: String,
        fence: usize,
    },
    Link {
        url: String,
    },
    Quote,
}

impl Mark {
    pub(super) fn is_code(&self) -> bool {
        matches!(self, Self::Code { .. } | Self::Pre { .. })
    }
}

/// A marked part, in bytes of the text; never empty, properly nested, outer before inner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) mark: Mark,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The text of one document in one dialect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Flow {
    pub(super) text: String,
    pub(super) spans: Vec<Span>,
    /// Characters written before the one at this byte: a backslash, or a zero-width space inside code.
    pub(super) guards: Vec<(usize, char)>,
}

impl Flow {
    /// Parts that are code, in order; white space in them means something.
    pub(super) fn code(&self) -> Code {
        Code(self.spans.iter().filter(|s| s.mark.is_code()).map(|s| (s.start, s.end)).collect())
    }
}

/// Where code is.
pub(super) struct Code(Vec<(usize, usize)>);

impl Code {
    /// Whether the character at this byte is code.
    pub(super) fn holds(&self, at: usize) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= at);
        after.checked_sub(1).and_then(|i| self.0.get(i)).is_some_and(|(_, end)| at < *end)
    }
}
