//! What an adapter declares about its platform: how text is written, and how much of it fits.

use serde::{Deserialize, Serialize};

/// Unit of a text limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextUnit {
    /// UTF-16 code units.
    Utf16,
    /// Unicode scalars.
    Chars,
    /// Bytes.
    Bytes,
}

impl TextUnit {
    /// Length of a text in this unit.
    ///
    /// ```
    /// use plugin_sdk::TextUnit;
    /// assert_eq!([TextUnit::Utf16, TextUnit::Chars, TextUnit::Bytes].map(|u| u.len("🎩")), [2, 1, 4]);
    /// ```
    pub fn len(self, text: &str) -> usize {
        match self {
            Self::Utf16 => text.encode_utf16().count(),
            Self::Chars => text.chars().count(),
            Self::Bytes => text.len(),
        }
    }
}

/// How rendered text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Text beside entities whose offsets count UTF-16 code units.
    Entities,
    /// Discord's Markdown.
    DiscordMarkdown,
    /// CommonMark with tables, strikethrough and task lists.
    Markdown,
    /// Plain text.
    Plain,
}

/// Shortest time between two edits of one message, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditInterval {
    /// In a private conversation.
    pub private: u64,
    /// In a group or a channel.
    pub group: u64,
}

impl EditInterval {
    /// The same everywhere.
    pub const fn same(ms: u64) -> Self {
        Self { private: ms, group: ms }
    }
}

/// Most requests a platform takes. `None`: it names no such limit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SendRate {
    /// In one conversation, per second.
    pub per_chat_per_s: Option<f64>,
    /// In one group, per minute.
    pub per_group_per_min: Option<f64>,
    /// By the account, per second.
    pub total_per_s: Option<f64>,
}

/// Limits an adapter declares. Start from [`AdapterLimits::text`] and name what differs.
///
/// ```
/// use plugin_sdk::{AdapterLimits, TextUnit};
/// let limits = AdapterLimits { caption_max: 1024, ..AdapterLimits::text(4096, TextUnit::Utf16) };
/// assert_eq!((limits.text_max, limits.buttons_per_row), (4096, 0));
/// ```
// SHAPE: 07 §2
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdapterLimits {
    /// Longest text of one message, in `text_unit`.
    pub text_max: usize,
    /// Unit of the text and the caption.
    pub text_unit: TextUnit,
    /// Longest text under a file, in `text_unit`.
    pub caption_max: usize,
    /// Most entities of one message.
    pub entities_max: usize,
    /// Longest id of a button, in bytes.
    pub action_id_max_bytes: usize,
    /// Most buttons in a row; 0 when there are none.
    pub buttons_per_row: usize,
    /// Most rows of buttons.
    pub button_rows: usize,
    /// Largest file that is shown as an image, in bytes.
    pub image_max: u64,
    /// Largest file that can be sent, in bytes.
    pub upload_max: u64,
    /// Largest file that can be fetched, in bytes.
    pub download_max: u64,
    /// Most files of one album.
    pub album_max: usize,
    /// Seconds after which typing has to be shown again; 0 when it stays.
    pub typing_refresh_s: u64,
    /// Time between two edits.
    pub edit_interval_ms: EditInterval,
    /// Most requests.
    pub rate: SendRate,
    /// Most menu commands.
    pub commands_max: usize,
    /// Whether a repeated send with the same key is recognised.
    pub idempotent_send: bool,
}

impl AdapterLimits {
    /// Limits of a platform that knows text alone: no buttons, no files, no menu, no rate.
    pub const fn text(text_max: usize, text_unit: TextUnit) -> Self {
        Self {
            text_max,
            text_unit,
            caption_max: 0,
            entities_max: 0,
            action_id_max_bytes: 0,
            buttons_per_row: 0,
            button_rows: 0,
            image_max: 0,
            upload_max: 0,
            download_max: 0,
            album_max: 0,
            typing_refresh_s: 0,
            edit_interval_ms: EditInterval::same(0),
            rate: SendRate { per_chat_per_s: None, per_group_per_min: None, total_per_s: None },
            commands_max: 0,
            idempotent_send: false,
        }
    }
}
