//! Where a bot and its data are.

use crate::config::{BOT_FILE, Env, LoadInput, load_bot};
use crate::store::real_path;
use std::path::{Path, PathBuf};

/// A folder that cannot be used at all (exit 2).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub struct DirFault {
    /// As given.
    pub path: String,
    /// Why.
    pub why: String,
}

/// The canonical bot folder.
pub fn bot_dir(dir: &Path) -> Result<PathBuf, DirFault> {
    let fault = |why: String| DirFault { path: dir.display().to_string(), why };
    let full = std::fs::canonicalize(dir).map_err(|e| fault(e.to_string()))?;
    if !full.is_dir() {
        return Err(fault("is no folder".into()));
    }
    if !full.join(BOT_FILE).exists() {
        return Err(fault(
            "has no bot.toml; an empty one is enough (`understudy new bot NAME` writes an example)".into(),
        ));
    }
    Ok(full)
}

/// Its data folder: the given one, else `bot.data_dir`, else the default when `bot.toml` cannot be read.
pub fn data_dir(bot_dir: &Path, given: Option<&Path>, env: &Env) -> PathBuf {
    if let Some(given) = given {
        return real_path(given);
    }
    let text = std::fs::read_to_string(bot_dir.join(BOT_FILE)).ok();
    let loaded = load_bot(LoadInput { bot_dir, text: text.as_deref(), env });
    let relative = loaded.config.map_or_else(|| "data".to_string(), |c| c.bot.data_dir);
    real_path(&bot_dir.join(relative))
}
