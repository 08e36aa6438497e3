//! What an adapter declares about its platform.

use crate::{AdapterLimits, Dialect};
use serde::{Deserialize, Serialize};

/// What a platform can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Ability {
    Edit,
    Delete,
    React,
    Typing,
    Buttons,
    Commands,
    Threads,
    MediaIn,
    MediaOut,
    Reply,
    Roles,
    Stream,
}

/// What an adapter declares about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdapterInfo {
    /// Adapter kind = platform name.
    pub kind: String,
    /// Limits.
    pub limits: AdapterLimits,
    /// Abilities.
    pub abilities: Vec<Ability>,
    /// Dialect.
    pub dialect: Dialect,
}

impl AdapterInfo {
    /// Whether it has an ability.
    pub fn can(&self, ability: Ability) -> bool {
        self.abilities.contains(&ability)
    }
}
