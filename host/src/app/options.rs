//! What a host is started with.

use crate::config::{Env, LogLevel};
use crate::model::ModelClient;
use crate::store::SharedStore;
use crate::task::SharedClock;
use std::path::PathBuf;
use std::sync::Arc;

/// Where a host keeps its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// In the data folder, under its lock.
    Disk,
    /// In memory, with a data folder that is gone afterwards: runs beside a host.
    Scratch,
}

/// Options of `Host::start`.
#[derive(Clone)]
pub struct HostOptions {
    /// Bot folder.
    pub bot_dir: PathBuf,
    /// Instead of the folder `bot.toml` names.
    pub data_dir: Option<PathBuf>,
    /// Variables.
    pub env: Env,
    /// Where records go.
    pub store: StoreKind,
    /// Reloads by itself when files change.
    pub watch: bool,
    /// A broken plugin refuses the start.
    pub strict: bool,
    /// Level of logs instead of the configured one.
    pub log: Option<LogLevel>,
    /// Announces itself on the local socket.
    pub socket: bool,
    /// Time.
    pub clock: SharedClock,
    /// Stands for every model.
    pub model: Option<Arc<dyn ModelClient>>,
    /// With `Scratch`: the store, which outlives this host.
    pub memory: Option<SharedStore>,
}

impl HostOptions {
    /// A host on the data folder that only answers requests: no watching, no socket.
    pub fn new(bot_dir: impl Into<PathBuf>, clock: SharedClock) -> Self {
        Self {
            bot_dir: bot_dir.into(),
            data_dir: None,
            env: Env::of_process(),
            store: StoreKind::Disk,
            watch: false,
            strict: false,
            log: Some(LogLevel::Error),
            socket: false,
            clock,
            model: None,
            memory: None,
        }
    }
}
