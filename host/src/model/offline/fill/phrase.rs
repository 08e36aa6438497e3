//! The rest of a message as the value of a text: without the words that named the tool, after the word that
//! points to it, without filler at its ends.

use super::rest::TAKEN;
use crate::index::{is_cjk, is_generic_word, is_stop_word, stem, words_of};
use std::collections::HashSet;
use std::ops::Range as Span;

const WHOLE: [&str; 7] = ["text", "message", "content", "query", "prompt", "input", "body"];
const POINTERS: [&str; 8] = ["in", "at", "on", "for", "of", "to", "from", "about"];
const CJK_POINTERS: [&str; 4] = ["在", "到", "给", "关于"];
/// What stands between the two ends of 把X…成Y.
const VERBS: [&str; 10] = ["翻译", "转换", "换算", "兑换", "改", "变", "换", "转", "译", "兑"];

/// (h) for one property.
pub(super) fn remaining(text: &str, words: &HashSet<String>, property: &str) -> Option<String> {
    let rest = without_words(text, words);
    if WHOLE.iter().any(|w| property.eq_ignore_ascii_case(w)) {
        return trimmed(&rest);
    }
    // A pointer with nothing behind it points nowhere.
    let mut after: Vec<usize> = pointers(&rest).into_iter().map(|span| span.end).collect();
    after.sort_unstable();
    let pointed = after.iter().rev().find_map(|at| named(rest.get(*at..)?));
    pointed.or_else(|| trimmed(&rest))
}

/// (h) for two properties: `from X to Y`, `X to Y`, `X in Y`, 把X…成Y.
pub(super) fn pair(text: &str, words: &HashSet<String>) -> Option<(String, String)> {
    let rest = without_words(text, words);
    cjk_pair(&rest, words).or_else(|| latin_pair(&rest))
}

fn cjk_pair(rest: &str, words: &HashSet<String>) -> Option<(String, String)> {
    let (_, after) = rest.split_once('把')?;
    let (from, to) = after.split_once('成')?;
    let mut from = without_words(from, words);
    from = from.trim_end().trim_end_matches(TAKEN).trim_end().to_owned();
    if let Some(plain) = VERBS.iter().find_map(|verb| from.strip_suffix(verb)) {
        from = plain.to_owned();
    }
    Some((trimmed(&from)?, trimmed(clause(to))?))
}

fn latin_pair(rest: &str) -> Option<(String, String)> {
    let runs: Vec<Span<usize>> = runs(rest).into_iter().filter(|(_, cjk)| !cjk).map(|(span, _)| span).collect();
    let is = |span: &Span<usize>, word: &str| rest.get(span.clone()).is_some_and(|t| t.eq_ignore_ascii_case(word));
    let from = runs.iter().position(|s| is(s, "from"));
    let start = from.and_then(|i| runs.get(i)).map_or(0, |s| s.end);
    let behind = |word: &str| runs.iter().find(|s| s.start >= start && is(s, word)).cloned();
    for middle in [behind("to"), behind("in")].into_iter().flatten() {
        let (Some(x), Some(y)) = (rest.get(start..middle.start), rest.get(middle.end..)) else { continue };
        let x = if from.is_some() { named(last_clause(x)) } else { trimmed(last_clause(x)) };
        if let (Some(x), Some(y)) = (x, named(until_pointer(clause(y)))) {
            return Some((x, y));
        }
    }
    None
}

/// The text up to the end of its clause.
fn clause(text: &str) -> &str {
    text.split([TAKEN, ',', ';', '?', '!', '\n', '，', '。', '；', '？', '！'])
        .find(|c| !c.trim().is_empty())
        .unwrap_or(text)
}

fn last_clause(text: &str) -> &str {
    text.rsplit([TAKEN, ',', ';', '\n', '，', '。']).find(|c| !c.trim().is_empty()).unwrap_or(text)
}

fn until_pointer(text: &str) -> &str {
    let first = pointers(text).into_iter().find(|s| text.get(..s.start).is_some_and(|t| trimmed(t).is_some()));
    first.and_then(|s| text.get(..s.start)).unwrap_or(text)
}

/// Runs of letters and digits, CJK ones apart.
fn runs(text: &str) -> Vec<(Span<usize>, bool)> {
    let mut out: Vec<(Span<usize>, bool)> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
        let end = at + c.len_utf8();
        match out.last_mut() {
            Some((span, cjk)) if span.end == at && *cjk == is_cjk(c) => span.end = end,
            _ => out.push((at..end, is_cjk(c))),
        }
    }
    out
}

