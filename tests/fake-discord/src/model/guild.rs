//! People and guilds.

use crate::id::Id;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// Id.
    pub id: Id,
    /// Name.
    pub name: String,
    /// Whether it is a program.
    #[serde(default)]
    pub bot: bool,
    /// Whether it refuses direct messages of bots.
    #[serde(default)]
    pub dm_closed: bool,
}

/// A role of a guild; the one with the guild's id is `@everyone`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// Id.
    pub id: Id,
    /// Name.
    pub name: String,
    /// Bits of what it allows.
    #[serde(default)]
    pub permissions: u64,
    /// Whether anyone may ping it.
    #[serde(default)]
    pub mentionable: bool,
}

/// A person in a guild.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Member {
    /// Who.
    pub user: Id,
    /// Roles but `@everyone`.
    pub roles: Vec<Id>,
    /// Since when, Unix milliseconds.
    pub joined_ms: u64,
}

/// A guild.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Guild {
    /// Id.
    pub id: Id,
    /// Name.
    pub name: String,
    /// Owner.
    pub owner: Id,
    /// Level of boosts, 0 to 3; it raises the upload limit.
    pub premium_tier: u8,
    /// Roles.
    pub roles: BTreeMap<Id, Role>,
    /// Members.
    pub members: BTreeMap<Id, Member>,
}

impl Guild {
    /// Largest file of a message, bytes.
    pub fn upload_max(&self) -> usize {
        match self.premium_tier {
            0 | 1 => 10 << 20,
            2 => 50 << 20,
            _ => 100 << 20,
        }
    }
}
