//! Room 2, `store`: the one persistence port, its backends (memory, sled), one conformance suite.
//! Must not know what a turn or a plugin is. Next room: `journal`.

mod codec;
mod commit;
mod content;
mod disk;
mod durable;
mod error;
mod folder;
mod folder_mark;
mod key;
mod memory;
mod open;
mod plan;
mod port;

pub use error::StoreError;
pub use folder::{DataLock, free_bytes, is_alive, lock_pid, made_dir, private_dir, real_path};
pub use folder_mark::foreign_entry;
pub use key::{Key, Part};
pub use open::OpenOptions;
pub use port::{Op, SharedStore, Store, StoreStats, Tree, update};

use crate::task::SharedClock;
use std::sync::Arc;

/// A store that lives as long as the process, for tests and scratch worlds.
pub fn in_memory(clock: SharedClock) -> SharedStore {
    Arc::new(memory::MemoryStore::new(clock))
}

/// A store that was opened.
pub struct Opened {
    /// The store.
    pub store: SharedStore,
    /// Its newest records are damaged: they were there when it was last closed, and are not any more.
    pub lost_newest: bool,
}

/// The store of a data folder. Blocks while it reads what is there; called once, at the start.
pub fn open(options: OpenOptions) -> Result<Opened, StoreError> {
    let store = open::open_default(options)?;
    Ok(Opened { lost_newest: store.lost_newest, store: Arc::new(store) })
}

#[cfg(test)]
mod tests;
