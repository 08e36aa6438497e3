//! Parts of a document to the text of a dialect: blank lines, list marks, indents, and where marks begin and end.

use super::escape;
use super::flow::{Flow, Mark, Span};
use super::link;
use super::parse::{Kind, Part};
use super::table::{Shown, Table};
use super::{Fit, is_blank};
use plugin_sdk::Dialect;

/// Longest name of a language.
const LANGUAGE_MAX: usize = 64;
/// Longest row of backticks around code.
const TICKS_MAX: usize = 24;
/// Room of a message that a link leaves for the marks around it.
const AROUND_LINK: usize = 32;

pub(super) fn lay_out(parts: &[Part], fit: &Fit) -> Flow {
    let mut layout = Layout { fit: *fit, ..Layout::default() };
    for part in parts {
        layout.part(part);
    }
    layout.finish()
}

/// A span in the making: it starts with the first text after its opening, so that it holds no gap.
struct Slot {
    mark: Mark,
    start: Option<usize>,
    end: Option<usize>,
}

struct Opened {
    kind: Kind,
    slot: Option<usize>,
}

struct List {
    next: Option<u64>,
    indent: usize,
}

/// The mark of a list item that has shown nothing yet; `depth`: what was open around it.
struct Marker {
    text: String,
    depth: usize,
}

#[derive(Default)]
struct Layout {
    fit: Fit,
    flow: Flow,
    slots: Vec<Slot>,
    opened: Vec<Opened>,
    lists: Vec<List>,
    marker: Option<Marker>,
    /// Line ends owed before the next text.
    gap: usize,
}

impl Layout {
    fn part(&mut self, part: &Part) {
        match part {
            Part::Open(kind) => self.open(kind),
            Part::Close => self.close(),
            Part::Text(text) if matches!(self.opened.last(), Some(Opened { kind: Kind::Fence { .. }, .. })) => {
                self.block_of_code(text);
            }
            Part::Text(text) => self.text(text),
            Part::Code(code) => self.code(code),
            Part::Task(done) => self.task(*done),
            Part::Break if self.within(|k| matches!(k, Kind::Heading(_) | Kind::Link { .. })) => self.text(" "),
            Part::Break => self.gap(1),
            Part::Rule => self.rule(),
            Part::Table(table) => self.table(table),
        }
    }

    fn within(&self, wanted: impl Fn(&Kind) -> bool) -> bool {
        self.opened.iter().any(|o| wanted(&o.kind))
    }

    fn marked(&self, wanted: impl Fn(&Mark) -> bool) -> bool {
        self.opened.iter().filter_map(|o| self.slots.get(o.slot?)).any(|s| wanted(&s.mark))
    }

    fn gap(&mut self, lines: usize) {
        self.gap = self.gap.max(lines);
    }

    /// A block begins: on its own lines, unless it is the first thing of a list item.
    fn block(&mut self) {
        if self.marker.is_none() {
            self.gap(2);
        }
    }

    fn loose(&self) -> usize {
        if self.lists.is_empty() { 2 } else { 1 }
    }

    fn writes_marks(&self) -> bool {
        matches!(self.fit.dialect, Dialect::DiscordMarkdown | Dialect::Markdown)
    }

    fn open(&mut self, kind: &Kind) {
        match kind {
            Kind::Paragraph | Kind::Heading(_) | Kind::Quote => self.block(),
            Kind::Fence { .. } => self.before_code(),
            Kind::List { first } => {
                self.gap(self.loose());
                self.lists.push(List { next: *first, indent: 2 });
            }
            Kind::Item => self.item(),
            Kind::Link { .. } => self.guard_exclamation(),
            Kind::Bold | Kind::Italic | Kind::Strike => {}
        }
        let mark = self.mark(kind);
        let slot = mark.map(|mark| self.slot(mark));
        self.opened.push(Opened { kind: kind.clone(), slot });
    }

