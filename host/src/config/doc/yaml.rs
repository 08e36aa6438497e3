//! One YAML 1.2 document with spans and budgets. Anchors, aliases, tags and equal keys are refused:
//! front matter needs none of them, and each is a way to make a small text large or two-faced.

use super::{Fault, Key, Node, NodeKind};
use plugin_sdk::Span;
use saphyr_parser::{Event, Parser, ScalarStyle};

const MAX_BYTES: usize = 16 * 1024;
const MAX_NODES: usize = 2000;
const MAX_DEPTH: usize = 64;

pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    let start = Span { line: 1, column: 1, end_line: 1, end_column: 1 };
    if text.len() > MAX_BYTES {
        return Err(fault(start, "the front matter is longer than 16 KiB"));
    }
    let mut reader = Reader { text, open: Vec::new(), root: None, nodes: 0 };
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => reader.event(event, place(span))?,
            Err(error) => {
                let mark = *error.marker();
                let span = place(saphyr_parser::Span::new(mark, mark));
                return Err(fault(span, error.info()));
            }
        }
    }
    Ok(reader.root.unwrap_or_else(|| Node::new(NodeKind::Table(Vec::new()), start)))
}

fn place(span: saphyr_parser::Span) -> Span {
    Span {
        line: span.start.line().max(1) as u32,
        column: span.start.col() as u32 + 1,
        end_line: span.end.line().max(1) as u32,
        end_column: span.end.col() as u32 + 1,
    }
}

fn fault(span: Span, message: impl Into<String>) -> Fault {
    Fault { span, message: message.into(), help: None }
}

/// A list or table that is not closed yet.
enum Open {
    List(Span, Vec<Node>),
    Table(Span, Vec<(Key, Node)>, Option<Key>),
}

struct Reader<'t> {
    text: &'t str,
    open: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        match event {
            Event::Alias(_) => Err(fault(span, "an alias is not allowed here; write the value out")),
            Event::Scalar(text, style, anchor, tag) => {
                self.admit(anchor, tag.is_some(), span)?;
                self.scalar(&text, style == ScalarStyle::Plain, span)
            }
            Event::SequenceStart(anchor, tag) => {
                self.admit(anchor, tag.is_some(), span)?;
                self.nest(Open::List(span, Vec::new()), span)
            }
            Event::MappingStart(anchor, tag) => {
                self.admit(anchor, tag.is_some(), span)?;
                self.nest(Open::Table(span, Vec::new(), None), span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::DocumentStart(_) if self.root.is_some() => Err(fault(span, "only one document is allowed here")),
            _ => Ok(()),
        }
    }

    fn admit(&mut self, anchor: usize, tagged: bool, span: Span) -> Result<(), Fault> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(fault(span, "the front matter has more than 2,000 values"));
        }
        if anchor != 0 {
            return Err(fault(self.mark_before('&', span), "an anchor is not allowed here"));
        }
        if tagged {
            return Err(fault(self.mark_before('!', span), "a tag is not allowed here"));
        }
        Ok(())
    }

    /// Place of the word that starts with `mark` and stands before a value; a tag may begin with two marks.
    fn mark_before(&self, mark: char, value: Span) -> Span {
        let line = self.text.lines().nth(value.line.saturating_sub(1) as usize).unwrap_or_default();
        let before: Vec<char> = line.chars().take(value.column.saturating_sub(1) as usize).collect();
        let Some(at) = before.iter().rposition(|c| *c == mark) else { return value };
        let first = before[..at].iter().rposition(|c| *c != mark).map_or(0, |n| n + 1);
        let len = before[first..].iter().take_while(|c| !c.is_whitespace()).count();
        let column = |n: usize| u32::try_from(n + 1).unwrap_or(value.column);
        Span { column: column(first), end_line: value.line, end_column: column(first + len), ..value }
    }

    fn nest(&mut self, open: Open, span: Span) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err(fault(span, "values are nested deeper than 64 levels"));
        }
        if let Some(Open::Table(_, _, None)) = self.open.last() {
            return Err(fault(span, "a key must be a text"));
        }
        self.open.push(open);
        Ok(())
    }

    fn scalar(&mut self, text: &str, plain: bool, span: Span) -> Result<(), Fault> {
        if let Some(Open::Table(_, entries, key @ None)) = self.open.last_mut() {
            if let Some((first, _)) = entries.iter().find(|(k, _)| k.name == text) {
                let at = first.span.line;
                return Err(fault(
                    span,
                    format!("the key `{text}` is written twice (first on line {at} of the block)"),
                ));
            }
            *key = Some(Key { name: text.into(), span });
            return Ok(());
        }
        // `key:` without a value reaches this as a `~` that nobody wrote.
        let written = self.text.lines().nth(span.line.saturating_sub(1) as usize).unwrap_or_default();
        let text = match plain && text == "~" && !written.contains('~') {
            true => "",
            false => text,
        };
        let node = match plain {
            true => Node { kind: resolve(text), span, plain: Some(text.into()) },
            false => Node::new(NodeKind::Str(text.into()), span),
        };
        self.put(node);
        Ok(())
    }

    fn close(&mut self, end: Span) -> Result<(), Fault> {
        let until = |start: Span| Span { end_line: end.end_line, end_column: end.end_column, ..start };
        let node = match self.open.pop() {
            Some(Open::List(start, items)) => Node::new(NodeKind::Array(items), until(start)),
            Some(Open::Table(start, entries, _)) => Node::new(NodeKind::Table(entries), until(start)),
            None => return Err(fault(end, "an end without a start")),
        };
        self.put(node);
        Ok(())
    }

    fn put(&mut self, node: Node) {
        match self.open.last_mut() {
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Table(_, entries, key)) => {
                if let Some(key) = key.take() {
                    entries.push((key, node));
                }
            }
            None => self.root = Some(node),
        }
    }
}

/// The core schema of YAML 1.2: `yes` and `no` stay texts.
fn resolve(text: &str) -> NodeKind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return NodeKind::Null,
        "true" | "True" | "TRUE" => return NodeKind::Bool(true),
        "false" | "False" | "FALSE" => return NodeKind::Bool(false),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let integer = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if integer && let Ok(n) = text.parse::<i64>() {
        return NodeKind::Number(n as f64, Some(i128::from(n)));
    }
    let numeric = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.contains(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+'));
    match text.parse::<f64>() {
        Ok(n) if numeric => NodeKind::Number(n, None),
        _ => NodeKind::Str(text.into()),
    }
}
