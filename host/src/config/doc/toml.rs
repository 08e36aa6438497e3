//! TOML with spans.

use super::{Fault, Key, Lines, Node, NodeKind};
use ::toml::Spanned;
use ::toml::de::{DeString, DeTable, DeValue};
use plugin_sdk::Span;
use std::ops::Range;

pub(super) fn parse(text: &str, lines: &Lines) -> Result<Node, Vec<Fault>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { text, lines, faults: Vec::new() };
    for error in errors {
        let span = error.span().unwrap_or(text.len()..text.len());
        reader.fault(span, error.message());
    }
    let kind = reader.table(table.get_ref());
    if reader.faults.is_empty() {
        return Ok(Node::new(kind, Span { line: 1, column: 1, end_line: 1, end_column: 1 }));
    }
    reader.faults.sort_by_key(|f| f.span);
    Err(reader.faults)
}

struct Reader<'t> {
    text: &'t str,
    lines: &'t Lines,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn fault(&mut self, range: Range<usize>, message: &str) {
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        self.faults.push(Fault { span: self.lines.span(self.text, range), message, help: None });
    }

    fn table(&mut self, table: &DeTable<'_>) -> NodeKind {
        NodeKind::Table(table.iter().map(|(k, v)| (self.key(k), self.value(v))).collect())
    }

    fn key(&self, key: &Spanned<DeString<'_>>) -> Key {
        Key { name: key.get_ref().to_string(), span: self.lines.span(self.text, key.span()) }
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>) -> Node {
        let kind = match value.get_ref() {
            DeValue::String(s) => NodeKind::Str(s.to_string()),
            DeValue::Boolean(b) => NodeKind::Bool(*b),
            DeValue::Datetime(d) => NodeKind::Date(d.to_string()),
            DeValue::Integer(i) => match i64::from_str_radix(i.as_str(), i.radix()) {
                Ok(n) => NodeKind::Number(n as f64, Some(i128::from(n))),
                Err(_) => {
                    self.fault(value.span(), "an integer must fit into 64 bits");
                    NodeKind::Null
                }
            },
            DeValue::Float(f) => match f.as_str().parse::<f64>() {
                Ok(n) => NodeKind::Number(n, None),
                Err(_) => {
                    self.fault(value.span(), "not a number");
                    NodeKind::Null
                }
            },
            DeValue::Array(a) => NodeKind::Array(a.iter().map(|v| self.value(v)).collect()),
            DeValue::Table(t) => self.table(t),
        };
        Node::new(kind, self.lines.span(self.text, value.span()))
    }
}
