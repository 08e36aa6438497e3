//! What a typed text means as an answer.

use plugin_sdk::ports::{Question, QuestionKind};

const YES: [&str; 9] = ["y", "yes", "allow", "ok", "1", "是", "确认", "同意", "允许"];
const NO: [&str; 6] = ["n", "no", "deny", "0", "否", "拒绝"];
const CANCEL: [&str; 2] = ["cancel", "取消"];

/// Remember it, where a button has to be typed: its number, or what it is called.
const SESSION: [&str; 4] = ["2", "session", "allow for this session", "本会话内允许"];

/// Whether the whole text allows for the session.
pub(super) fn is_session(text: &str) -> bool {
    SESSION.contains(&text.trim().to_lowercase().as_str())
}

/// Yes or no, when the whole text is one of the words.
pub(super) fn yes_or_no(text: &str) -> Option<bool> {
    let word = text.trim().to_lowercase();
    if YES.contains(&word.as_str()) {
        Some(true)
    } else if NO.contains(&word.as_str()) || is_cancel(text) {
        Some(false)
    } else {
        None
    }
}

/// Whether the whole text ends a question.
pub(super) fn is_cancel(text: &str) -> bool {
    CANCEL.contains(&text.trim().to_lowercase().as_str())
}

/// The answer a text gives: its text, and the index for `pick`.
pub(super) fn value_of(question: &Question, text: &str) -> Option<(String, Option<usize>)> {
    let text = text.trim();
    match question.kind {
        QuestionKind::Text => (!text.is_empty()).then(|| (text.to_owned(), None)),
        QuestionKind::Number => is_number(text).then(|| (text.to_owned(), None)),
        QuestionKind::Confirm => yes_or_no(text).map(|yes| (if yes { "yes" } else { "no" }.to_owned(), None)),
        QuestionKind::Pick => {
            let options = &question.options;
            // A label that is itself a number means that option, not the one at that place.
            let by_label = options.iter().position(|option| option.trim() == text);
            let by_number = || text.parse::<usize>().ok()?.checked_sub(1).filter(|i| *i < options.len());
            let index = by_label.or_else(by_number)?;
            Some((options.get(index)?.trim().to_owned(), Some(index)))
        }
    }
}

/// Digits with at most a sign, a point and an exponent; `inf` and `nan` are no numbers to a person.
fn is_number(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E'))
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Why a question cannot be asked as it stands.
pub(super) fn fault_of(question: &Question) -> Option<&'static str> {
    let chars = |text: &str| text.trim().chars().count();
    let options = &question.options;
    let pick = question.kind == QuestionKind::Pick;
    let repeated = || options.iter().enumerate().any(|(i, o)| options.iter().take(i).any(|p| p.trim() == o.trim()));
    if !(1..=4000).contains(&chars(&question.question)) {
        Some("`question` must have 1 to 4000 characters")
    } else if !(1..=300).contains(&question.timeout_seconds) {
        Some("`timeout_seconds` must be 1 to 300")
    } else if !pick && !options.is_empty() {
        Some("`options` belong to `pick` only")
    } else if pick && !(2..=20).contains(&options.len()) {
        Some("`pick` needs 2 to 20 options")
    } else if options.iter().any(|option| !(1..=500).contains(&chars(option))) {
        Some("each option must have 1 to 500 characters")
    } else if pick && repeated() {
        Some("an option is there twice")
    } else if question.default_value.as_ref().is_some_and(|d| value_of(question, d).is_none()) {
        Some("`default_value` is not a valid answer")
    } else {
        None
    }
}
