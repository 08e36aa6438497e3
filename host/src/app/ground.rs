//! The ground of a host: folder, lock, store, journal. Everything that can refuse before a plugin is looked at.

use super::{HostOptions, StartError, StoreKind, places};
use crate::config::{BotConfig, LoadInput, Redactor, data_folder_fault, has_tilde, load_bot};
use crate::ingress::Core;
use crate::journal::Journal;
use crate::runtime::kill_leftovers;
use crate::store::{self, DataLock, OpenOptions, Opened, StoreError};
use crate::task::{Tasks, blocking};
use plugin_sdk::Diagnostic;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What a host stands on.
pub(super) struct Ground {
    pub(super) bot_dir: PathBuf,
    pub(super) core: Core,
    /// The configuration whose process keys are in force.
    pub(super) process: BotConfig,
    /// Held as long as the host lives.
    pub(super) lock: Option<DataLock>,
    /// A scratch data folder, gone with the host.
    pub(super) scratch: Option<tempfile::TempDir>,
    /// To be told as soon as there is a log.
    pub(super) lost_newest: bool,
}

fn read_config(bot_dir: &Path, options: &HostOptions) -> Result<BotConfig, StartError> {
    let loaded = load_bot(LoadInput { bot_dir, text: None, env: &options.env });
    match loaded.config {
        Some(config) if loaded.diagnostics.iter().all(|d| !d.is_error()) => Ok(config),
        _ => Err(StartError { diagnostics: loaded.diagnostics }),
    }
}

/// The folder whole, as programs see it that run somewhere else; refused where it would be the bot's own.
fn data_folder(given: Option<&Path>, bot_dir: &Path, config: &BotConfig) -> Result<PathBuf, StartError> {
    // What `bot.toml` names was judged with it.
    let Some(given) = given else { return Ok(store::real_path(&bot_dir.join(&config.bot.data_dir))) };
    let refused = |text: String, help: &str| Diagnostic::error("store::foreign-folder", text).help(help);
    if has_tilde(&given.to_string_lossy()) {
        let text = format!("--data-dir {}: `~` is not replaced here", given.display());
        return Err(refused(text, "write the whole path, or let the shell replace it: --data-dir ~/NAME").into());
    }
    if let Some(why) = data_folder_fault(bot_dir, given, &config.plugins) {
        let text = format!("--data-dir {}: {why}; nothing in it was changed", given.display());
        return Err(refused(text, "name a folder of its own").into());
    }
    Ok(store::real_path(given))
}

fn store_error(e: &StoreError) -> StartError {
    let mut d = e.diagnostic();
    if let StoreError::DiskFull { .. } = e {
        // What a running host does by itself, a start does not.
        d = d.help("free some space, then start again");
    }
    d.into()
}

/// Lays the ground, in order; nothing is left behind when it fails.
pub(super) async fn lay(options: &HostOptions, tasks: &Tasks) -> Result<Ground, StartError> {
    let bot_dir = places::bot_dir(&options.bot_dir)
        .map_err(|e| StartError::from(Diagnostic::error("cli::usage", e.to_string())))?;
    let config = read_config(&bot_dir, options)?;
    let scratch = match options.store {
        StoreKind::Scratch => Some(tempfile::Builder::new().prefix("understudy-").tempdir().map_err(|e| {
            StartError::from(Diagnostic::error("store::not-writable", format!("no scratch folder: {e}")))
        })?),
        StoreKind::Disk => None,
    };
    let data_dir = match &scratch {
        Some(folder) => folder.path().to_path_buf(),
        None => data_folder(options.data_dir.as_deref(), &bot_dir, &config)?,
    };
    let (lock, Opened { store, lost_newest }) = match options.store {
        StoreKind::Scratch => {
            let kept = options.memory.clone();
            let store = kept.unwrap_or_else(|| store::in_memory(Arc::clone(&options.clock)));
            (None, Opened { store, lost_newest: false })
        }
        StoreKind::Disk => {
            let lock = DataLock::acquire(&data_dir).map_err(|e| store_error(&e))?;
            end_leftovers(&data_dir);
            let open = OpenOptions {
                data_dir: data_dir.clone(),
                flush_every_ms: config.store.flush_every_ms,
                cache_mb: config.store.cache_mb,
                clock: Arc::clone(&options.clock),
            };
            let opened = blocking("open store", move || store::open(open)).await;
            let opened = opened.map_err(|e| {
                StartError::from(Diagnostic::error("store::corrupt", format!("opening the store broke off: {e}")))
            })?;
            (Some(lock), opened.map_err(|e| store_error(&e))?)
        }
    };
    let journal = Journal::new(Arc::clone(&store), Arc::clone(&options.clock));
    let redactor = Redactor::new();
    let clean = Arc::clone(&redactor);
    journal.set_redact(Arc::new(move |text: &str| clean.redact(text).into_owned()));
    journal.set_keep(Some(Duration::from_secs(config.store.journal_days.saturating_mul(86_400))));
    let core = Core { clock: Arc::clone(&options.clock), tasks: tasks.clone(), store, journal, redactor, data_dir };
    Ok(Ground { bot_dir, core, process: config, lock, scratch, lost_newest })
}

fn end_leftovers(data_dir: &Path) {
    match kill_leftovers(data_dir) {
        Ok(pids) if !pids.is_empty() => tracing::warn!(?pids, "programs of an earlier process were ended"),
        Ok(_) => {}
        Err(e) => tracing::warn!(error = %e, "the list of an earlier process's programs cannot be read"),
    }
}
