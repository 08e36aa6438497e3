//! Room 2, `store`: the one persistence port, its backends (memory, sled), one conformance suite.
//! Must not know what a turn or a plugin is. Next room: `journal`.

mod codec;
mod commit;
mod content;
mod disk;
mod durable;
mod error;
mod folder;
mod key;
mod memory;
mod open;
mod plan;
mod port;

pub use error::StoreError;
pub use folder::{DataLock, free_bytes, lock_pid, private_dir};
pub use key::{Key, Part};
pub use open::OpenOptions;
pub use port::{Op, SharedStore, Store, StoreStats, Tree, update};

use crate::task::SharedClock;
use std::sync::Arc;

/// A store that lives as long as the process, for tests and scratch worlds.
pub fn in_memory(clock: SharedClock) -> SharedStore {
    Arc::new(memory::MemoryStore::new(clock))
}

/// The store of a data folder. Blocks while it reads what is there; called once, at the start.
pub fn open(options: OpenOptions) -> Result<SharedStore, StoreError> {
    Ok(Arc::new(open::open_default(options)?))
}

#[cfg(test)]
mod tests;
