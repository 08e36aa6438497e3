//! Room 2, `store`: the one persistence port, its backends (memory, sled), one conformance suite.
//! Must not know what a turn or a plugin is. Next room: `journal`.

mod error;
mod key;
mod memory;
mod port;

pub use error::StoreError;
pub use key::{Key, Part};
pub use port::{Op, SharedStore, Store, StoreStats, Tree, update};

use crate::task::SharedClock;

/// A store that lives as long as the process, for tests and scratch worlds.
pub fn in_memory(clock: SharedClock) -> SharedStore {
    std::sync::Arc::new(memory::MemoryStore::new(clock))
}

#[cfg(test)]
mod tests;
