//! What is shown of an answer that still grows: whole characters, no half marks, at most one message.

use super::parse::Document;
use super::{Fit, is_blank, split};
use plugin_sdk::RichText;
use unicode_segmentation::UnicodeSegmentation;

/// Most units of a draft, whatever the platform takes: each look at it costs at most this much.
const UNITS_MAX: usize = 16_384;
/// Bytes of source for each unit shown; marks and link targets take more room than they show.
const SOURCE_PER_UNIT: usize = 8;
/// Most marks that are closed for a draft.
const OPEN_MAX: usize = 32;

/// The draft of one answer. Its cost follows the text that came in, then the length of a message, never their product.
#[derive(Debug)]
pub struct Draft {
    fit: Fit,
    source: String,
    changed: bool,
    full: bool,
}

impl Draft {
    /// An empty draft of one message.
    pub fn new(fit: Fit) -> Self {
        let fit = Fit { limit: fit.limit.min(UNITS_MAX), ..fit }.checked();
        Self { fit, source: String::new(), changed: false, full: false }
    }

    /// More of the answer.
    pub fn push(&mut self, text: &str) {
        let room = (self.fit.limit * SOURCE_PER_UNIT).saturating_sub(self.source.len());
        if self.full || room == 0 {
            return;
        }
        let end = text.char_indices().map(|(i, c)| i + c.len_utf8()).take_while(|end| *end <= room).last();
        self.source.push_str(text.get(..end.unwrap_or(0)).unwrap_or_default());
        self.changed |= !text.is_empty();
    }

    /// Whether it shows as much as a message takes: it does not change any more.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// The text to show now, when there is any and more came in since the last look.
    pub fn show(&mut self) -> Option<RichText> {
        if !std::mem::take(&mut self.changed) || self.full {
            return None;
        }
        let shown = balanced(whole_graphemes(&self.source));
        if is_blank(&shown) {
            return None;
        }
        let flow = Document::parse(&shown).flow(&self.fit);
        let cuts = split::cuts(&flow, &self.fit, 2);
        self.full = cuts.len() > 1 || self.source.len() + 4 > self.fit.limit * SOURCE_PER_UNIT;
        cuts.first().map(|cut| split::piece(&flow, &self.fit, cut).rich)
    }
}

/// Without the last character, which the next bytes may still change; white space is finished.
fn whole_graphemes(text: &str) -> &str {
    if text.ends_with(char::is_whitespace) {
        return text;
    }
    let last = text.grapheme_indices(true).next_back().map_or(0, |(i, _)| i);
    text.get(..last).unwrap_or_default()
}

/// The text with its open inline marks closed and half of a mark left out.
fn balanced(text: &str) -> String {
    let (fenced, block) = last_block(text);
    let (done, open) = text.split_at(block);
    if fenced {
        // The parser ends an open fence by itself; half of its closing line is no code.
        let line = open.rfind('\n').map_or(0, |i| i + 1);
        let last = open.get(line..).unwrap_or_default().trim();
        let half = line > 0 && !last.is_empty() && (last.chars().all(|c| c == '`') || last.chars().all(|c| c == '~'));
        let open = if half { open.get(..line).unwrap_or_default() } else { open };
        return format!("{done}{open}");
    }
    let line = open.rfind('\n').map_or(0, |i| i + 1);
    let last = open.get(line..).unwrap_or_default().trim();
    let ruled = !last.is_empty() && (last.chars().all(|c| c == '-') || last.chars().all(|c| c == '='));
    let open = if ruled { open.get(..line).unwrap_or_default() } else { open };
    let mut inline = Inline::default();
    inline.read(open);
    format!("{done}{}", inline.closed())
}

/// Whether a fence is open at the end, and where the last block that inline marks cannot leave begins.
fn last_block(text: &str) -> (bool, usize) {
    let (mut at, mut block, mut fence): (usize, usize, Option<&str>) = (0, 0, None);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let marks = trimmed.len() - trimmed.trim_start_matches(['`', '~']).len();
        let (run, rest) = trimmed.split_at(marks);
        let one = run.chars().all(|c| run.starts_with(c));
        match fence {
            Some(open) if run.starts_with(open) && rest.trim().is_empty() => {
                (fence, block) = (None, at + line.len());
            }
            Some(_) => {}
            None if marks >= 3 && one && !(run.starts_with('`') && rest.contains('`')) => {
                (fence, block) = (Some(run), at);
            }
            None if trimmed.is_empty() => block = at + line.len(),
            None if trimmed
                .starts_with(['-', '*', '+', '#', '>', '|', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) =>
            {
                block = at;
            }
            None => {}
        }
        at += line.len();
    }
    (fence.is_some(), block)
}

