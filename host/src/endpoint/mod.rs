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

    /// All connections, by key.
    pub fn list(&self) -> Vec<Arc<Endpoint>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}
