//! A text with places: TOML, YAML or JSON read into one tree whose every key and value knows its span.

mod json;
mod lines;
mod mask;
mod toml;
mod yaml;

use lines::Lines;
use plugin_sdk::{Diagnostic, Span};
use serde_json::{Map, Number, Value};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// A node of the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Where it stands.
    pub span: Span,
    /// The text of a scalar whose type the reader chose (plain YAML, a resolved `${VAR}`): a schema may choose otherwise.
    pub plain: Option<String>,
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
    /// A number; non-finite TOML floats are kept for their own finding. The second is set for integers.
    Number(f64, Option<i128>),
    /// A text.
    Str(String),
    /// A TOML date or time as written; a text in the plain value.
    Date(String),
    /// A list.
    Array(Vec<Node>),
    /// A table in file order.
    Table(Vec<(Key, Node)>),
}

impl Node {
    /// A node whose type is fixed.
    pub fn new(kind: NodeKind, span: Span) -> Self {
        Self { kind, span, plain: None }
    }

    /// The plain value; a non-finite number becomes `null`.
    pub fn value(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Bool(b) => Value::Bool(*b),
            NodeKind::Number(f, int) => {
                int.and_then(Number::from_i128).or_else(|| Number::from_f64(*f)).map_or(Value::Null, Value::Number)
            }
            NodeKind::Str(s) | NodeKind::Date(s) => Value::String(s.clone()),
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
    /// Where lines start.
    lines: Arc<Lines>,
    /// Lines of which only the part before a column is shown.
    masked: Arc<mask::Masks>,
}

impl Doc {
    /// Reads TOML; faults are `KIND::syntax`, one a line.
    pub fn parse_toml(kind: &str, file: &str, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let lines = Lines::new(text);
        match toml::parse(text, &lines) {
            Ok(root) => Ok(Self::of(file, text, root, lines, 0)),
            Err(faults) => Err(fault_list(&format!("{kind}::syntax"), file, text, 0, faults)),
        }
    }

    /// Reads one YAML document (front matter); a fault is `text::yaml`, a root that is no table `KIND::wrong-type`.
    /// `line_offset` lines stand before `text`.
    pub fn parse_yaml(kind: &str, file: &str, text: &str, line_offset: u32) -> Result<Self, Vec<Diagnostic>> {
        let lines = Lines::new(text);
        match yaml::parse(text) {
            Ok(Node { kind: NodeKind::Null, span, .. }) => {
                let root = Node::new(NodeKind::Table(Vec::new()), span);
                Ok(Self::of(file, text, root, lines, line_offset))
            }
            Ok(root) if matches!(root.kind, NodeKind::Table(_)) => Ok(Self::of(file, text, root, lines, line_offset)),
            Ok(root) => {
                let fault = Fault { span: root.span, message: "keys and values are expected here".into(), help: None };
                Err(fault_list(&format!("{kind}::wrong-type"), file, text, line_offset, vec![fault]))
            }
            Err(fault) => Err(fault_list("text::yaml", file, text, line_offset, vec![fault])),
        }
    }

    /// Reads strict JSON; faults are `KIND::syntax`.
    pub fn parse_json(kind: &str, file: &str, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let lines = Lines::new(text);
        match json::parse(text, &lines) {
            Ok(root) => Ok(Self::of(file, text, root, lines, 0)),
            Err(faults) => Err(fault_list(&format!("{kind}::syntax"), file, text, 0, faults)),
        }
    }

    fn of(file: &str, text: &str, root: Node, lines: Lines, line_offset: u32) -> Self {
        let masked = Arc::new(mask::masks(&root));
        Self { file: file.into(), text: text.into(), root, line_offset, lines: Arc::new(lines), masked }
    }

    /// The same places and text with another tree.
    pub(in crate::config) fn with_root(&self, root: Node) -> Self {
        Self { root, ..self.clone() }
    }

    /// The text of a line of the document (from 1) with secret values replaced by `…`.
    fn shown_line(&self, line: u32) -> Option<String> {
        let text = self.lines.text(&self.text, line)?;
        Some(match self.masked.get(&line) {
            Some(column) => mask::cut(text, *column),
            None => text.to_string(),
        })
    }

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
        let line = self.shown_line(span.line);
        let shifted = Span { line: span.line + self.line_offset, end_line: span.end_line + self.line_offset, ..span };
        let mut d = diagnostic.file(self.file.clone()).span(shifted);
        d.source_line = line;
        d
    }
}

/// Line and column (from 1, Unicode scalars) of a byte range.
pub fn span_of(text: &str, range: Range<usize>) -> Span {
    Lines::new(text).span(text, range)
}

/// A fault found while reading.
struct Fault {
    span: Span,
    message: String,
    help: Option<String>,
}

/// One finding per line: what follows on the same line is mostly a consequence.
fn fault_list(code: &str, file: &str, text: &str, offset: u32, faults: Vec<Fault>) -> Vec<Diagnostic> {
    let lines = Lines::new(text);
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for fault in faults {
        if !seen.insert(fault.span.line) {
            continue;
        }
        let span = Span { line: fault.span.line + offset, end_line: fault.span.end_line + offset, ..fault.span };
        let mut d = Diagnostic::error(code, fault.message).file(file).span(span);
        d.help = fault.help;
        d.source_line = lines.text(text, fault.span.line).map(mask::by_text);
        out.push(d);
    }
    out
}

#[cfg(test)]
mod tests;
