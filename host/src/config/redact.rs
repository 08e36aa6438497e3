//! The registry of secret values and the filter every sink puts its text through.

use arc_swap::ArcSwap;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Shorter values are words that would blank half a log.
const MIN_CHARS: usize = 6;

/// Forms of one secret that must not leave the process, longest first.
type Forms = Vec<String>;

/// Known secrets. Values are only ever added: one that was replaced may still be in flight.
#[derive(Default)]
pub struct Redactor {
    forms: ArcSwap<Forms>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} forms)", self.forms.load().len())
    }
}

impl Redactor {
    /// One that knows only the shapes every token has.
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// Adds a value; one shorter than six characters is ignored.
    pub fn register(&self, secret: &str) {
        if secret.chars().count() < MIN_CHARS {
            return;
        }
        let added = forms_of(secret);
        self.forms.rcu(|known| {
            let all: BTreeSet<&String> = known.iter().chain(&added).collect();
            let mut all: Forms = all.into_iter().cloned().collect();
            all.sort_by_key(|form| std::cmp::Reverse(form.len()));
            all
        });
    }

    /// The text without secrets.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = Cow::Borrowed(text);
        for form in self.forms.load().iter() {
            if out.contains(form.as_str()) {
                out = Cow::Owned(out.replace(form.as_str(), REDACTED));
            }
        }
        if let Some(shorter) = without_shapes(&out) {
            out = Cow::Owned(shorter);
        }
        out
    }

    /// A text that still grows, without secrets and without an end that may be the beginning of one.
    pub fn redact_unfinished(&self, text: &str) -> String {
        let mut out = self.redact(text).into_owned();
        let begun = self.forms.load().iter().filter_map(|form| beginning_of(form, &out)).max();
        let keep = out.len() - begun.unwrap_or(0).max(bearer_begun(&out));
        out.truncate(keep);
        out
    }

    /// A text in place.
    pub fn redact_text(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.redact(text) {
            *text = clean;
        }
    }

    /// Every text of a value in place, keys too.
    pub fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact_text(text),
            Value::Array(list) => list.iter_mut().for_each(|v| self.redact_value(v)),
            Value::Object(map) => self.redact_map(map),
            _ => {}
        }
    }

    /// As `redact_value`, on an object.
    pub fn redact_map(&self, map: &mut Map<String, Value>) {
        if map.keys().any(|key| matches!(self.redact(key), Cow::Owned(_))) {
            *map = std::mem::take(map).into_iter().map(|(key, v)| (self.redact(&key).into_owned(), v)).collect();
        }
        map.values_mut().for_each(|v| self.redact_value(v));
    }
}

/// Bytes at the end of a text that are the beginning of `form`, and not all of it.
fn beginning_of(form: &str, text: &str) -> Option<usize> {
    let longest = form.len().saturating_sub(1).min(text.len());
    (1..=longest).rev().find(|n| form.is_char_boundary(*n) && text.ends_with(&form[..*n]))
}

/// Bytes at the end of a text that begin what follows `Bearer `, too few yet to be taken out.
fn bearer_begun(text: &str) -> usize {
    let lower = text.to_ascii_lowercase();
    let Some(at) = lower.rfind("bearer ").map(|at| at + "bearer ".len()) else { return 0 };
    let tail = &text[at..];
    if tail.len() < MIN_CHARS && !tail.contains(char::is_whitespace) { tail.len() } else { 0 }
}

fn forms_of(secret: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::from([secret.to_string()]);
    let quoted = serde_json::Value::String(secret.into()).to_string();
    forms.insert(quoted.trim_matches('"').to_string());
    let percent = percent_encoded(secret);
    forms.insert(percent.replace("%20", "+"));
    forms.insert(lower_escapes(&percent));
    forms.insert(percent);
    for shift in 0..3 {
        for alphabet in [STANDARD, URL_SAFE] {
            forms.insert(base64_inside(secret.as_bytes(), shift, alphabet));
        }
    }
    forms.retain(|form| form.chars().count() >= MIN_CHARS);
    forms
}

/// Everything but letters, digits and the marks a web address never escapes.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A text as a part of a web address.
pub fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

