//! The nearest known word to an unknown one.

/// Most edits between a word and its suggestion.
const MAX_DISTANCE: usize = 3;

/// The nearest candidate: at most three edits and at most half the word's length, the first in
/// alphabetical order among equals.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let length = word.chars().count();
    candidates
        .into_iter()
        .filter_map(|c| edits(word, c).map(|d| (d, c)))
        .filter(|(d, _)| d * 2 <= length)
        .min()
        .map(|(_, c)| c.to_string())
}

/// A help sentence: the nearest candidate, else all of them.
pub fn nearest_help<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = candidates.into_iter().collect();
    known.sort_unstable();
    known.dedup();
    if let Some(hit) = nearest(word, known.iter().copied()) {
        return format!("did you mean `{hit}`?");
    }
    match known.is_empty() {
        true => "nothing is known here".into(),
        false => format!("known here: {}", quoted(&known)),
    }
}

/// `a`, `b` and so on.
pub fn quoted(words: &[&str]) -> String {
    words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
}

/// Levenshtein distance in characters; `None` when it is over the limit.
fn edits(a: &str, b: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > MAX_DISTANCE {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let swap = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = swap.min(corner + 1).min(row[j] + 1);
        }
        // every later row is at least as large as the smallest entry of this one
        if row.iter().min().is_some_and(|m| *m > MAX_DISTANCE) {
            return None;
        }
    }
    row.last().copied().filter(|d| *d <= MAX_DISTANCE)
}
