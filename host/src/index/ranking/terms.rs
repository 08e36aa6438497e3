//! Text to weighted terms.

use unicode_normalization::UnicodeNormalization;

/// Weight of a single CJK character beside its bigrams.
const CHARACTER: f64 = 0.2;

const STOP: &str = "a an the in of to for is are be and or my me i please with on at it its you your can could would do \
    does did what how who when where which from by this that s t m re ll";

const GENERIC: &str = "get set show list find make create give tell use return run do tool tools need want help new one \
    some any all 帮我 一下 请问 什么 怎么 可以 我想 这个 那个 如何";

/// A word of a text, case-folded, before stemming.
#[derive(Debug, Clone, PartialEq)]
pub struct Word {
    /// Text.
    pub text: String,
    /// 1, or 0.2 for a single CJK character.
    pub weight: f64,
    /// Made of Han, kana or Hangul.
    pub cjk: bool,
}

impl Word {
    /// The term it counts as.
    pub fn term(&self) -> String {
        if self.cjk { self.text.clone() } else { stem(&self.text) }
    }

    /// Dropped from queries: a stop word, or one letter.
    pub fn is_dropped(&self) -> bool {
        !self.cjk && (is_stop_word(&self.text) || is_single_letter(&self.text))
    }
}

/// Whether a case-folded word carries nothing in a query.
pub fn is_stop_word(word: &str) -> bool {
    STOP.split_ascii_whitespace().any(|s| s == word)
}

/// Whether a case-folded word (or CJK pair) says nothing about what is wanted.
pub fn is_generic_word(word: &str) -> bool {
    GENERIC.split_ascii_whitespace().any(|s| s == word)
}

fn is_single_letter(word: &str) -> bool {
    let mut chars = word.chars();
    matches!((chars.next(), chars.next()), (Some(c), None) if c.is_alphabetic())
}

/// Han, kana or Hangul.
pub fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x11FF | 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3031..=0x3035 | 0x3038..=0x303B
        | 0x3040..=0x30FF | 0x3130..=0x318F | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xA960..=0xA97F
        | 0xAC00..=0xD7FF | 0xF900..=0xFAFF | 0x1B000..=0x1B16F | 0x20000..=0x3FFFF)
}

/// The words of a text in order, repeats included.
pub fn words_of(text: &str) -> Vec<Word> {
    let mut out = Vec::new();
    let mut run: Vec<char> = Vec::new();
    let mut cjk = false;
    for c in text.nfkc() {
        let here = is_cjk(c);
        if !run.is_empty() && (here != cjk || !c.is_alphanumeric()) {
            push_run(&run, cjk, &mut out);
            run.clear();
        }
        if c.is_alphanumeric() {
            run.push(c);
            cjk = here;
        }
    }
    push_run(&run, cjk, &mut out);
    out
}

fn push_run(run: &[char], cjk: bool, out: &mut Vec<Word>) {
    if cjk {
        out.extend(run.windows(2).map(|pair| Word { text: pair.iter().collect(), weight: 1.0, cjk }));
        out.extend(run.iter().map(|c| Word { text: c.to_string(), weight: CHARACTER, cjk }));
        return;
    }
    let parts = parts_of(run);
    let word = |text: String| Word { text: text.to_lowercase(), weight: 1.0, cjk };
    out.extend(parts.iter().map(|p| word(p.iter().collect())));
    out.extend(parts.windows(2).map(|two| word(two.iter().copied().flatten().collect())));
}

/// Cuts a run at ASCII case: `aB`, `1B`, and before `Bc` in `ABc`.
fn parts_of(run: &[char]) -> Vec<&[char]> {
    let mut parts = Vec::new();
    let mut start = 0;
    for i in 1..run.len() {
        let (before, here) = (run[i - 1], run[i]);
        let raised = (before.is_ascii_lowercase() || before.is_ascii_digit()) && here.is_ascii_uppercase();
        let next_word = before.is_ascii_uppercase()
            && here.is_ascii_uppercase()
            && run.get(i + 1).is_some_and(char::is_ascii_lowercase);
        if raised || next_word {
            parts.push(&run[start..i]);
            start = i;
        }
    }
    if start < run.len() {
        parts.push(&run[start..]);
    }
    parts
}

/// The stem of a case-folded word; only words of at least four letters a–z change, `news` never.
pub fn stem(word: &str) -> String {
    if word.len() < 4 || word == "news" || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return word.to_string();
    }
    let mut w = word.to_string();
    plural(&mut w);
    suffix(&mut w);
    if w.len() > 3 && w.ends_with('e') {
        w.pop();
    }
    if w.len() > 3 && w.ends_with('y') {
        w.pop();
        w.push('i');
    }
    w
}

fn plural(w: &mut String) {
    if w.ends_with("ies") {
        w.truncate(w.len() - 3);
        w.push('y');
    } else if ["sses", "xes", "zes", "ches", "shes"].iter().any(|e| w.ends_with(e)) {
        w.truncate(w.len() - 2);
    } else if w.ends_with('s') && !w.ends_with("ss") && !w.ends_with("us") {
        w.pop();
    }
}

fn suffix(w: &mut String) {
    let cut = match () {
        () if w.ends_with("ing") => 3,
        () if w.ends_with("ed") && !w.ends_with("eed") => 2,
        () => return,
    };
    let rest = &w[..w.len() - cut];
    if rest.len() < 3 || !rest.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
        return;
    }
    w.truncate(w.len() - cut);
    let mut tail = w.bytes().rev();
    if let (Some(a), Some(b)) = (tail.next(), tail.next())
        && a == b
        && !matches!(a, b'l' | b's' | b'z')
    {
        w.pop();
    }
}
