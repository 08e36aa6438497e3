//! What a server is started with.

use serde::{Deserialize, Serialize};

/// Token of the bot a server has when nothing else is said.
pub const TOKEN: &str = "712345678901:AAFakeTokenOfTheFakeTelegramServer_x1";
/// Its username.
pub const USERNAME: &str = "mybot";
/// 2026-03-01T10:00:00Z.
const START: i64 = 1_772_359_200;

/// Options of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The accounts it serves.
    pub bots: Vec<BotOptions>,
    /// Seconds since 1970 at the start.
    pub start: i64,
    /// Whether time goes by itself; if not, only `advance` moves it.
    pub clock_flows: bool,
    /// Whether the rate limits are in force.
    pub rates: bool,
    /// Sizes of files.
    pub sizes: Sizes,
    /// Seconds after which a button press can no longer be answered.
    pub callback_seconds: i64,
    /// Seconds before a refused webhook push is tried again, doubled each time up to a minute.
    pub push_retry_seconds: i64,
}

/// An account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BotOptions {
    /// Its token; what stands before the colon is its id.
    pub token: String,
    /// Its username.
    pub username: String,
    /// Its name.
    pub name: String,
    /// Off: privacy mode is on, and in groups only commands, mentions and replies arrive.
    pub can_read_all_group_messages: bool,
}

/// Largest sizes, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sizes {
    /// A photo that is sent.
    pub photo: usize,
    /// Any file that is sent.
    pub upload: usize,
    /// A file that can be fetched.
    pub download: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            bots: vec![BotOptions::default()],
            start: START,
            clock_flows: true,
            rates: true,
            sizes: Sizes::default(),
            callback_seconds: 30,
            push_retry_seconds: 1,
        }
    }
}

impl Default for BotOptions {
    fn default() -> Self {
        Self {
            token: TOKEN.into(),
            username: USERNAME.into(),
            name: "My bot".into(),
            can_read_all_group_messages: false,
        }
    }
}

impl Default for Sizes {
    fn default() -> Self {
        Self { photo: 10 << 20, upload: 50 << 20, download: 20 << 20 }
    }
}

impl Options {
    /// A clock that stands still until it is moved.
    #[must_use]
    pub fn frozen(self) -> Self {
        Self { clock_flows: false, ..self }
    }

    /// No rate limits.
    #[must_use]
    pub fn unlimited(self) -> Self {
        Self { rates: false, ..self }
    }
}

impl BotOptions {
    /// The id of the account: the digits before the colon of its token.
    pub fn id(&self) -> i64 {
        self.token.split(':').next().and_then(|id| id.parse().ok()).unwrap_or(0)
    }
}
