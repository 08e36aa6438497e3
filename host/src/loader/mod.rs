//! Room 6, `loader`: plugin folders to `PluginSource` values (raw manifests, texts, hashes).
//! Must not run plugin code. Next room: `admission`.

mod source;

pub use source::*;