    /// A `!` before a link would make it an image.
    fn guard_exclamation(&mut self) {
        let at = self.flow.text.len().saturating_sub(1);
        let guarded = self.flow.guards.last().is_some_and(|(last, _)| *last == at);
        if self.writes_marks() && self.gap == 0 && self.flow.text.ends_with('!') && !guarded {
            self.flow.guards.push((at, '\\'));
        }
    }

    fn slot(&mut self, mark: Mark) -> usize {
        self.slots.push(Slot { mark, start: None, end: None });
        self.slots.len() - 1
    }

    /// The mark of a part in this dialect; none where it would repeat one that is open.
    fn mark(&self, kind: &Kind) -> Option<Mark> {
        let dialect = self.fit.dialect;
        let mark = match kind {
            Kind::Heading(n) if self.writes_marks() && (*n <= 3 || dialect == Dialect::Markdown) => Mark::Heading(*n),
            Kind::Heading(_) | Kind::Bold => Mark::Bold,
            Kind::Italic => Mark::Italic,
            Kind::Strike => Mark::Strike,
            Kind::Quote if matches!(dialect, Dialect::Plain | Dialect::Markdown) => return Some(Mark::Quote),
            Kind::Quote => Mark::Quote,
            Kind::Link { url } if !self.within(|k| matches!(k, Kind::Link { .. })) => Mark::Link { url: url.clone() },
            _ => return None,
        };
        let styled = matches!(mark, Mark::Bold | Mark::Italic | Mark::Strike);
        let dropped = styled && dialect == Dialect::Plain || self.marked(|m| *m == mark);
        (!dropped).then_some(mark)
    }

    fn close(&mut self) {
        let Some(opened) = self.opened.pop() else { return };
        if let Kind::Link { url } = &opened.kind {
            self.close_link(url, opened.slot);
        }
        self.end(opened.slot);
        match opened.kind {
            Kind::Paragraph | Kind::Heading(_) | Kind::Quote => self.gap(2),
            Kind::Fence { .. } => self.gap(self.loose()),
            Kind::List { .. } => {
                self.lists.pop();
                self.gap(self.loose());
            }
            Kind::Item => {
                self.settle_marker();
                self.gap(1);
            }
            _ => {}
        }
    }

    fn end(&mut self, slot: Option<usize>) {
        let end = self.flow.text.len();
        if let Some(slot) = slot.and_then(|s| self.slots.get_mut(s)) {
            slot.end.get_or_insert(end);
        }
    }

    fn item(&mut self) {
        self.settle_marker();
        self.gap(1);
        let Some(list) = self.lists.last_mut() else { return };
        let text = match &mut list.next {
            Some(n) => {
                let text = format!("{n}. ");
                *n += 1;
                text
            }
            None if self.fit.dialect == Dialect::Entities => "• ".to_string(),
            None => "- ".to_string(),
        };
        list.indent = text.chars().count();
        self.marker = Some(Marker { text, depth: self.opened.len() });
    }

    /// Shows the mark of an item that has nothing behind it on its line.
    fn settle_marker(&mut self) {
        if let Some(marker) = &mut self.marker {
            marker.text.truncate(marker.text.trim_end().len());
            self.begin(true);
        }
    }

    fn task(&mut self, done: bool) {
        let mut shown = if done { "☑ " } else { "☐ " };
        match &mut self.marker {
            Some(marker) => {
                if self.fit.dialect == Dialect::Markdown {
                    shown = if done { "[x] " } else { "[ ] " };
                }
                if marker.text == "• " {
                    marker.text.clear();
                }
                marker.text.push_str(shown);
            }
            None => self.text(shown),
        }
    }

    /// Pays the gap, the indent and the list mark that are owed before a text, and starts the spans that hold it.
    fn begin(&mut self, marker_only: bool) {
        let fresh = self.flow.text.is_empty() || self.gap > 0;
        if !self.flow.text.is_empty() {
            self.flow.text.extend(std::iter::repeat_n('\n', self.gap));
        }
        self.gap = 0;
        let marker = self.marker.take();
        let code = self.within(|k| matches!(k, Kind::Fence { .. }));
        if fresh && !code {
            let inner = self.lists.len() - usize::from(marker.is_some());
            let indent = self.lists.iter().take(inner).map(|l| l.indent).sum();
            self.flow.text.extend(std::iter::repeat_n(' ', indent));
        }
        if let Some(marker) = marker {
            self.start(marker.depth);
            self.flow.text.push_str(&marker.text);
        }
        if !marker_only {
            self.start(usize::MAX);
        }
    }

