//! Text rules: encoding, line ends, front matter.

use crate::config::doc::span_of;
use plugin_sdk::{Diagnostic, Span};

/// Bytes to text: UTF-8, one leading BOM dropped, CRLF and lone CR read as LF.
/// The finding has its span when there is a line to point at; the caller adds the file.
pub(super) fn decode(bytes: &[u8]) -> Result<String, Box<Diagnostic>> {
    if let Some(name) = wide_encoding(bytes) {
        return Err(encoding(format!("the file is {name}, at byte offset 0")));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").map_or((bytes, 0), |rest| (rest, 3));
    let (bytes, dropped) = bytes;
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => {
            let at = e.valid_up_to();
            let byte = bytes.get(at).copied().unwrap_or(0);
            let d = encoding(format!("the file is not UTF-8: byte 0x{byte:02x} at byte offset {}", at + dropped));
            let before = String::from_utf8_lossy(&bytes[..at]);
            return Err(Box::new(d.span(span_of(&before, at..at))));
        }
    };
    let text = if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_string() };
    if let Some(at) = text.find('\0') {
        let d = Diagnostic::error("text::nul", "the text contains a NUL character")
            .help("remove it; a text file holds no binary data")
            .span(span_of(&text, at..at + 1));
        return Err(Box::new(d));
    }
    Ok(text)
}

fn encoding(message: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("text::encoding", message).help("save the file as UTF-8"))
}

/// The name of a UTF-16 or UTF-32 form, by its mark or by zero bytes at every second place.
fn wide_encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] => return Some("UTF-32 (little endian)"),
        [0, 0, 0xfe, 0xff, ..] => return Some("UTF-32 (big endian)"),
        [0xff, 0xfe, ..] => return Some("UTF-16 (little endian)"),
        [0xfe, 0xff, ..] => return Some("UTF-16 (big endian)"),
        _ => {}
    }
    let head = &bytes[..bytes.len().min(64) & !1];
    if head.len() < 4 {
        return None;
    }
    let zero = |odd: usize| head.iter().skip(odd).step_by(2).all(|b| *b == 0);
    match (zero(0), zero(1)) {
        (false, true) => Some("UTF-16 (little endian, without a mark)"),
        (true, false) => Some("UTF-16 (big endian, without a mark)"),
        _ => None,
    }
}

/// A text cut into front matter and body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FrontMatter<'a> {
    /// YAML between the two lines.
    pub(super) yaml: &'a str,
    /// What follows.
    pub(super) body: &'a str,
}

/// Lines before the YAML: the opening `---`.
pub(super) const YAML_LINE_OFFSET: u32 = 1;

/// Splits at the first two lines `---`; the second may be the last line without a line end.
pub(super) fn front_matter(text: &str) -> Result<FrontMatter<'_>, Box<Diagnostic>> {
    let fault = |message: &str, line: u32, width: u32| {
        let span = Span { line, column: 1, end_line: line, end_column: width + 1 };
        Box::new(
            Diagnostic::error("text::front-matter", message)
                .help("begin the file with a line `---`, then the keys, then another line `---`")
                .span(span),
        )
    };
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or("");
    if first.trim_end() != "---" {
        let width = first.trim_end().chars().count() as u32;
        return Err(fault("the file does not begin with front matter", 1, width));
    }
    let start = first.len();
    let mut at = start;
    for line in lines {
        if line.trim_end() == "---" {
            return Ok(FrontMatter { yaml: &text[start..at], body: &text[at + line.len()..] });
        }
        at += line.len();
    }
    Err(fault("the front matter is not closed by a line `---`", 1, 3))
}

/// Quotes `key: a: b` on text keys, so that the value is read to the end of its line.
/// Returns the YAML to parse and a finding for each line (lines of `yaml`, not of the file).
pub(super) fn quote_colons(yaml: &str, text_keys: &[&str]) -> (String, Vec<Diagnostic>) {
    let mut out = String::with_capacity(yaml.len());
    let mut found = Vec::new();
    for (n, line) in yaml.split_inclusive('\n').enumerate() {
        let bare = line.trim_end();
        match colon_value(bare, text_keys) {
            Some((key, value)) => {
                let start = bare.len() - value.len();
                out.push_str(&bare[..start]);
                out.push_str(&quoted(value));
                out.push_str(&line[bare.len()..]);
                let column = bare[..start].chars().count() as u32 + 1;
                let line = n as u32 + 1 + YAML_LINE_OFFSET;
                let end_column = column + value.chars().count() as u32;
                found.push(
                    Diagnostic::warning(
                        "text::unquoted-colon",
                        format!("the value of `{key}` contains `: ` and is read to the end of the line"),
                    )
                    .help("put the value in quotes")
                    .span(Span { line, column, end_line: line, end_column }),
                );
            }
            None => out.push_str(line),
        }
    }
    (out, found)
}

/// Key and value of a line that YAML would read as a nested table.
fn colon_value<'a>(line: &'a str, text_keys: &[&str]) -> Option<(&'a str, &'a str)> {
    let (key, rest) = line.split_once(':')?;
    if !text_keys.contains(&key) || !rest.starts_with([' ', '\t']) {
        return None;
    }
    let value = rest.trim_start();
    let special = value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!']);
    let nested = value.contains(": ") || value.contains(":\t") || value.ends_with(':');
    if special || value.contains(" #") || !nested { None } else { Some((key, value)) }
}

fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}
