//! Model and tool text is untrusted: nothing in it may steer the terminal.

/// Removes control characters but line break and tab, and shows bidirectional overrides as nothing.
pub fn clean(text: &str) -> String {
    text.chars()
        .filter(|c| {
            let steering = c.is_control() && !matches!(c, '\n' | '\t');
            let bidi = matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
            !steering && !bidi
        })
        .collect()
}
