//! Where the data folder may lie: never in, at or above what the bot folder itself is made of, because the host
//! removes what it does not know from the folders of its own.

use crate::config::PluginsConfig;
use crate::store::real_path;
use std::path::Path;

/// Folders of a bot folder that hold what somebody wrote.
pub const BOT_FOLDERS: [&str; 8] =
    ["agents", "commands", "hooks", "lib", "prompt-sections", "skills", "tests", "tools"];

/// Why a data folder may not lie there, or `None`.
pub fn data_folder_fault(bot_dir: &Path, data_dir: &Path, plugins: &PluginsConfig) -> Option<String> {
    let (home, data) = (real_path(bot_dir), real_path(data_dir));
    if home.starts_with(&data) {
        return Some("the data folder is the bot folder, or a folder above it".into());
    }
    let mut names = BOT_FOLDERS.into_iter().chain(plugins.paths.iter().map(String::as_str));
    let name = names.find(|name| {
        let folder = real_path(&home.join(name));
        // A search path above the bot folder holds it, and in it the data folder, without reading either.
        !home.starts_with(&folder) && (data.starts_with(&folder) || folder.starts_with(&data))
    })?;
    Some(format!("the data folder and `{name}` of the bot folder lie in each other"))
}

/// Whether a path begins with `~`, which a shell replaces and nothing else does.
pub fn has_tilde(path: &str) -> bool {
    path.starts_with('~')
}