/// Inline marks of one block, read once from left to right.
#[derive(Default)]
struct Inline {
    out: String,
    open: Vec<(char, usize)>,
    brackets: Vec<usize>,
    ticks: usize,
}

impl Inline {
    fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let run = if "`*_~".contains(c) { rest.len() - rest.trim_start_matches(c).len() } else { 1 };
            let taken = match c {
                '`' => match self.code(rest, run) {
                    Some(taken) => taken,
                    None => return,
                },
                '\\' if rest.len() == 1 => return,
                '\\' => {
                    let escaped = rest.chars().nth(1).map_or(0, char::len_utf8);
                    self.push(rest, 1 + escaped)
                }
                '*' | '_' | '~' => self.delimiter(c, run, rest),
                '[' => {
                    self.brackets.push(self.out.len());
                    self.push(rest, 1)
                }
                ']' => match self.target(rest) {
                    Some(taken) => taken,
                    None => return,
                },
                c => self.push(rest, c.len_utf8()),
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
    }

    fn push(&mut self, rest: &str, length: usize) -> usize {
        self.out.push_str(rest.get(..length).unwrap_or_default());
        length
    }

    /// A code span up to its end; an open one takes all that is left.
    fn code(&mut self, rest: &str, run: usize) -> Option<usize> {
        let mut at = run;
        while let Some(found) = rest.get(at..).and_then(|r| r.find('`')) {
            let inner = rest.get(at + found..).unwrap_or_default();
            let length = inner.len() - inner.trim_start_matches('`').len();
            at += found + length;
            if length == run {
                return Some(self.push(rest, at));
            }
        }
        let inside = rest.get(run..).unwrap_or_default().trim_end_matches('`');
        if !inside.trim().is_empty() {
            self.push(rest, run + inside.len());
            self.ticks = run;
        }
        None
    }

    fn delimiter(&mut self, c: char, run: usize, rest: &str) -> usize {
        let before = self.out.chars().next_back().filter(|b| !b.is_whitespace());
        let after = rest.get(run..).and_then(|r| r.chars().next());
        let Some(after) = after else {
            // At the end it may be half of a mark: what is open is closed below.
            let kept = before.is_none_or(|_| !self.open.iter().any(|(o, _)| *o == c)) && c == '*' && before.is_none();
            return if kept { self.push(rest, run) } else { run };
        };
        let after = Some(after).filter(|a| !a.is_whitespace());
        let inside_word =
            c == '_' && before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric);
        if !inside_word {
            let matching = self.open.iter().rposition(|(o, n)| *o == c && *n == run);
            if let (Some(_), Some(i)) = (before, matching) {
                self.open.truncate(i);
            } else if after.is_some() && self.open.len() < OPEN_MAX {
                self.open.push((c, run));
            }
        }
        self.push(rest, run)
    }

    /// The end of a label: a target that is not whole yet leaves the label as plain words.
    fn target(&mut self, rest: &str) -> Option<usize> {
        let bracket = self.brackets.pop();
        let target = rest.get(1..).unwrap_or_default();
        let whole = !target.is_empty() && (!target.starts_with('(') || target.contains(')'));
        if let (false, Some(at)) = (whole, bracket) {
            self.out.remove(at);
            return None;
        }
        let length = if target.starts_with('(') { target.find(')').map_or(0, |i| i + 1) } else { 0 };
        Some(self.push(rest, 1 + length))
    }

    fn closed(mut self) -> String {
        self.out.extend(std::iter::repeat_n('`', self.ticks));
        // A label that goes on is shown as words.
        if self.ticks == 0
            && let Some(at) = self.brackets.pop().filter(|at| self.out.get(at + 1..).is_some_and(|l| !l.is_empty()))
        {
            self.out.remove(at);
        }
        let words = self.out.trim_end().len();
        let tail = self.out.split_off(words);
        for (c, n) in self.open.iter().rev() {
            self.out.extend(std::iter::repeat_n(*c, *n));
        }
        self.out + &tail
    }
}
