//! Text cut inside a character, as models that write one token at a time do: the two halves of an emoji come in two
//! chunks, each an escape that is no text by itself. Rust cannot hold such a half, so it travels as a private
//! character and is put in its place when the chunk is written.

/// The private character of the unit `0xd800`.
const FIRST: u32 = 0xe000;
const UNITS: std::ops::Range<u32> = 0xd800..0xe000;

/// One UTF-16 unit per piece.
pub(crate) fn cut(text: &str) -> Vec<String> {
    text.encode_utf16()
        .filter_map(|unit| {
            let unit = u32::from(unit);
            let shown = if UNITS.contains(&unit) { unit - UNITS.start + FIRST } else { unit };
            char::from_u32(shown).map(String::from)
        })
        .collect()
}

/// A chunk with the halves in their place.
pub(crate) fn placed(chunk: &str) -> String {
    let mut out = String::with_capacity(chunk.len());
    for c in chunk.chars() {
        match u32::from(c).checked_sub(FIRST).map(|n| n + UNITS.start).filter(|unit| UNITS.contains(unit)) {
            Some(unit) => out.push_str(&format!("\\u{unit:04x}")),
            None => out.push(c),
        }
    }
    out
}
