//! Permissions: bits, and how Discord computes what a member may do in a channel.

use crate::id::Id;
use crate::model::{Channel, Guild, Member};

/// Bits of a permission set.
pub mod bits {
    /// Add reactions.
    pub const ADD_REACTIONS: u64 = 1 << 6;
    /// Everything.
    pub const ADMINISTRATOR: u64 = 1 << 3;
    /// See the channel.
    pub const VIEW_CHANNEL: u64 = 1 << 10;
    /// Write.
    pub const SEND_MESSAGES: u64 = 1 << 11;
    /// Delete and change other people's messages.
    pub const MANAGE_MESSAGES: u64 = 1 << 13;
    /// Attach files.
    pub const ATTACH_FILES: u64 = 1 << 15;
    /// Read older messages.
    pub const READ_MESSAGE_HISTORY: u64 = 1 << 16;
    /// Ping everyone and every role.
    pub const MENTION_EVERYONE: u64 = 1 << 17;
    /// Start threads that all see.
    pub const CREATE_PUBLIC_THREADS: u64 = 1 << 35;
    /// Start threads for invited people.
    pub const CREATE_PRIVATE_THREADS: u64 = 1 << 36;
    /// Write in threads.
    pub const SEND_MESSAGES_IN_THREADS: u64 = 1 << 38;
    /// What `@everyone` has in a new guild: all of the above but managing, pinging everyone and administering.
    pub const EVERYONE: u64 = ADD_REACTIONS
        | VIEW_CHANNEL
        | SEND_MESSAGES
        | ATTACH_FILES
        | READ_MESSAGE_HISTORY
        | CREATE_PUBLIC_THREADS
        | CREATE_PRIVATE_THREADS
        | SEND_MESSAGES_IN_THREADS
        | (1 << 14)
        | (1 << 31);
    /// Every bit.
    pub const ALL: u64 = (1 << 53) - 1;
}

/// What a member may do in the guild as a whole.
pub(crate) fn base(guild: &Guild, member: &Member) -> u64 {
    if guild.owner == member.user {
        return bits::ALL;
    }
    let held = guild.roles.values().filter(|r| r.id == guild.id || member.roles.contains(&r.id));
    let sum = held.fold(0, |sum, role| sum | role.permissions);
    if sum & bits::ADMINISTRATOR != 0 { bits::ALL } else { sum }
}

/// What a member may do in a channel; for a thread, `channel` is its parent.
pub(crate) fn within(guild: &Guild, member: &Member, channel: &Channel) -> u64 {
    let mut may = base(guild, member);
    if may == bits::ALL {
        return may;
    }
    let of = |id: Id| channel.overwrites.iter().find(move |o| o.id == id);
    if let Some(everyone) = of(guild.id) {
        may = may & !everyone.deny | everyone.allow;
    }
    let roles = member.roles.iter().filter_map(|id| of(*id));
    let (allow, deny) = roles.fold((0, 0), |(allow, deny), o| (allow | o.allow, deny | o.deny));
    may = may & !deny | allow;
    if let Some(own) = of(member.user) {
        may = may & !own.deny | own.allow;
    }
    if may & bits::VIEW_CHANNEL == 0 { 0 } else { may }
}
