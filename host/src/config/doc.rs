//! A text with places: TOML, YAML or JSON read into one tree whose every key and value knows its span.

use plugin_sdk::{Diagnostic, Span};
use serde_json::{Map, Number, Value};
use std::ops::Range;
use std::sync::Arc;

/// A node of the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Where it stands.
    pub span: Span,
}

/// A key with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Text.
    pub name: String,
    /// Place.
    pub span: Span,
}

/// The kinds of node.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number; non-finite TOML floats are kept for their own finding.
    Number(f64, Option<i64>),
    /// A text.
    Str(String),
    /// A list.
    Array(Vec<Node>),
    /// A table in file order.
    Table(Vec<(Key, Node)>),
}

impl Node {
    /// The plain value; a non-finite number becomes `null`.
    pub fn value(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Bool(b) => Value::Bool(*b),
            NodeKind::Number(f, int) => match int {
                Some(i) => Value::Number((*i).into()),
                None => Number::from_f64(*f).map_or(Value::Null, Value::Number),
            },
            NodeKind::Str(s) => Value::String(s.clone()),
            NodeKind::Array(a) => Value::Array(a.iter().map(Node::value).collect()),
            NodeKind::Table(t) => {
                Value::Object(t.iter().map(|(k, v)| (k.name.clone(), v.value())).collect::<Map<_, _>>())
            }
        }
    }

    /// Child by key.
    pub fn get(&self, key: &str) -> Option<(&Key, &Node)> {
        match &self.kind {
            NodeKind::Table(t) => t.iter().find(|(k, _)| k.name == key).map(|(k, n)| (k, n)),
            _ => None,
        }
    }
}

/// A parsed document.
#[derive(Debug, Clone)]
pub struct Doc {
    /// Path relative to the bot folder, with `/`.
    pub file: String,
    /// The text as read (LF line ends, no BOM).
    pub text: Arc<str>,
    /// Root table.
    pub root: Node,
    /// Lines before the document's first line in the file (front matter starts at line 2: 1).
    pub line_offset: u32,
}

impl Doc {
    /// Value and key at a JSON pointer (`/tools/override/x`; `~1` is `/`).
    pub fn find(&self, pointer: &str) -> Option<(Option<&Key>, &Node)> {
        let mut node = &self.root;
        let mut key = None;
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            match &node.kind {
                NodeKind::Table(_) => {
                    let (k, n) = node.get(&part)?;
                    (key, node) = (Some(k), n);
                }
                NodeKind::Array(a) => {
                    node = a.get(part.parse::<usize>().ok()?)?;
                    key = None;
                }
                _ => return None,
            }
        }
        Some((key, node))
    }

    /// Attaches file, the span of the value at `pointer` (or of its nearest enclosing one) and the line's text.
    pub fn diag(&self, diagnostic: Diagnostic, pointer: &str) -> Diagnostic {
        let mut at = pointer;
        loop {
            if at.is_empty() {
                return diagnostic.file(self.file.clone());
            }
            if let Some((_, node)) = self.find(at) {
                return self.at(diagnostic, node.span);
            }
            at = at.rfind('/').map_or("", |i| &at[..i]);
        }
    }

    /// Attaches file, the span of the key at `pointer`, and the line's text.
    pub fn diag_key(&self, diagnostic: Diagnostic, pointer: &str) -> Diagnostic {
        match self.find(pointer) {
            Some((Some(key), _)) => self.at(diagnostic, key.span),
            _ => self.diag(diagnostic, pointer),
        }
    }

    /// Attaches file, a span and the line's text.
    pub fn at(&self, diagnostic: Diagnostic, span: Span) -> Diagnostic {
        let line = self.text.lines().nth((span.line - 1) as usize).map(str::to_string);
        let shifted = Span {
            line: span.line + self.line_offset,
            end_line: span.end_line + self.line_offset,
            ..span
        };
        let mut d = diagnostic.file(self.file.clone()).span(shifted);
        d.source_line = line;
        d
    }
}

/// Line and column (from 1, Unicode scalars) of a byte range.
pub fn span_of(text: &str, range: Range<usize>) -> Span {
    let (line, column) = position(text, range.start);
    let (end_line, end_column) = position(text, range.end);
    Span { line, column, end_line, end_column }
}

fn position(text: &str, byte: usize) -> (u32, u32) {
    let before = &text[..text.floor_char_boundary(byte.min(text.len()))];
    let line = before.matches('\n').count() as u32 + 1;
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    (line, before[start..].chars().count() as u32 + 1)
}
