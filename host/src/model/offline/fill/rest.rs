//! The part of a message no value has used up yet.

use super::property::{Format, Kind, Property, Range, Single, text_of, truth};
use super::scan;
use serde_json::{Value, json};
use std::ops::Range as Span;

/// Stands where something was taken out: no word, no space, nothing a rule reads across.
pub(super) const TAKEN: char = '\u{1}';
const NEGATIONS: [&str; 4] = ["no", "without", "不", "不要"];

pub(super) struct Rest {
    text: String,
}

impl Rest {
    pub(super) fn new(text: &str) -> Self {
        let plain = |c: char| if c.is_control() && !c.is_whitespace() { ' ' } else { c };
        Self { text: text.chars().map(plain).collect() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn take(&mut self, span: Span<usize>) {
        let quote = scan::quotes(&self.text).into_iter().find(|q| q.inner == span);
        let span = quote.map_or(span, |q| q.outer);
        self.text.replace_range(span, &TAKEN.to_string());
    }

    /// Whether a value may stand there: outside quotes, or as a whole quoted text.
    fn free(&self, span: &Span<usize>) -> bool {
        scan::quotes(&self.text)
            .iter()
            .all(|q| q.inner == *span || span.end <= q.outer.start || span.start >= q.outer.end)
    }

    /// (a) `name=value`, `name: value`.
    pub(super) fn named(&mut self, property: &Property) -> Option<Value> {
        let (whole, text) = assigned(&self.text, property)?;
        let value = parsed(&text, &property.kind)?;
        self.text.replace_range(whole, &TAKEN.to_string());
        Some(value)
    }

    /// (b) the value that stands first, the longest of several that begin there.
    pub(super) fn choice(&mut self, values: &[Value]) -> Option<Value> {
        let hits = values.iter().flat_map(|value| {
            let spans = scan::phrases(&self.text, &text_of(value));
            spans.into_iter().map(move |span| (span, value))
        });
        let free = hits.filter(|(span, _)| self.free(span));
        let (span, value) = free.min_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)))?;
        let value = value.clone();
        self.take(span);
        Some(value)
    }

    /// (c) its name: true, after a negation false.
    pub(super) fn flag(&mut self, name: &str) -> Option<bool> {
        let span = scan::phrases(&self.text, name).into_iter().find(|span| self.free(span))?;
        let before = self.text.get(..span.start)?.trim_end_matches([' ', '_', '-']);
        let negated = NEGATIONS.iter().filter_map(|word| {
            let spans = scan::phrases(before, word);
            spans.into_iter().find(|s| s.end == before.len())
        });
        let start = negated.map(|s| s.start).min();
        self.text.replace_range(start.unwrap_or(span.start)..span.end, &TAKEN.to_string());
        Some(start.is_none())
    }

    /// (d) the next number in range.
    pub(super) fn number(&mut self, range: &Range, groups: bool) -> Option<Value> {
        let found = scan::numbers(&self.text, groups).into_iter().filter(|(span, _)| self.free(span));
        let mut fitting = found.filter_map(|(span, text)| Some((span, number(&text, range)?)));
        let (span, value) = fitting.next()?;
        self.take(span);
        Some(value)
    }

    /// (e) the next address, mail address, date or time.
    pub(super) fn formatted(&mut self, format: Format) -> Option<Value> {
        let (span, text) = scan::formatted(&self.text, format).into_iter().find(|(span, _)| self.free(span))?;
        self.take(span);
        Some(json!(text))
    }

    /// (g) the next quoted text.
    pub(super) fn quoted(&mut self) -> Option<String> {
        let quote = scan::quotes(&self.text).into_iter().find(|q| !q.inner.is_empty())?;
        let text = self.text.get(quote.inner.clone())?.to_owned();
        self.text.replace_range(quote.outer, &TAKEN.to_string());
        Some(text)
    }
}

fn assigned(text: &str, property: &Property) -> Option<(Span<usize>, String)> {
    // A list may hold commas, any other value ends at one.
    let is_list = matches!(property.kind, Kind::Many(..));
    scan::phrases(text, &property.name).into_iter().find_map(|name| {
        let behind = text.get(name.end..)?;
        let sign = behind.trim_start().strip_prefix(['=', '＝']);
        let value = sign.or_else(|| behind.strip_prefix([':', '：']))?.trim_start();
        let (inner, length) = written(value, is_list)?;
        let at = text.len() - value.len();
        Some((name.start..at + length, inner.to_owned()))
    })
}

/// A value at the start of a text, and the bytes it takes with its quotes.
fn written(text: &str, is_list: bool) -> Option<(&str, usize)> {
    for (open, close) in [('"', '"'), ('“', '”'), ('「', '」'), ('\'', '\'')] {
        let Some(inner) = text.strip_prefix(open) else { continue };
        if let Some((value, _)) = inner.split_once(close) {
            return Some((value, open.len_utf8() + value.len() + close.len_utf8()));
        }
    }
    let ends = |c: char| c.is_whitespace() || c == TAKEN || (!is_list && matches!(c, ',' | '，'));
    let bare = text.split(ends).next()?.trim_end_matches(['.', '!', '?', ';', '。', '！', '？', '；']);
    (!bare.is_empty()).then_some((bare, bare.len()))
}

fn parsed(text: &str, kind: &Kind) -> Option<Value> {
    match kind {
        Kind::Boolean => truth(text).map(Value::Bool),
        Kind::One(single) => parsed_single(text, single),
        Kind::Many(single, limit) => {
            let parts = text.split([',', '，', '、']).map(str::trim).filter(|p| !p.is_empty());
            parts.take(*limit).map(|p| parsed_single(p, single)).collect::<Option<Vec<_>>>().map(Value::Array)
        }
        Kind::Other => serde_json::from_str(text).ok(),
    }
}

fn parsed_single(text: &str, single: &Single) -> Option<Value> {
    match single {
        Single::Choice(values) => {
            let equal = |v: &&Value| scan::phrases(text, &text_of(v)).contains(&(0..text.len()));
            values.iter().find(equal).cloned()
        }
        Single::Number(range) => number(text, range),
        Single::Format(_) | Single::Text => Some(json!(text)),
    }
}

fn number(text: &str, range: &Range) -> Option<Value> {
    let text: String = text.chars().filter(|c| *c != ',').collect();
    let value: f64 = text.parse().ok().filter(|v: &f64| v.is_finite() && range.takes(*v))?;
    if let Ok(whole) = text.parse::<i64>() {
        return Some(json!(whole));
    }
    (!range.integer).then(|| json!(value))
}
