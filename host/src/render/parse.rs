//! Markdown source to a list of parts; the only place that knows the parser.

use super::flow::Flow;
use super::split::Split;
use super::table::Table;
use super::{Fit, emit, layout, link, split};
use plugin_sdk::{Dialect, RichText};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Deepest nesting that is shown; what is deeper stands on lines of its own. It bounds the indent of every line.
const NESTING_MAX: usize = 32;

/// What a part of a document is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Paragraph,
    Heading(u8),
    Quote,
    Fence { info: String },
    List { first: Option<u64> },
    Item,
    Bold,
    Italic,
    Strike,
    Link { url: String },
}

/// One step through a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Open(Kind),
    Close,
    Text(String),
    Code(String),
    Task(bool),
    Break,
    Rule,
    Table(Table),
}

/// A parsed Markdown text. Every dialect is written from the same parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    source: String,
    pub(super) parts: Vec<Part>,
}

impl Document {
    /// Parses CommonMark with tables, strikethrough and task lists. Every text is valid; control characters are left out.
    pub fn parse(source: &str) -> Self {
        let source: String = source.replace("\r\n", "\n").replace('\r', "\n").chars().filter(|c| keeps(*c)).collect();
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        let mut reader = Reader::default();
        for event in Parser::new_ext(&shallow(&source), options) {
            reader.event(event);
        }
        let parts = reader.parts;
        Self { source, parts }
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The whole text in a dialect, of any length.
    pub fn text(&self, dialect: Dialect) -> RichText {
        let flow = self.flow(&Fit::unbounded(dialect));
        emit::whole(&flow, dialect)
    }

    /// The text in pieces that fit. No piece at all when there is nothing to see.
    pub fn pieces(&self, fit: &Fit) -> Split {
        split::split(self, &fit.checked())
    }

    /// The laid out text; never blank when the source is not: what renders to nothing is shown as it was written.
    pub(super) fn flow(&self, fit: &Fit) -> Flow {
        let flow = layout::lay_out(&self.parts, fit);
        if !is_blank(&flow.text) || is_blank(&self.source) {
            return flow;
        }
        layout::lay_out(&[Part::Text(self.source.trim().to_string())], fit)
    }
}

/// Whether a text shows nothing: white space and characters without a shape.
pub fn is_blank(text: &str) -> bool {
    let shapeless = |c| {
        matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fffc}')
    };
    text.chars().all(|c| c.is_whitespace() || c.is_control() || shapeless(c))
}

fn keeps(c: char) -> bool {
    !c.is_control() || matches!(c, '\n' | '\t')
}

/// The source with the 33rd quote or list mark at the start of a line taken literally: the parser looks at every open
/// one again for every line.
fn shallow(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    for line in source.split_inclusive('\n') {
        let inner = line.trim_start_matches(['>', ' ', '\t', '-', '*', '+']);
        let marks = line.get(..line.len() - inner.len()).unwrap_or_default();
        let opens = |i: usize, c: char| {
            c == '>' || "-*+".contains(c) && marks.get(i + 1..).is_some_and(|m| m.starts_with([' ', '\t']))
        };
        let deep = marks.char_indices().filter(|(i, c)| opens(*i, *c)).nth(NESTING_MAX);
        let (head, tail) = line.split_at(deep.filter(|_| !inner.trim().is_empty()).map_or(line.len(), |(i, _)| i));
        out.push_str(head);
        if !tail.is_empty() {
            out.push('\\');
            out.push_str(tail);
        }
    }
    out
}

#[derive(Default)]
struct Reader {
    parts: Vec<Part>,
    table: Option<Table>,
    /// For each open part, whether it is shown.
    nested: Vec<bool>,
}

impl Reader {
    fn event(&mut self, event: Event<'_>) {
        if self.table.is_some() {
            return self.in_table(event);
        }
        match event {
            Event::Start(Tag::Table(_)) => self.table = Some(Table::default()),
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(t) | Event::Html(t) | Event::InlineHtml(t) => self.text(&t),
            Event::Code(t) => self.parts.push(Part::Code(t.chars().filter(|c| keeps(*c)).collect())),
            Event::SoftBreak | Event::HardBreak => self.parts.push(Part::Break),
            Event::Rule => self.parts.push(Part::Rule),
            Event::TaskListMarker(done) => self.parts.push(Part::Task(done)),
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    /// Neighbouring texts become one: what has to be escaped depends on the next character.
    fn text(&mut self, text: &str) {
        let text = text.chars().filter(|c| keeps(*c));
        match self.parts.last_mut() {
            Some(Part::Text(before)) => before.extend(text),
            _ => self.parts.push(Part::Text(text.collect())),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let kind = match tag {
            Tag::Paragraph | Tag::HtmlBlock => Kind::Paragraph,
            Tag::Heading { level, .. } => Kind::Heading(level as u8),
            Tag::BlockQuote(_) => Kind::Quote,
            Tag::CodeBlock(kind) => Kind::Fence { info: info(&kind) },
            Tag::List(first) => Kind::List { first },
            Tag::Item => Kind::Item,
            Tag::Emphasis => Kind::Italic,
            Tag::Strong => Kind::Bold,
            Tag::Strikethrough => Kind::Strike,
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => Kind::Link { url: link::clean(&dest_url) },
            _ => return,
        };
        let shown = self.nested.len() < NESTING_MAX;
        self.nested.push(shown);
        if shown {
            self.parts.push(Part::Open(kind));
        } else if !matches!(kind, Kind::Bold | Kind::Italic | Kind::Strike | Kind::Link { .. }) {
            self.parts.push(Part::Break);
        }
    }

    fn end(&mut self, tag: TagEnd) {
        let known = matches!(
            tag,
            TagEnd::Paragraph
                | TagEnd::HtmlBlock
                | TagEnd::Heading(_)
                | TagEnd::BlockQuote(_)
                | TagEnd::CodeBlock
                | TagEnd::List(_)
                | TagEnd::Item
                | TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
                | TagEnd::Link
                | TagEnd::Image
        );
        if let (TagEnd::HtmlBlock, Some(Part::Text(text))) = (tag, self.parts.last_mut()) {
            text.truncate(text.trim_end_matches('\n').len());
        }
        if known && self.nested.pop() == Some(true) {
            self.parts.push(Part::Close);
        }
    }

    fn in_table(&mut self, event: Event<'_>) {
        let Some(table) = &mut self.table else { return };
        match event {
            Event::Start(Tag::TableHead | Tag::TableRow) => table.row(),
            Event::Start(Tag::TableCell) => table.cell(),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                table.link(link::clean(&dest_url))
            }
            Event::End(TagEnd::Link | TagEnd::Image) => table.link_end(),
            Event::Text(t) | Event::Code(t) | Event::Html(t) | Event::InlineHtml(t) => table.text(&t),
            Event::SoftBreak | Event::HardBreak => table.text(" "),
            Event::End(TagEnd::Table) => {
                let table = self.table.take().unwrap_or_default();
                self.parts.push(Part::Table(table));
            }
            _ => {}
        }
    }
}

fn info(kind: &CodeBlockKind<'_>) -> String {
    match kind {
        CodeBlockKind::Fenced(info) => info.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_string(),
        CodeBlockKind::Indented => String::new(),
    }
}