fn lower_escapes(text: &str) -> String {
    let mut escape = 0;
    text.chars()
        .map(|c| {
            let inside = escape > 0;
            escape = if c == '%' { 2 } else { usize::saturating_sub(escape, 1) };
            if inside { c.to_ascii_lowercase() } else { c }
        })
        .collect()
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The characters of a base64 text that depend on nothing but these bytes, `shift` bytes after a boundary.
fn base64_inside(bytes: &[u8], shift: usize, alphabet: &[u8; 64]) -> String {
    let bits = shift * 8..(shift + bytes.len()) * 8;
    let bit = |at: usize| (bytes[at / 8 - shift] >> (7 - at % 8)) & 1;
    let (first, last) = (bits.start.div_ceil(6), bits.end / 6);
    (first..last)
        .map(|sextet| {
            let value = (0..6).fold(0usize, |v, i| v << 1 | usize::from(bit(sextet * 6 + i)));
            char::from(alphabet[value])
        })
        .collect()
}

/// `Bearer …` and `bot<digits>:<token>`, whoever they belong to; `None` when there is none.
fn without_shapes(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let bearers = lower.match_indices("bearer ").filter_map(|(at, word)| bearer(text, at + word.len()));
    let bots = lower.match_indices("bot").filter_map(|(at, word)| bot_token(text, at + word.len()));
    let mut ranges: Vec<(usize, usize)> = bearers.chain(bots).filter(|(s, e)| &text[*s..*e] != REDACTED).collect();
    if ranges.is_empty() {
        return None;
    }
    ranges.sort_unstable();
    let mut out = String::new();
    let mut done = 0;
    for (start, end) in ranges {
        if start >= done {
            out.push_str(&text[done..start]);
            out.push_str(REDACTED);
        }
        done = done.max(end);
    }
    out.push_str(&text[done..]);
    Some(out)
}

fn bearer(text: &str, start: usize) -> Option<(usize, usize)> {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | '<' | '>' | ')');
    let end = text[start..].find(ends).map_or(text.len(), |l| start + l);
    (end - start >= MIN_CHARS).then_some((start, end))
}

fn bot_token(text: &str, start: usize) -> Option<(usize, usize)> {
    let digits = text[start..].bytes().take_while(u8::is_ascii_digit).count();
    let token = text[start + digits..].strip_prefix(':')?;
    let length = token.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')).count();
    (digits > 0 && length > 0).then_some((start, start + digits + 1 + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_secret() {
        let redactor = Redactor::new();
        redactor.register("p@ss wörd/1");
        redactor.register("short");
        for text in
            ["x p@ss wörd/1 y", "x p%40ss%20w%C3%B6rd%2F1 y", "x p%40ss%20w%c3%b6rd%2f1 y", "x p%40ss+w%C3%B6rd%2F1 y"]
        {
            assert_eq!(redactor.redact(text), "x [redacted] y");
        }
        // base64 of "p@ss wörd/1", "a:p@ss wörd/1" and "ab:p@ss wörd/1"
        for text in ["cEBzcyB3w7ZyZC8x", "YTpwQHNzIHfDtnJkLzE=", "YWI6cEBzcyB3w7ZyZC8x"] {
            assert!(redactor.redact(text).contains(REDACTED), "{text}");
        }
        assert_eq!(redactor.redact("a short word"), "a short word");
    }

    #[test]
    fn a_growing_text_holds_back_the_beginning_of_a_secret() {
        let redactor = Redactor::new();
        redactor.register("s3cr3t-wört");
        let whole = "It is s3cr3t-wört, and Bearer abcdefgh too.";
        for end in (0..=whole.len()).filter(|n| whole.is_char_boundary(*n)) {
            let shown = redactor.redact_unfinished(&whole[..end]);
            assert!(!shown.contains("s3") && !shown.contains("abc"), "{shown}");
            assert!(redactor.redact(whole).starts_with(shown.as_str()), "{shown}");
        }
        assert_eq!(redactor.redact_unfinished(whole), "It is [redacted], and Bearer [redacted] too.");
    }

    #[test]
    fn tokens_by_shape() {
        let redactor = Redactor::new();
        assert_eq!(
            redactor.redact("GET https://h/bot123:AAb-_9/getMe and Authorization: Bearer abc.def-123, bearer zzzzzzz"),
            "GET https://h/bot[redacted]/getMe and Authorization: Bearer [redacted], bearer [redacted]"
        );
        assert_eq!(redactor.redact("robot 5: a bearer of news bot12"), "robot 5: a bearer of news bot12");
        let once = redactor.redact("Bearer abcdefgh").into_owned();
        assert_eq!(redactor.redact(&once), once);
    }

    proptest::proptest! {
        #[test]
        fn the_secret_never_stays(secret in "\\PC{6,20}", before in "\\PC{0,20}", after in "\\PC{0,20}") {
            let redactor = Redactor::new();
            redactor.register(&secret);
            let text = format!("{before}{secret}{after}");
            proptest::prop_assert!(!redactor.redact(&text).contains(&secret));
        }
    }
}
