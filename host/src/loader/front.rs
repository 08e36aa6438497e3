//! A Markdown file with front matter as a document.

use super::loading::{Findings, Loading};
use super::text::{self, YAML_LINE_OFFSET};
use super::walk::{Entry, Unstable};
use crate::config::doc::Doc;
use plugin_sdk::{Diagnostic, Span};
use std::sync::Arc;

/// Front matter as a tree, and the body.
pub(super) struct Markdown {
    pub(super) doc: Arc<Doc>,
    pub(super) body: String,
}

/// What a kind of file allows.
pub(super) struct Form {
    pub(super) kind: &'static str,
    pub(super) limit: u64,
    pub(super) text_keys: &'static [&'static str],
}

/// Reads a file; every fault is a finding.
pub(super) fn read(
    l: &mut Loading<'_, '_, '_>,
    entry: &Entry,
    form: &Form,
    findings: &mut Findings,
) -> Result<Option<Markdown>, Unstable> {
    let Some(text) = l.text(entry, form.limit, findings)? else { return Ok(None) };
    Ok(parse(&l.shown(&entry.rel), &text, form, findings))
}

/// The same from a text in hand.
pub(super) fn parse(file: &str, text: &str, form: &Form, findings: &mut Findings) -> Option<Markdown> {
    let parts = match text::front_matter(text) {
        Ok(parts) => parts,
        Err(d) => {
            findings.add(d.file(file));
            return None;
        }
    };
    let (yaml, colons) = text::quote_colons(parts.yaml, form.text_keys);
    findings.list.extend(colons.into_iter().map(|d| with_line(d, text).file(file)));
    let body = parts.body.trim_matches('\n').to_string();
    if body.trim().is_empty() {
        let line = YAML_LINE_OFFSET + parts.yaml.matches('\n').count() as u32 + 1;
        let d = Diagnostic::error(format!("{}::bad-value", form.kind), "the body is blank")
            .help("write the text below the front matter")
            .span(Span { line, column: 1, end_line: line, end_column: 4 });
        findings.add(with_line(d, text).file(file));
    }
    match Doc::parse_yaml(form.kind, file, &yaml, YAML_LINE_OFFSET) {
        Ok(doc) => Some(Markdown { doc: Arc::new(doc), body }),
        Err(faults) => {
            findings.list.extend(faults);
            None
        }
    }
}

fn with_line(mut d: Diagnostic, text: &str) -> Diagnostic {
    d.source_line = d.line.and_then(|n| text.lines().nth(n as usize - 1)).map(str::to_string);
    d
}
