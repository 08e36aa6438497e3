//! Room 6, `loader`: plugin folders to `PluginSource` values (raw manifests, texts, hashes).
//! Must not run plugin code. Next room: `admission`.
//!
//! A scan goes `discover` (which folders are plugins) → `walk` and `fileset` (what belongs to each) →
//! `places` (where items stand) → `manifest`, `tool`, `skills`, `section` (checked items) → `order`.

mod cache;
mod discover;
mod disk;
mod error;
mod fileset;
mod front;
mod hash;
mod input;
mod items;
mod loading;
mod manifest;
mod names;
mod order;
mod permissions;
mod places;
mod plugin;
mod raw;
mod reader;
mod rules;
mod run;
mod scan;
mod section;
mod skills;
mod source;
mod text;
mod tool;
mod view;
mod walk;
mod workspace;

pub use error::UnstableInput;
pub use hash::{HashInput, plugin_hash};
pub use order::tokens_for;
pub use raw::schema_of;
pub use scan::{ScanOptions, Scanner};
pub use source::*;
pub use view::{mask_config, resolve_config};

#[cfg(test)]
mod tests;
