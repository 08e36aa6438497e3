//! The head of a session: what is known of it beside its history.

use super::{Owed, SessionKey};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A turn that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Running {
    /// Its id.
    pub turn_id: String,
    /// When it began.
    pub since: DateTime<Utc>,
    /// Whatever is needed to decide at the next start what becomes of it.
    pub about: Value,
}

/// How the latest turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Its id.
    pub turn_id: String,
    /// When.
    pub at: DateTime<Utc>,
    /// Its outcome as whoever ran it writes it.
    pub outcome: Value,
}

/// Head record.
// SHAPE: 08 §6
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Key.
    pub session: SessionKey,
    /// Raised by every reset; a history belongs to one epoch, those of earlier ones are the archive.
    pub epoch: u64,
    /// When the session began.
    pub created_at: DateTime<Utc>,
    /// When it was last used.
    pub used_at: DateTime<Utc>,
    /// Last position given in this epoch.
    pub last_n: u64,
    /// Turns that ended in this epoch.
    pub turns: u64,
    /// Chosen agent.
    pub agent: Option<String>,
    /// Chosen model.
    pub model: Option<String>,
    /// The turn that runs.
    pub running: Option<Running>,
    /// The turn that ended last.
    pub last: Option<Ended>,
    /// What is said or done once in a session.
    #[serde(default)]
    pub flags: Map<String, Value>,
    /// What the person is still to be told, or still to be answered, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owed: Vec<Owed>,
}

impl Head {
    pub(super) fn new(session: SessionKey, at: DateTime<Utc>) -> Self {
        Self {
            session,
            epoch: 0,
            created_at: at,
            used_at: at,
            last_n: 0,
            turns: 0,
            agent: None,
            model: None,
            running: None,
            last: None,
            flags: Map::new(),
            owed: Vec::new(),
        }
    }
}
