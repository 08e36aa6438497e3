//! Room 10, `endpoint`: process-owned connections, lent by key.
//! Must not belong to a generation. Next room: `candidate`.

use plugin_sdk::{AdapterInfo, Connection, ConversationRef};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// State of a connection, as `status` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointState {
    /// Deliveries are read.
    Up,
    /// Ended.
    Stopped,
}

/// One connection of the process.
pub struct Endpoint {
    /// `kind/name`.
    pub id: String,
    /// What the adapter declares.
    pub info: AdapterInfo,
    /// Its four parts.
    pub connection: Connection,
    /// The one conversation it leads to; `None` when it leads to every one of its endpoint.
    pub place: Option<ConversationRef>,
    /// When it was connected, for `status`.
    pub since: chrono::DateTime<chrono::Utc>,
}

/// The connections of the process by id. An id may be attached by several clients of the console at once;
/// each has its own key.
#[derive(Default)]
pub struct Endpoints {
    open: RwLock<BTreeMap<String, Arc<Endpoint>>>,
}

impl Endpoints {
    /// Adds a connection under its key; replaces one of the same key.
    pub fn insert(&self, key: &str, endpoint: Arc<Endpoint>) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).insert(key.to_string(), endpoint);
    }

    /// Removes a connection.
    pub fn remove(&self, key: &str) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    /// A connection that leads to a place: of its very endpoint, else one of its platform.
    pub fn of(&self, place: &ConversationRef) -> Option<Arc<Endpoint>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let exact = format!("{}/{}", place.platform, place.endpoint);
        let found = open.values().find(|e| e.id == exact);
        found.or_else(|| open.values().find(|e| e.info.kind == place.platform)).cloned()
    }

    /// Name of the first endpoint of a platform.
    pub fn named(&self, platform: &str) -> Option<String> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let found = open.values().find(|e| e.info.kind == platform)?;
        Some(found.id.split_once('/').map_or(found.id.as_str(), |(_, name)| name).to_string())
    }

    /// All connections, by key.
    pub fn list(&self) -> Vec<Arc<Endpoint>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}
