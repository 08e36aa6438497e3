//! Rendered text as a platform takes it: the text, and beside it what its parts are.

use serde::{Deserialize, Serialize};

/// What a part of a text is. The JSON form is that of a Telegram message entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EntityKind {
    /// Bold.
    Bold,
    /// Italic.
    Italic,
    /// Struck through.
    Strikethrough,
    /// Code within a line.
    Code,
    /// A block of code.
    Pre {
        /// Its language, when one is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<String>,
    },
    /// A link under words.
    TextLink {
        /// Where it leads.
        url: String,
    },
    /// A quote.
    Blockquote,
}

/// One marked part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextEntity {
    /// What it is.
    #[serde(flatten)]
    pub kind: EntityKind,
    /// Where it begins, in UTF-16 code units; never inside a surrogate pair.
    pub offset: usize,
    /// How long it is, in UTF-16 code units; never 0.
    pub length: usize,
}

/// A rendered text. `entities` is filled for the dialect `entities` only: sorted, outer before inner, properly nested.
///
/// ```
/// use plugin_sdk::{EntityKind, RichText, TextEntity};
/// let text = RichText {
///     text: "🎩 hi".into(),
///     entities: vec![TextEntity { kind: EntityKind::Bold, offset: 3, length: 2 }],
/// };
/// assert_eq!(
///     serde_json::to_string(&text).unwrap(),
///     r#"{"text":"🎩 hi","entities":[{"type":"bold","offset":3,"length":2}]}"#
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RichText {
    /// What is shown (`entities`, `plain`) or written with marks (the Markdown dialects).
    pub text: String,
    /// What its parts are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<TextEntity>,
}

impl RichText {
    /// A text without entities.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), entities: Vec::new() }
    }
}