/// The text without the words that name the tool; each leaves a space.
fn without_words(text: &str, words: &HashSet<String>) -> String {
    let mut gone: Vec<Span<usize>> = Vec::new();
    for (span, cjk) in runs(text) {
        let Some(run) = text.get(span.clone()) else { continue };
        if cjk {
            gone.extend(cjk_words(run, words).into_iter().map(|s| span.start + s.start..span.start + s.end));
        } else if names_tool(run, words) {
            gone.push(span);
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in gone {
        // Spans of CJK pairs overlap.
        if span.start > at {
            out.push_str(text.get(at..span.start).unwrap_or_default());
        }
        if span.end > at {
            out.push(' ');
            at = span.end;
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

fn names_tool(run: &str, words: &HashSet<String>) -> bool {
    let whole = stem(&run.to_lowercase());
    let parts = words_of(run);
    // The joined parts come after the single ones; a single part stands alone.
    let single = parts.len().div_ceil(2);
    words.contains(&whole) || (!parts.is_empty() && parts.iter().take(single).all(|p| words.contains(&p.term())))
}

/// Pairs of characters that are terms; a single one counts only when it stands alone.
fn cjk_words(run: &str, words: &HashSet<String>) -> Vec<Span<usize>> {
    let chars: Vec<(usize, char)> = run.char_indices().collect();
    if let [(_, only)] = chars.as_slice() {
        return words.contains(&only.to_string()).then_some(0..run.len()).into_iter().collect();
    }
    let pair = |two: &[(usize, char)]| {
        let [(start, a), (second, b)] = two else { return None };
        let term: String = [*a, *b].iter().collect();
        words.contains(&term).then(|| *start..second + b.len_utf8())
    };
    chars.windows(2).filter_map(pair).collect()
}

/// Where a word stands that points to what follows, in order.
fn pointers(text: &str) -> Vec<Span<usize>> {
    let latin = runs(text).into_iter().filter(|(span, cjk)| {
        !cjk && text.get(span.clone()).is_some_and(|run| POINTERS.iter().any(|p| run.eq_ignore_ascii_case(p)))
    });
    let cjk = CJK_POINTERS.iter().flat_map(|p| text.match_indices(p).map(|(at, hit)| at..at + hit.len()));
    let mut out: Vec<Span<usize>> = latin.map(|(span, _)| span).chain(cjk).collect();
    out.sort_by_key(|span| span.start);
    out
}

/// The same behind a word that points to a name: `New York` and `The Hague` keep their first word.
fn named(text: &str) -> Option<String> {
    let words: Vec<&str> = runs(text).into_iter().take(2).filter_map(|(span, _)| text.get(span)).collect();
    let is_name = words.len() == 2 && words.iter().all(|w| w.starts_with(char::is_uppercase));
    if is_name { edges_off(text) } else { trimmed(text) }
}

/// Without leading filler, and without punctuation and 的 at the ends; `None` when nothing is left.
fn trimmed(text: &str) -> Option<String> {
    let mut text = text.trim_matches(is_edge);
    while let Some(filler) = leading_filler(text) {
        text = text.get(filler..).unwrap_or_default().trim_matches(is_edge);
    }
    edges_off(text)
}

fn is_edge(c: char) -> bool {
    const MARKS: &str = ".,;:!?\"'()[]{}<>/\\|~`…—–-_。，、；：！？“”‘’「」『』（）《》【】的";
    c.is_whitespace() || c == TAKEN || MARKS.contains(c)
}

fn edges_off(text: &str) -> Option<String> {
    let parts = text.trim_matches(is_edge).split(TAKEN).map(str::trim).filter(|p| !p.is_empty());
    let text = parts.collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// Whether the first word says nothing by itself.
pub(super) fn starts_with_filler(text: &str) -> bool {
    leading_filler(text.trim()).is_some()
}

/// Length of a stop or generic word at the start.
fn leading_filler(text: &str) -> Option<usize> {
    let (span, cjk) = runs(text).into_iter().next().filter(|(span, _)| span.start == 0)?;
    let run = text.get(span)?;
    if cjk {
        let pair: String = run.chars().take(2).collect();
        return is_generic_word(&pair).then_some(pair.len());
    }
    let word = run.to_lowercase();
    let letter = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    (letter || is_stop_word(&word) || is_generic_word(&word)).then_some(run.len())
}
