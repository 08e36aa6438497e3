//! Where things stand in a text: phrases, quotes, numbers, addresses, dates.

use super::property::Format;
use super::rest::TAKEN;
use crate::index::is_cjk;
use chrono::{DateTime, NaiveDate};
use regex::Regex;
use std::ops::Range as Span;
use std::sync::LazyLock;

/// A quoted text with and without its quotes.
#[derive(Debug, Clone)]
pub(super) struct Quote {
    pub(super) outer: Span<usize>,
    pub(super) inner: Span<usize>,
}

const SEPARATORS: [char; 3] = ['_', '-', ' '];

type Pattern = LazyLock<Option<Regex>>;

const fn pattern(build: fn() -> Option<Regex>) -> Pattern {
    LazyLock::new(build)
}

static NUMBER: Pattern = pattern(|| Regex::new(r"\d+(?:\.\d+)?").ok());
static GROUPED: Pattern = pattern(|| Regex::new(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?").ok());
static URI: Pattern = pattern(|| Regex::new(r#"(?i)[a-z][a-z0-9+.-]*://[^\s<>"“”「」，。；！？\x01]+"#).ok());
static EMAIL: Pattern = pattern(|| {
    Regex::new(r"(?i)[a-z0-9._%+-]+@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+").ok()
});
static DATE: Pattern = pattern(|| Regex::new(r"\d{4}-\d{2}-\d{2}").ok());
static DATE_TIME: Pattern =
    pattern(|| Regex::new(r"(?i)\d{4}-\d{2}-\d{2}[t ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:z|[+-]\d{2}:\d{2})").ok());
/// Things made of digits that are no number: dates, times, versions and addresses.
static NO_NUMBER: Pattern =
    pattern(|| Regex::new(r"\d{4}-\d{1,2}-\d{1,2}(?:[Tt]\S*)?|\d{1,2}:\d{2}(?::\d{2})?|\d+(?:\.\d+){2,}").ok());

fn spans(pattern: &Pattern, text: &str) -> Vec<Span<usize>> {
    pattern.as_ref().map(|p| p.find_iter(text).map(|m| m.range()).collect()).unwrap_or_default()
}

/// Quoted texts in order.
pub(super) fn quotes(text: &str) -> Vec<Quote> {
    let mut out = Vec::new();
    let mut open: Option<(usize, usize, char)> = None;
    for (at, c) in text.char_indices() {
        match open {
            Some((start, inner, close)) if c == close => {
                out.push(Quote { outer: start..at + c.len_utf8(), inner: inner..at });
                open = None;
            }
            Some(_) => {}
            None => {
                let close = match c {
                    '"' => '"',
                    '“' => '”',
                    '「' => '」',
                    _ => continue,
                };
                // One that never closes is a character like any other.
                if text.get(at + c.len_utf8()..).is_some_and(|rest| rest.contains(close)) {
                    open = Some((at, at + c.len_utf8(), close));
                }
            }
        }
    }
    out
}

/// Where a phrase stands as whole words, without case; one of CJK letters anywhere. `_`, `-` and space are equal.
pub(super) fn phrases(text: &str, phrase: &str) -> Vec<Span<usize>> {
    let lower = |c: char| c.to_lowercase().next().unwrap_or(c);
    let parts: Vec<Vec<char>> =
        phrase.split(SEPARATORS).filter(|p| !p.is_empty()).map(|p| p.chars().map(lower).collect()).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    let mut out: Vec<Span<usize>> = Vec::new();
    for (at, _) in text.char_indices() {
        let free = out.last().is_none_or(|last| last.end <= at);
        let Some(length) = text.get(at..).filter(|_| free).and_then(|t| match_length(t, &parts, lower)) else {
            continue;
        };
        if is_whole_word(text, &(at..at + length)) {
            out.push(at..at + length);
        }
    }
    out
}

/// Bytes of the parts, separated by anything that separates, at the start of a text.
fn match_length(text: &str, parts: &[Vec<char>], lower: impl Fn(char) -> char) -> Option<usize> {
    let mut rest = text;
    for (i, part) in parts.iter().enumerate() {
        let plain = rest.trim_start_matches(SEPARATORS);
        if (i > 0) == (plain.len() == rest.len()) {
            return None;
        }
        rest = plain;
        for wanted in part {
            let c = rest.chars().next().filter(|c| lower(*c) == *wanted)?;
            rest = rest.get(c.len_utf8()..)?;
        }
    }
    Some(text.len() - rest.len())
}

/// Whether no letter goes on at either end. A unit may follow its number at once: `5km`.
pub(super) fn is_whole_word(text: &str, span: &Span<usize>) -> bool {
    let Some(inside) = text.get(span.clone()) else { return false };
    let before = text.get(..span.start).and_then(|t| t.chars().next_back());
    let after = text.get(span.end..).and_then(|t| t.chars().next());
    let (first, last) = (inside.chars().next(), inside.chars().next_back());
    // The letter behind an apostrophe is no word: "I'm" names no metre.
    let mut back = text.get(..span.start).unwrap_or_default().chars().rev();
    if matches!(back.next(), Some('\'' | '’')) && back.next().is_some_and(is_latin) {
        return false;
    }
    let starts_fresh = match (before, first) {
        (Some(b), Some(f)) if is_latin(b) && is_latin(f) => b.is_numeric() && !f.is_numeric(),
        _ => true,
    };
    let ends_fresh = !matches!((last, after), (Some(l), Some(a)) if is_latin(l) && is_latin(a));
    starts_fresh && ends_fresh
}

/// A letter or digit of a script that separates its words.
fn is_latin(c: char) -> bool {
    c.is_alphanumeric() && !is_cjk(c)
}

/// Numbers with their text, sign included. `groups`: `1,000` is one number.
pub(super) fn numbers(text: &str, groups: bool) -> Vec<(Span<usize>, String)> {
    let taken: Vec<Span<usize>> = [&NO_NUMBER, &URI, &EMAIL].iter().flat_map(|p| spans(p, text)).collect();
    let found = spans(if groups { &GROUPED } else { &NUMBER }, text);
    let mut out = Vec::new();
    for span in found {
        if taken.iter().any(|t| span.start < t.end && t.start < span.end) {
            continue;
        }
        let Some(digits) = text.get(span.clone()) else { continue };
        let before = text.get(..span.start).unwrap_or_default();
        let mut back = before.chars().rev();
        let (sign, beyond) = (back.next(), back.next());
        let signed = matches!(sign, Some('-' | '+')) && beyond.is_none_or(|c| !is_latin(c) && c != '_');
        if !signed && sign.is_some_and(|c| (is_latin(c) && !c.is_numeric()) || c == '_') {
            continue;
        }
        let minus = if signed && sign == Some('-') { "-" } else { "" };
        let start = if signed { span.start - 1 } else { span.start };
        out.push((start..span.end, format!("{minus}{digits}")));
    }
    out
}

/// Values of a format.
pub(super) fn formatted(text: &str, format: Format) -> Vec<(Span<usize>, String)> {
    let found = match format {
        Format::Uri => spans(&URI, text),
        Format::Email => spans(&EMAIL, text),
        Format::Date => spans(&DATE, text),
        Format::DateTime => spans(&DATE_TIME, text),
    };
    found.into_iter().filter_map(|span| checked(text, span, format)).collect()
}

fn checked(text: &str, span: Span<usize>, format: Format) -> Option<(Span<usize>, String)> {
    let value = text.get(span.clone())?;
    match format {
        Format::Uri => {
            let value = value.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '\'', '、', TAKEN]);
            Some((span.start..span.start + value.len(), value.to_owned()))
        }
        Format::Email => Some((span, value.to_owned())),
        Format::Date => {
            NaiveDate::parse_from_str(value, "%Y-%m-%d").ok()?;
            // The date of a point in time is not a date of its own.
            let after = text.get(span.end..)?.chars().next();
            let digit_before = text.get(..span.start)?.ends_with(|c: char| c.is_ascii_digit());
            let goes_on = after.is_some_and(|c| c.is_ascii_digit() || matches!(c, 'T' | 't'));
            let in_time = spans(&DATE_TIME, text).iter().any(|t| t.start <= span.start && span.end <= t.end);
            (!goes_on && !digit_before && !in_time).then(|| (span, value.to_owned()))
        }
        Format::DateTime => {
            let value = value.to_uppercase().replace(' ', "T");
            DateTime::parse_from_rfc3339(&value).ok()?;
            Some((span, value))
        }
    }
}
