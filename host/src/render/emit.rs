//! A part of a laid out text, written in a dialect: marks opened and closed, literal characters guarded, lines quoted.

use super::fit::width;
use super::flow::{Flow, Mark, Span};
use super::link;
use plugin_sdk::{Dialect, EntityKind, RichText, TextEntity, TextUnit};
use std::borrow::Cow;

/// Longest info string that is repeated when a fence is re-opened.
const INFO_REPEATED: usize = 32;

/// A place in a flow and what is open there.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    pub(super) at: usize,
    next_span: usize,
    next_guard: usize,
    open: Vec<usize>,
}

impl Place {
    /// Moves on to a later byte.
    pub(super) fn advance(&mut self, flow: &Flow, to: usize) {
        let ended = |open: &mut Vec<usize>, at: usize| {
            while open.last().and_then(|i| flow.spans.get(*i)).is_some_and(|s| s.end <= at) {
                open.pop();
            }
        };
        while let Some(span) = flow.spans.get(self.next_span).filter(|s| s.start < to) {
            ended(&mut self.open, span.start);
            self.open.push(self.next_span);
            self.next_span += 1;
        }
        ended(&mut self.open, to);
        while flow.guards.get(self.next_guard).is_some_and(|(at, _)| *at < to) {
            self.next_guard += 1;
        }
        self.at = to;
    }
}

/// How a part is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub(super) dialect: Dialect,
    pub(super) unit: TextUnit,
    /// The text alone, for what has no room for its marks.
    pub(super) bare: bool,
}

/// Writes character by character and knows what it would cost to stop here.
pub(super) struct Emitter<'f> {
    flow: &'f Flow,
    form: Form,
    place: Place,
    /// Index of the entity of each open span.
    open_entities: Vec<usize>,
    out: RichText,
    length: usize,
    utf16: usize,
    quotes: usize,
    closing: usize,
}

impl<'f> Emitter<'f> {
    /// Starts at a place and re-opens what is open there.
    pub(super) fn new(flow: &'f Flow, form: Form, place: &Place) -> Self {
        let out = RichText::default();
        let (open_entities, place) = (Vec::new(), place.clone());
        let mut new = Self { flow, form, place, open_entities, out, length: 0, utf16: 0, quotes: 0, closing: 0 };
        for i in std::mem::take(&mut new.place.open) {
            new.open(i, true);
        }
        new
    }

    /// Units written, with what closes the open marks.
    pub(super) fn total(&self) -> usize {
        self.length + self.closing
    }

    /// Entities so far.
    pub(super) fn entities(&self) -> usize {
        self.out.entities.len()
    }

    /// Whether a link goes on after this byte.
    pub(super) fn in_link(&self, end: usize) -> bool {
        let link = |s: &Span| matches!(s.mark, Mark::Link { .. }) && s.end > end;
        self.place.open.iter().filter_map(|i| self.flow.spans.get(*i)).any(link)
    }

    /// Writes the character at a byte, after the marks that end and begin there.
    pub(super) fn step(&mut self, at: usize, c: char) {
        while let Some(span) = self.place.open.last().and_then(|i| self.flow.spans.get(*i)).filter(|s| s.end <= at) {
            self.close(span);
        }
        while self.flow.spans.get(self.place.next_span).is_some_and(|s| s.start <= at) {
            self.open(self.place.next_span, false);
            self.place.next_span += 1;
        }
        while let Some((_, guard)) = self.flow.guards.get(self.place.next_guard).filter(|(g, _)| *g <= at) {
            if self.writes_marks() {
                self.put(*guard);
            }
            self.place.next_guard += 1;
        }
        self.put(c);
    }

    /// Closes what is open.
    pub(super) fn finish(mut self) -> RichText {
        while let Some(span) = self.place.open.last().and_then(|i| self.flow.spans.get(*i)) {
            self.close(span);
        }
        self.out
    }

    fn writes_marks(&self) -> bool {
        matches!(self.form.dialect, Dialect::DiscordMarkdown | Dialect::Markdown)
    }

    fn put(&mut self, c: char) {
        self.out.text.push(c);
        self.length += width(self.form.unit, c);
        self.utf16 += c.len_utf16();
        if c == '\n' {
            for _ in 0..self.quotes {
                self.puts("> ");
            }
        }
    }

    fn puts(&mut self, text: &str) {
        for c in text.chars() {
            self.put(c);
        }
    }

