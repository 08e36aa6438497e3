//! What can go wrong with the store, as a caller has to tell it apart.

use plugin_sdk::Diagnostic;
use std::path::PathBuf;

/// A fault of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another host uses the data folder.
    #[error("the data folder {path} is used by another host{}", pid.map(|p| format!(" (pid {p})")).unwrap_or_default())]
    Locked {
        /// Data folder.
        path: PathBuf,
        /// Process that holds it, as far as the lock file says.
        pid: Option<u32>,
    },
    /// The data folder cannot be written by this user.
    #[error("the data folder {path} is not writable: {source}")]
    NotWritable {
        /// Data folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The folder holds what this program did not put there; nothing in it was changed.
    #[error("{path} is no data folder: it holds `{entry}`, which no host put there; nothing in it was changed")]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// Something in it.
        entry: String,
    },
    /// Files in the data folder cannot be executed.
    #[error("files in the data folder {path} cannot be executed: {mount} is mounted noexec")]
    NoExec {
        /// Data folder.
        path: PathBuf,
        /// Mount it lies on.
        mount: String,
    },
    /// Written by a newer program.
    #[error("the store has schema {found}, this program knows up to {known}")]
    Newer {
        /// In the store.
        found: u64,
        /// Ours.
        known: u64,
    },
    /// It cannot be opened or read at all.
    #[error("the store cannot be read: {0}")]
    Corrupt(String),
    /// No room for another write.
    #[error("no space left for the store ({free} bytes free)")]
    DiskFull {
        /// Free space, in bytes.
        free: u64,
    },
    /// One record cannot be decoded.
    #[error("bad record in tree {tree}: {why}")]
    BadRecord {
        /// Tree name.
        tree: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A `Check` of a batch did not hold; nothing was written.
    #[error("a record changed meanwhile (tree {tree})")]
    Conflict {
        /// Tree name.
        tree: &'static str,
    },
    /// Closed, or closing.
    #[error("the store is closed")]
    Closed,
    /// Any other fault of the medium.
    #[error("store: {0}")]
    Io(#[from] std::io::Error),
}

impl StoreError {
    /// Diagnostic code; faults without one of their own count as a store that cannot be read.
    pub fn code(&self) -> &'static str {
        match self {
            StoreError::Locked { .. } => "store::locked",
            StoreError::NotWritable { .. } => "store::not-writable",
            StoreError::Foreign { .. } => "store::foreign-folder",
            StoreError::NoExec { .. } => "store::noexec",
            StoreError::Newer { .. } => "store::newer",
            StoreError::DiskFull { .. } => "store::disk-full",
            StoreError::BadRecord { .. } => "store::bad-record",
            StoreError::Corrupt(_) | StoreError::Conflict { .. } | StoreError::Closed | StoreError::Io(_) => {
                "store::corrupt"
            }
        }
    }

    /// The same fault once more, for everybody who waited on one operation.
    pub(super) fn repeat(&self) -> Self {
        match self {
            StoreError::DiskFull { free } => StoreError::DiskFull { free: *free },
            StoreError::Closed => StoreError::Closed,
            StoreError::Io(e) => StoreError::Io(std::io::Error::new(e.kind(), e.to_string())),
            other => StoreError::Corrupt(other.to_string()),
        }
    }

    /// The same as a diagnostic with help.
    pub fn diagnostic(&self) -> Diagnostic {
        let help = match self {
            StoreError::Locked { pid: Some(pid), .. } => {
                format!("stop the host with pid {pid}, or give this one another --data-dir")
            }
            StoreError::Locked { pid: None, .. } => "stop the other host, or choose another --data-dir".into(),
            StoreError::NotWritable { .. } => "give this user write access, or choose another --data-dir".into(),
            StoreError::Foreign { .. } => {
                "name a new or empty folder with --data-dir or `bot.data_dir`, such as \"data\"".into()
            }
            StoreError::NoExec { mount, .. } => {
                format!("mount {mount} without noexec, or choose a --data-dir on another mount")
            }
            StoreError::Newer { .. } => "use the newer program, or a copy of the data folder made with this one".into(),
            StoreError::DiskFull { .. } => "free some space; the host goes on by itself".into(),
            StoreError::BadRecord { .. } => "run `understudy store verify`".into(),
            _ => "nothing was repaired: put a copy of the data folder in its place, or move `store` and `content` aside to start empty".into(),
        };
        let text = self.to_string();
        match self {
            StoreError::DiskFull { .. } | StoreError::BadRecord { .. } => Diagnostic::warning(self.code(), text),
            _ => Diagnostic::error(self.code(), text),
        }
        .help(help)
    }
}
