//! How a server starts.

use crate::clock::Time;

/// What a text is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LengthUnit {
    /// Unicode scalar values, as Discord's API.
    #[default]
    Scalars,
    /// UTF-16 units, as Discord's own clients: stricter.
    Utf16,
}

/// The settings of the bot's account and of the server.
#[derive(Debug, Clone)]
pub struct Options {
    /// Token of the bot.
    pub token: String,
    /// How time passes.
    pub time: Time,
    /// What the 2,000 characters are counted in.
    pub unit: LengthUnit,
    /// Whether the developer portal grants the message content intent.
    pub message_content: bool,
    /// Whether it grants the server members intent.
    pub members: bool,
    /// Whether it grants the presence intent.
    pub presences: bool,
    /// Whether requests are counted and refused with 429.
    pub rates: bool,
    /// Time between two heartbeats, milliseconds.
    pub heartbeat_ms: u64,
    /// How much later than that a heartbeat may come, in real time, milliseconds.
    pub grace_ms: u64,
    /// Time that must lie between two identifies, milliseconds; Discord has 5,000, tests that restart a bot 0.
    pub identify_ms: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            token: crate::seed::TOKEN.into(),
            time: Time::Running,
            unit: LengthUnit::Scalars,
            message_content: true,
            members: false,
            presences: false,
            rates: true,
            heartbeat_ms: 41_250,
            grace_ms: 20_000,
            identify_ms: 0,
        }
    }
}
