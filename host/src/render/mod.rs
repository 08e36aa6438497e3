//! Room `render`, the pure part of 23: Markdown is parsed once, laid out for a dialect, and cut into pieces that fit; pure functions.
//! Must not send, wait, or know a platform by name. Next room: `outbound`.

mod cut;
mod draft;
mod emit;
mod escape;
mod fit;
mod flow;
mod layout;
mod link;
mod parse;
mod split;
mod table;

pub use draft::Draft;
pub use fit::Fit;
pub use parse::{Document, is_blank};
pub use split::{AnswerFile, Piece, Split};

/// Markdown as plain text of any length: for channels without marks, logs, and pieces whose markup was refused.
/// Links are written `label (url)`; there are no escape characters.
pub fn plain_text(markdown: &str) -> String {
    Document::parse(markdown).text(plugin_sdk::Dialect::Plain).text
}

#[cfg(test)]
mod tests;
