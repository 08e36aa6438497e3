//! `doctor`: what would keep a bot from running on this machine. Nothing is changed, and no lock is taken.

use super::check::{CheckOptions, check};
use super::places::{self, DirFault};
use crate::config::{BotConfig, Env, LoadInput, load_bot};
use crate::store;
use crate::task::{SharedClock, blocking};
use chrono::{DateTime, Datelike, Utc};
use plugin_sdk::Severity;
use serde::Serialize;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Folders that are counted before the count is given up.
const FOLDERS_MAX: usize = 100_000;
/// The clock of a machine that was never set stands before this.
const FIRST_YEAR: i32 = 2025;
/// Seconds by which a file may be newer than now.
const AHEAD_SECONDS: i64 = 300;

/// What to look at.
pub struct DoctorOptions {
    /// Bot folder.
    pub bot_dir: PathBuf,
    /// Instead of the data folder that `bot.toml` names.
    pub data_dir: Option<PathBuf>,
    /// Variables.
    pub env: Env,
    /// Time.
    pub clock: SharedClock,
    /// Whether services may be asked.
    pub online: bool,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// What was looked at.
    pub id: &'static str,
    /// `pass`, `warn`, `fail`, `skip`.
    pub status: &'static str,
    /// What was found.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

fn health(id: &'static str, status: &'static str, message: impl Into<String>, help: &str) -> Health {
    let help = (!help.is_empty()).then(|| help.to_string());
    Health { id, status, message: message.into(), help }
}

/// Every check, in order.
pub async fn doctor(options: DoctorOptions) -> Result<Vec<Health>, DirFault> {
    let bot_dir = places::bot_dir(&options.bot_dir)?;
    let data_dir = places::data_dir(&bot_dir, options.data_dir.as_deref(), &options.env);
    let text = std::fs::read_to_string(bot_dir.join(crate::config::BOT_FILE)).ok();
    let loaded = load_bot(LoadInput { bot_dir: &bot_dir, text: text.as_deref(), env: &options.env });
    let bot = loaded.config.unwrap_or_default();
    let now = options.clock.now();
    let mut out = vec![configuration(&options).await?];
    let (folder, data) = (bot_dir.clone(), data_dir.clone());
    let looked = blocking("doctor", move || here(&folder, &data, &bot, now)).await;
    out.extend(looked.unwrap_or_else(|e| vec![health("permissions", "fail", e.to_string(), "")]));
    out.extend(elsewhere(options.online));
    Ok(out)
}

async fn configuration(options: &DoctorOptions) -> Result<Health, DirFault> {
    let report = check(CheckOptions {
        bot_dir: options.bot_dir.clone(),
        env: options.env.clone(),
        clock: options.clock.clone(),
    })
    .await?;
    let count = |severity| report.diagnostics.iter().filter(|d| d.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let help = "`understudy check` shows each with its place";
    Ok(match (errors, warnings) {
        (0, 0) => health("config", "pass", "bot.toml and every plugin are sound", ""),
        (0, n) => health("config", "warn", format!("{n} warning(s)"), help),
        (n, _) => health("config", "fail", format!("{n} error(s)"), help),
    })
}

/// What this machine says.
fn here(bot_dir: &Path, data_dir: &Path, bot: &BotConfig, now: DateTime<Utc>) -> Vec<Health> {
    vec![
        permissions(data_dir),
        watch_limit(bot_dir, data_dir, std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()),
        disk(data_dir, bot.store.min_free_mb),
        clock(bot_dir, now),
        lock(data_dir),
    ]
}

/// The nearest folder that is there.
fn existing(path: &Path) -> &Path {
    path.ancestors().find(|p| p.is_dir()).unwrap_or(path)
}

fn permissions(data_dir: &Path) -> Health {
    let (id, shown) = ("permissions", data_dir.display());
    let there = existing(data_dir);
    if rustix::fs::access(there, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_err() {
        let help = "give this user the right to write there, or choose another bot.data_dir";
        return health(id, "fail", format!("{} cannot be written", there.display()), help);
    }
    if there != data_dir {
        return health(id, "pass", format!("the data folder {shown} will be made at the first start"), "");
    }
    let Ok(meta) = std::fs::metadata(data_dir) else {
        return health(id, "fail", format!("{shown} cannot be read"), "");
    };
    if let Ok(Some(entry)) = store::foreign_entry(data_dir) {
        let help = "name a new or empty folder with bot.data_dir: a start refuses this one";
        return health(id, "fail", format!("{shown} is no data folder: it holds `{entry}`"), help);
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        let help = "run the host as the owner of its data folder";
        return health(id, "fail", format!("the data folder {shown} belongs to another user"), help);
    }
    if meta.permissions().mode() & 0o077 != 0 {
        let help = "a start makes it private again; to do it now: chmod 700 on that folder";
        return health(id, "warn", format!("others may enter the data folder {shown}"), help);
    }
    health(id, "pass", format!("the data folder {shown} is private and writable"), "")
}

fn watch_limit(bot_dir: &Path, data_dir: &Path, limit: Option<String>) -> Health {
    let id = "watch";
    let Some(limit) = limit.and_then(|text| text.trim().parse::<usize>().ok()) else {
        return health(id, "skip", "this system shows no limit of watched folders", "");
    };
    let folders = count_folders(bot_dir, data_dir);
    let message = format!("{folders} folders to watch, {limit} allowed for this user");
    let help = "raise fs.inotify.max_user_watches, or run with --no-watch";
    match folders {
        n if n >= limit => health(id, "fail", message, help),
        n if n.saturating_mul(2) > limit => health(id, "warn", message, help),
        _ => health(id, "pass", message, ""),
    }
}

fn count_folders(bot_dir: &Path, data_dir: &Path) -> usize {
    let (mut open, mut count) = (vec![bot_dir.to_path_buf()], 0);
    while let Some(folder) = open.pop() {
        count += 1;
        if count >= FOLDERS_MAX {
            break;
        }
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        // links are not followed
        let inner = entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path());
        open.extend(inner.filter(|p| p != data_dir));
    }
    count
}

fn disk(data_dir: &Path, min_free_mb: u64) -> Health {
    let id = "disk";
    let free = match store::free_bytes(existing(data_dir)) {
        Ok(bytes) => bytes >> 20,
        Err(e) => return health(id, "warn", format!("free space is unknown: {e}"), ""),
    };
    let message = format!("{free} MB free for the data folder, {min_free_mb} MB needed");
    let help = "make room, or move bot.data_dir to another disk";
    match free {
        n if n < min_free_mb => health(id, "fail", message, help),
        n if n < min_free_mb.saturating_mul(2) => health(id, "warn", message, help),
        _ => health(id, "pass", message, ""),
    }
}

fn clock(bot_dir: &Path, now: DateTime<Utc>) -> Health {
    let id = "clock";
    let help = "set the clock; time synchronisation keeps it right";
    if now.year() < FIRST_YEAR {
        return health(id, "fail", format!("the clock says {}", now.format("%Y-%m-%d")), help);
    }
    let written = std::fs::metadata(bot_dir.join(crate::config::BOT_FILE)).and_then(|m| m.modified()).ok();
    let written = written.map(DateTime::<Utc>::from);
    match written {
        Some(at) if (at - now).num_seconds() > AHEAD_SECONDS => {
            health(id, "warn", format!("bot.toml was written in the future, at {}", at.format("%Y-%m-%d %H:%M")), help)
        }
        _ => health(id, "pass", format!("{} UTC", now.format("%Y-%m-%d %H:%M")), ""),
    }
}

fn lock(data_dir: &Path) -> Health {
    let id = "lock";
    match store::lock_pid(data_dir).filter(|pid| store::is_alive(*pid)) {
        Some(pid) => health(id, "pass", format!("a host uses the data folder (process {pid})"), ""),
        None => health(id, "pass", "no host uses the data folder", ""),
    }
}

/// What other services would say.
fn elsewhere(online: bool) -> Vec<Health> {
    let tokens = match online {
        true => "no endpoint with a token is part of this build",
        false => "not asked: --online does",
    };
    vec![
        health("tokens", "skip", tokens, ""),
        health("docker", "skip", "no tool of this bot runs in a container", ""),
        health("mcp", "skip", "no MCP server is configured", ""),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_others_enter_is_a_warning() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        assert_eq!(permissions(&data).status, "pass");
        std::fs::create_dir(&data).unwrap();
        std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(permissions(&data).status, "warn");
        std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(permissions(&data).status, "pass");
    }

    #[test]
    fn limits_are_met_passed_or_close() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..9 {
            std::fs::create_dir(dir.path().join(n.to_string())).unwrap();
        }
        let data = dir.path().join("8");
        let of = |limit: &str| watch_limit(dir.path(), &data, Some(limit.into())).status;
        assert_eq!([of("9"), of("10"), of("100")], ["fail", "warn", "pass"]);
        assert_eq!(watch_limit(dir.path(), &data, None).status, "skip");
        assert_eq!(disk(dir.path(), 0).status, "pass");
        assert_eq!(disk(&dir.path().join("not/there"), u64::MAX >> 20).status, "fail");
    }

    #[test]
    fn a_clock_that_was_never_set_is_found() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("bot.toml"), "").unwrap();
        assert_eq!(clock(dir.path(), DateTime::UNIX_EPOCH).status, "fail");
        let past = "2025-06-01T00:00:00Z".parse().unwrap();
        assert_eq!(clock(dir.path(), past).status, "warn");
    }
}
