//! Room 9, `runtime`: a tool definition becomes callable; back only through ports.
//! Must not know turns. Next room: `endpoint`.

mod children;
pub mod command;
#[cfg(test)]
mod tests;

pub use children::kill_leftovers;

use plugin_sdk::OwnerPath;
use std::path::{Path, PathBuf};

/// The folder of an owner's own data: `data_dir/plugins/<owner>`, `/` written `+`, the root `root`.
pub fn owner_folder(data_dir: &Path, owner: &OwnerPath) -> PathBuf {
    let name = if owner.is_root() { "root".to_string() } else { owner.as_str().replace('/', "+") };
    data_dir.join("plugins").join(name)
}
