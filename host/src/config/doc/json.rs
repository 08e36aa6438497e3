//! JSON with spans: `serde_json` decides what is JSON, a second pass finds the places.

use super::{Fault, Key, Lines, Node, NodeKind};
use serde_json::{Number, Value};
use std::ops::Range;

pub(super) fn parse(text: &str, lines: &Lines) -> Result<Node, Vec<Fault>> {
    if let Err(error) = serde_json::from_str::<Value>(text) {
        return Err(vec![refused(text, lines, &error)]);
    }
    let mut reader = Reader { text, lines, at: 0, faults: Vec::new() };
    match reader.value(0) {
        Some(node) if reader.faults.is_empty() => Ok(node),
        Some(_) => Err(reader.faults),
        None => {
            let at = reader.at;
            reader.fault(at..at, "not JSON".into());
            Err(reader.faults)
        }
    }
}

fn refused(text: &str, lines: &Lines, error: &serde_json::Error) -> Fault {
    // serde_json counts columns in bytes
    let line = lines.text(text, error.line() as u32).unwrap_or("");
    let start = line.as_ptr() as usize - text.as_ptr().min(line.as_ptr()) as usize;
    let byte = match line.is_empty() {
        true => text.len(),
        false => start + error.column().saturating_sub(1),
    };
    let full = error.to_string();
    let message = full.rsplit_once(" at line ").map_or(full.as_str(), |(m, _)| m).to_string();
    Fault { span: lines.span(text, byte..byte + 1), message, help: None }
}

struct Reader<'t> {
    text: &'t str,
    lines: &'t Lines,
    at: usize,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn fault(&mut self, range: Range<usize>, message: String) {
        self.faults.push(Fault { span: self.lines.span(self.text, range), message, help: None });
    }

    /// The next byte that is no white space, not taken.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let hit = self.peek() == Some(byte);
        self.at += usize::from(hit);
        hit
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        // serde_json refuses more than 128 levels before this pass
        if depth > 128 {
            return None;
        }
        let first = self.peek()?;
        let start = self.at;
        let kind = match first {
            b'{' => self.table(depth)?,
            b'[' => self.list(depth)?,
            b'"' => NodeKind::Str(self.string()?.0),
            _ => self.word()?,
        };
        Some(Node::new(kind, self.lines.span(self.text, start..self.at)))
    }

    fn table(&mut self, depth: usize) -> Option<NodeKind> {
        self.at += 1;
        let mut entries: Vec<(Key, Node)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while !self.take(b'}') {
            self.peek()?;
            let (name, range) = self.string()?;
            if !seen.insert(name.clone()) {
                self.fault(range.clone(), format!("the key `{name}` is written twice"));
            }
            let span = self.lines.span(self.text, range);
            if !self.take(b':') {
                return None;
            }
            entries.push((Key { name, span }, self.value(depth + 1)?));
            self.take(b',');
        }
        Some(NodeKind::Table(entries))
    }

    fn list(&mut self, depth: usize) -> Option<NodeKind> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.take(b']') {
            items.push(self.value(depth + 1)?);
            self.take(b',');
        }
        Some(NodeKind::Array(items))
    }

    fn string(&mut self) -> Option<(String, Range<usize>)> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        while *bytes.get(end)? != b'"' {
            end += 1 + usize::from(bytes[end] == b'\\');
        }
        self.at = end + 1;
        let range = start..self.at;
        serde_json::from_str(self.text.get(range.clone())?).ok().map(|s| (s, range))
    }

    fn word(&mut self) -> Option<NodeKind> {
        let rest = self.text.get(self.at..)?;
        let length = rest.find([' ', '\n', '\t', '\r', ',', ']', '}']).unwrap_or(rest.len());
        let word = &rest[..length];
        self.at += length;
        match word {
            "null" => Some(NodeKind::Null),
            "true" => Some(NodeKind::Bool(true)),
            "false" => Some(NodeKind::Bool(false)),
            _ => {
                let number: Number = serde_json::from_str(word).ok()?;
                Some(NodeKind::Number(number.as_f64()?, number.as_i128()))
            }
        }
    }
}