    /// Starts the spans of the outermost `depth` open parts.
    fn start(&mut self, depth: usize) {
        let at = self.flow.text.len();
        for opened in self.opened.iter().take(depth) {
            if let Some(slot) = opened.slot.and_then(|s| self.slots.get_mut(s)) {
                slot.start.get_or_insert(at);
            }
        }
    }

    fn text(&mut self, text: &str) {
        for (i, line) in text.split('\n').enumerate() {
            self.gap += usize::from(i > 0);
            if !line.is_empty() {
                self.line(line);
            }
        }
    }

    fn line(&mut self, line: &str) {
        self.begin(false);
        if !self.writes_marks() {
            self.flow.text.push_str(line);
            return;
        }
        let dialect = self.fit.dialect;
        let addresses = dialect == Dialect::DiscordMarkdown && !self.within(|k| matches!(k, Kind::Link { .. }));
        let (mut before, mut free) = (self.flow.text.chars().next_back(), 0);
        for (at, c) in line.char_indices() {
            let rest = line.get(at..).unwrap_or_default();
            if addresses && at >= free {
                free = escape::web_address(rest, before).map_or(free, |length| at + length);
            }
            if at >= free && escape::needs_backslash(dialect, before, c, rest.chars().nth(1)) {
                self.flow.guards.push((self.flow.text.len(), '\\'));
            }
            self.flow.text.push(c);
            before = Some(c);
        }
    }

    /// Code as it stands; between runs of backticks of the code a zero-width space where the dialect knows no longer marks.
    fn raw(&mut self, code: &str, ticks: usize) {
        let at = self.flow.text.len();
        if self.fit.dialect == Dialect::DiscordMarkdown {
            let places = escape::broken_ticks(code, ticks - 1);
            self.flow.guards.extend(places.into_iter().map(|i| (at + i, '\u{200b}')));
        }
        self.flow.text.push_str(code);
    }

    fn code(&mut self, code: &str) {
        let (entities, discord) = (self.fit.dialect == Dialect::Entities, self.fit.dialect == Dialect::DiscordMarkdown);
        let longest = escape::longest_ticks(code);
        let ticks = if discord { longest.min(1) + 1 } else { longest.min(TICKS_MAX) + 1 };
        // A cut may bring any backtick of the code to the edge of a piece, where it would join the marks.
        let spaced = longest > 0 || code.starts_with(' ') && code.ends_with(' ');
        // Telegram takes no code inside a link, and no style around code.
        let plain = self.fit.dialect == Dialect::Plain || entities && self.marked(|m| matches!(m, Mark::Link { .. }));
        let paused = if entities && !plain { self.pause_styles() } else { Vec::new() };
        let slot = (!plain).then(|| self.slot(Mark::Code { ticks, spaced }));
        self.opened.push(Opened { kind: Kind::Item, slot });
        self.begin(false);
        self.raw(code, ticks);
        self.opened.pop();
        self.end(slot);
        for (i, mark) in paused {
            let slot = self.slot(mark);
            if let Some(opened) = self.opened.get_mut(i) {
                opened.slot = Some(slot);
            }
        }
    }

    fn pause_styles(&mut self) -> Vec<(usize, Mark)> {
        let mut paused = Vec::new();
        for i in 0..self.opened.len() {
            let slot = self.opened.get(i).and_then(|o| o.slot);
            let mark = slot.and_then(|s| self.slots.get(s)).map(|s| s.mark.clone());
            if let Some(mark @ (Mark::Bold | Mark::Italic | Mark::Strike)) = mark {
                self.end(slot);
                paused.push((i, mark));
                if let Some(opened) = self.opened.get_mut(i) {
                    opened.slot = None;
                }
            }
        }
        paused
    }

