//! What a preparation reports whether it is published or not.

use crate::config::BotConfig;
use plugin_sdk::{Diagnostic, OwnerPath};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Names of the steps, in order.
pub const STEPS: [&str; 8] = ["configuration", "read", "copy", "tree", "items", "views", "index", "seal"];

/// What a preparation did, for the reload record, the watcher and `status`.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Milliseconds per step that ran.
    pub steps: Vec<(&'static str, f64)>,
    /// Files opened.
    pub files_read: u64,
    /// Bytes copied.
    pub bytes_copied: u64,
    /// Owners carried over.
    pub reused: Vec<OwnerPath>,
    /// Owners made anew.
    pub rebuilt: Vec<OwnerPath>,
    /// Owners that stay at their published version because their files still change.
    pub settling: Vec<OwnerPath>,
    /// Whether the live policy was exchanged.
    pub policy_applied: bool,
    /// Process keys whose new value waits for a restart.
    pub restart_keys: Vec<String>,
    /// Configuration on disk, when it is whole.
    pub desired: Option<Arc<BotConfig>>,
    /// Digest of the whole input on disk, as far as it could be read; else of what was.
    pub digest: String,
    /// All findings, sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// What the watcher has to look at.
    pub watch: WatchList,
}

/// Folders and files whose changes are input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchList {
    /// When the read began: what changed after it may have been missed.
    pub read_at: Option<chrono::DateTime<chrono::Utc>>,
    /// Folders that hold file sets, and the parents of the roots.
    pub folders: BTreeSet<PathBuf>,
    /// `bot.toml`, `.env`, `*_file` targets, and files that lie directly in a plugin folder.
    pub files: BTreeSet<PathBuf>,
    /// Folder of each plugin, for the settling rule.
    pub plugins: Vec<(OwnerPath, PathBuf)>,
    /// Never watched.
    pub never: BTreeSet<PathBuf>,
    /// The bot folder, search paths and the skills folder that lie outside of it.
    pub roots: Vec<PathBuf>,
    /// Folders whose children are plugins, with the owner they lie in.
    pub search: Vec<(OwnerPath, PathBuf)>,
}

impl Report {
    /// Adds to a step's time.
    pub(super) fn spent(&mut self, step: &'static str, ms: f64) {
        match self.steps.iter_mut().find(|(name, _)| *name == step) {
            Some((_, total)) => *total += ms,
            None => self.steps.push((step, ms)),
        }
    }

    /// Sorts the findings as every report shows them, each once.
    pub(super) fn settle(&mut self) {
        self.diagnostics.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        self.diagnostics.dedup();
    }
}
