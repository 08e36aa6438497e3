//! Markdown to terminal text with ANSI styles. Input is already free of control characters.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const ITALIC: &str = "\x1b[3m";
const UNDERLINE: &str = "\x1b[4m";
const STRIKE: &str = "\x1b[9m";
const CODE: &str = "\x1b[36m";
const RESET: &str = "\x1b[0m";

/// End of the part of a growing text that no later text can change: the last blank line outside a fence.
pub(crate) fn stable_end(text: &str) -> usize {
    let (mut end, mut at, mut fenced) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        at += line.len();
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
        } else if trimmed.is_empty() && !fenced && line.ends_with('\n') {
            end = at;
        }
    }
    end
}

/// Renders Markdown; never empty for a text that is not.
pub fn render(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut w = Writer::default();
    for event in Parser::new_ext(text, options) {
        w.event(event);
    }
    let out = w.out.trim_end().to_string();
    if out.trim().is_empty() { text.to_string() } else { out }
}

/// Rendered text for a terminal that wants no colours: the layout stays, the styles go.
pub(crate) fn without_styles(rendered: &str) -> String {
    let mut out = String::with_capacity(rendered.len());
    let mut parts = rendered.split('\x1b');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        out.push_str(part.split_once('m').map_or(part, |(_, text)| text));
    }
    out
}

#[derive(Default)]
struct Writer {
    out: String,
    styles: Vec<&'static str>,
    lists: Vec<Option<u64>>,
    quote: usize,
    code: bool,
    link: Option<String>,
    table: Option<Vec<Vec<String>>>,
    cell: Option<String>,
}

impl Writer {
    fn push(&mut self, text: &str) {
        match &mut self.cell {
            Some(cell) => cell.push_str(text),
            None => self.out.push_str(text),
        }
    }

    fn style(&mut self, style: &'static str) {
        if self.cell.is_none() {
            self.styles.push(style);
            self.out.push_str(style);
        }
    }

    fn unstyle(&mut self) {
        if self.cell.is_none() {
            self.styles.pop();
            self.out.push_str(RESET);
            for s in &self.styles {
                self.out.push_str(s);
            }
        }
    }

    fn line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn block(&mut self) {
        self.line();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") && self.lists.is_empty() {
            self.out.push('\n');
        }
        if self.lists.is_empty() {
            self.prefix();
        }
    }

    fn prefix(&mut self) {
        for _ in 0..self.quote {
            self.out.push_str("│ ");
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(t) if self.code => {
                for line in t.lines() {
                    self.out.push_str(&format!("{DIM}  {RESET}{CODE}{line}{RESET}\n"));
                }
            }
            Event::Text(t) | Event::Html(t) | Event::InlineHtml(t) => self.push(&t),
            Event::Code(t) => {
                self.style(CODE);
                self.push(&t);
                self.unstyle();
            }
            Event::SoftBreak | Event::HardBreak => {
                self.push("\n");
                let indent = "  ".repeat(self.lists.len());
                self.push(&indent);
                if self.cell.is_none() {
                    self.prefix();
                }
            }
            Event::Rule => {
                self.block();
                self.out.push_str("────────\n");
            }
            Event::TaskListMarker(done) => self.push(if done { "☑ " } else { "☐ " }),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.block(),
            Tag::Heading { level, .. } => {
                self.block();
                self.style(BOLD);
                if level == HeadingLevel::H1 {
                    self.style(UNDERLINE);
                }
            }
            Tag::BlockQuote(_) => self.quote += 1,
            Tag::CodeBlock(kind) => {
                self.block();
                if let CodeBlockKind::Fenced(info) = kind
                    && !info.is_empty()
                {
                    self.out.push_str(&format!("{DIM}{info}{RESET}\n"));
                }
                self.code = true;
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.block();
                }
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Emphasis => self.style(ITALIC),
            Tag::Strong => self.style(BOLD),
            Tag::Strikethrough => self.style(STRIKE),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some(dest_url.to_string());
                self.style(UNDERLINE);
            }
            Tag::Table(_) => {
                self.block();
                self.table = Some(Vec::new());
            }
            Tag::TableRow | Tag::TableHead => {
                if let Some(t) = &mut self.table {
                    t.push(Vec::new());
                }
            }
            Tag::TableCell => self.cell = Some(String::new()),
            _ => {}
        }
    }

    fn item(&mut self) {
        self.line();
        self.prefix();
        self.out.push_str(&"  ".repeat(self.lists.len().saturating_sub(1)));
        let mark = match self.lists.last_mut() {
            Some(Some(n)) => {
                *n += 1;
                format!("{}. ", *n - 1)
            }
            _ => "• ".to_string(),
        };
        self.out.push_str(&mark);
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.line(),
            TagEnd::Heading(level) => {
                if level == HeadingLevel::H1 {
                    self.unstyle();
                }
                self.unstyle();
                self.line();
            }
            TagEnd::BlockQuote(_) => self.quote = self.quote.saturating_sub(1),
            TagEnd::CodeBlock => {
                self.code = false;
                self.line();
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.line();
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.unstyle(),
            TagEnd::Link | TagEnd::Image => {
                self.unstyle();
                if let Some(url) = self.link.take() {
                    self.push(&format!(" ({url})"));
                }
            }
            TagEnd::TableCell => {
                if let (Some(cell), Some(row)) = (self.cell.take(), self.table.as_mut().and_then(|t| t.last_mut())) {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                if let Some(rows) = self.table.take() {
                    self.out.push_str(&table(&rows));
                }
            }
            _ => {}
        }
    }
}

/// Aligned columns, head row bold.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|s| s.width()).max().unwrap_or(0);
    let mut out = String::new();
    for (i, row) in rows.iter().enumerate() {
        let cells: Vec<String> = (0..columns)
            .map(|c| {
                let text = row.get(c).map_or("", String::as_str);
                format!("{text}{}", " ".repeat(width(c).saturating_sub(text.width())))
            })
            .collect();
        let line = cells.join("  ");
        let line = line.trim_end();
        out.push_str(&if i == 0 { format!("{BOLD}{line}{RESET}\n") } else { format!("{line}\n") });
    }
    out
}