    fn before_code(&mut self) {
        self.settle_marker();
        self.gap(self.loose());
    }

    fn block_of_code(&mut self, text: &str) {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let Some(Opened { kind: Kind::Fence { info }, .. }) = self.opened.last() else { return };
        let mut info = info.clone();
        if self.info_is_text(&info) {
            let fence = self.opened.pop();
            self.text(&std::mem::take(&mut info));
            self.opened.extend(fence);
            self.gap(1);
        }
        if self.fit.dialect == Dialect::Entities {
            info = info.split_whitespace().next().unwrap_or_default().to_string();
        }
        let discord = self.fit.dialect == Dialect::DiscordMarkdown;
        let longest = if discord { 0 } else { escape::longest_ticks(text).min(TICKS_MAX) };
        let fence = (longest + 1).max(3);
        let slot = self.slot(Mark::Pre { info, fence });
        if let Some(opened) = self.opened.last_mut() {
            opened.slot = Some(slot);
        }
        if !text.is_empty() {
            self.begin(false);
            self.raw(text, fence);
        }
    }

    /// An info string that cannot stand, or does not fit, behind the marks of its block.
    fn info_is_text(&self, info: &str) -> bool {
        match self.fit.dialect {
            Dialect::Entities => info.split_whitespace().next().is_some_and(|w| w.chars().count() > LANGUAGE_MAX),
            _ => info.contains('`') || self.fit.unit.len(info) + 4 > self.fit.limit / 2,
        }
    }

    fn rule(&mut self) {
        self.block();
        self.begin(false);
        let line = match self.fit.dialect {
            Dialect::Entities | Dialect::DiscordMarkdown => "———",
            Dialect::Markdown | Dialect::Plain => "---",
        };
        self.flow.text.push_str(line);
        self.gap(2);
    }

    fn table(&mut self, table: &Table) {
        match table.shown() {
            Shown::Columns(text) => {
                self.open(&Kind::Fence { info: String::new() });
                self.block_of_code(&text);
                self.close();
            }
            Shown::Blocks(text) => {
                self.block();
                self.text(&text);
            }
        }
        self.gap(2);
    }

    /// A target under the words where the dialect can and the link fits a piece; else beside them.
    fn close_link(&mut self, url: &str, slot: Option<usize>) {
        let Some(slot) = slot else { return };
        let label = |l: &Self| {
            let start = l.slots.get(slot).and_then(|s| s.start);
            start.and_then(|s| l.flow.text.get(s..)).unwrap_or_default().to_string()
        };
        if is_blank(&label(self)) && !url.is_empty() {
            self.opened.push(Opened { kind: Kind::Link { url: String::new() }, slot: Some(slot) });
            self.text(url);
            self.opened.pop();
        }
        let label = label(self);
        let start = self.flow.text.len() - label.len();
        let same = label == url;
        let guards = self.flow.guards.partition_point(|(at, _)| *at < start);
        let marks = if self.writes_marks() { link::in_brackets(url) } else { String::new() };
        let cost = self.fit.unit.len(&label) + self.fit.unit.len(&marks) + self.flow.guards.len() - guards;
        let fits = cost.saturating_add(AROUND_LINK) <= self.fit.limit;
        let bare = same && self.fit.dialect != Dialect::Entities;
        if link::fits_under(self.fit.dialect, url) && fits && !bare {
            return;
        }
        // Without a start there is no span.
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.start = None;
            slot.end = Some(0);
        }
        if bare && link::fits_under(self.fit.dialect, url) && self.fit.dialect == Dialect::DiscordMarkdown {
            self.flow.guards.truncate(guards);
        }
        self.text(&link::beside(&label, url));
    }

    fn finish(self) -> Flow {
        let span = |s: Slot| {
            let (start, end) = (s.start?, s.end?);
            (start < end).then_some(Span { mark: s.mark, start, end })
        };
        Flow { spans: self.slots.into_iter().filter_map(span).collect(), ..self.flow }
    }
}