    fn open(&mut self, index: usize, again: bool) {
        let Some(span) = self.flow.spans.get(index) else { return };
        self.place.open.push(index);
        if self.form.bare {
            return;
        }
        if self.form.dialect == Dialect::Entities {
            if let Some(kind) = entity(&span.mark) {
                self.open_entities.push(self.out.entities.len());
                self.out.entities.push(TextEntity { kind, offset: self.utf16, length: 0 });
            }
            return;
        }
        let text = opening(self.form.dialect, &span.mark, again);
        self.puts(&text);
        self.quotes += usize::from(span.mark == Mark::Quote);
        self.closing += self.cost_of_closing(span);
    }

    fn close(&mut self, span: &Span) {
        self.place.open.pop();
        if self.form.bare {
            return;
        }
        if self.form.dialect == Dialect::Entities {
            if entity(&span.mark).is_some()
                && let Some(entity) = self.open_entities.pop().and_then(|i| self.out.entities.get_mut(i))
            {
                entity.length = self.utf16 - entity.offset;
            }
            return;
        }
        self.closing -= self.cost_of_closing(span);
        self.quotes -= usize::from(span.mark == Mark::Quote);
        let text = closing(self.flow, self.form.dialect, span);
        self.puts(&text);
    }

    fn cost_of_closing(&self, span: &Span) -> usize {
        let text = closing(self.flow, self.form.dialect, span);
        let lines = if text.starts_with('\n') { 2 * self.quotes } else { 0 };
        self.form.unit.len(&text) + lines
    }
}

fn entity(mark: &Mark) -> Option<EntityKind> {
    Some(match mark {
        Mark::Bold => EntityKind::Bold,
        Mark::Italic => EntityKind::Italic,
        Mark::Strike => EntityKind::Strikethrough,
        Mark::Code { .. } => EntityKind::Code,
        Mark::Pre { info, .. } => EntityKind::Pre { language: (!info.is_empty()).then(|| info.clone()) },
        Mark::Link { url } => EntityKind::TextLink { url: url.clone() },
        Mark::Quote => EntityKind::Blockquote,
        Mark::Heading(_) => return None,
    })
}

fn opening(dialect: Dialect, mark: &Mark, again: bool) -> Cow<'static, str> {
    match mark {
        Mark::Quote => "> ".into(),
        Mark::Pre { info, fence } => {
            let info = if again && info.chars().count() > INFO_REPEATED { "" } else { info };
            format!("{}{info}\n", "`".repeat(*fence)).into()
        }
        _ if dialect == Dialect::Plain => "".into(),
        Mark::Heading(n) => format!("{} ", "#".repeat(usize::from(*n))).into(),
        Mark::Code { ticks, spaced } => format!("{}{}", "`".repeat(*ticks), if *spaced { " " } else { "" }).into(),
        Mark::Link { .. } => "[".into(),
        Mark::Bold => "**".into(),
        Mark::Italic => "*".into(),
        Mark::Strike => "~~".into(),
    }
}

fn closing(flow: &Flow, dialect: Dialect, span: &Span) -> Cow<'static, str> {
    match &span.mark {
        Mark::Quote | Mark::Heading(_) => "".into(),
        Mark::Pre { fence, .. } => format!("\n{}", "`".repeat(*fence)).into(),
        Mark::Link { url } if dialect == Dialect::Plain => {
            link::beside(flow.text.get(span.start..span.end).unwrap_or_default(), url).into()
        }
        _ if dialect == Dialect::Plain => "".into(),
        Mark::Code { ticks, spaced } => format!("{}{}", if *spaced { " " } else { "" }, "`".repeat(*ticks)).into(),
        Mark::Link { url } => format!("]({})", link::in_brackets(url)).into(),
        Mark::Bold => "**".into(),
        Mark::Italic => "*".into(),
        Mark::Strike => "~~".into(),
    }
}

/// What is written from a place to a byte.
pub(super) fn part(flow: &Flow, form: Form, place: &Place, end: usize) -> RichText {
    let mut emitter = Emitter::new(flow, form, place);
    for (i, c) in flow.text.get(place.at..end).unwrap_or_default().char_indices() {
        emitter.step(place.at + i, c);
    }
    emitter.finish()
}

/// A whole text without a limit; white space around it is dropped.
pub(super) fn whole(flow: &Flow, dialect: Dialect) -> RichText {
    let code = flow.code();
    let mut place = Place::default();
    place.advance(flow, super::cut::after_blank(&flow.text, &code, 0));
    let end = super::cut::before_blank(&flow.text, &code, place.at, flow.text.len());
    part(flow, Form { dialect, unit: TextUnit::Bytes, bare: false }, &place, end)
}
