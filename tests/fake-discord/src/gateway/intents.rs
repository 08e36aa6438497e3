//! Intents.

/// Guilds, channels, threads, roles.
pub const GUILDS: u64 = 1;
/// People who come and go; privileged.
pub const GUILD_MEMBERS: u64 = 1 << 1;
/// Who is online; privileged.
pub const GUILD_PRESENCES: u64 = 1 << 8;
/// Messages of guilds.
pub const GUILD_MESSAGES: u64 = 1 << 9;
/// Reactions in guilds.
pub const GUILD_MESSAGE_REACTIONS: u64 = 1 << 10;
/// Typing in guilds.
pub const GUILD_MESSAGE_TYPING: u64 = 1 << 11;
/// Private messages.
pub const DIRECT_MESSAGES: u64 = 1 << 12;
/// Private reactions.
pub const DIRECT_MESSAGE_REACTIONS: u64 = 1 << 13;
/// Private typing.
pub const DIRECT_MESSAGE_TYPING: u64 = 1 << 14;
/// What messages say; privileged.
pub const MESSAGE_CONTENT: u64 = 1 << 15;

/// Bits that mean something: 0 to 16, 20, 21, 24, 25.
pub(crate) const VALID: u64 = ((1 << 17) - 1) | (1 << 20) | (1 << 21) | (1 << 24) | (1 << 25);
