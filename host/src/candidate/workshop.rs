//! Where candidates are made: what all preparations of one bot folder share.

use super::contents::{Contents, FailedPlugin};
use super::copies::Copies;
use super::prepare::Run;
use super::report::Report;
use super::{CopyError, Instance, PluginView};
use crate::admission::PolicyCell;
use crate::config::{BotConfig, Env, Redactor};
use crate::index::Contribution;
use crate::loader::{Scanner, TestSource};
use crate::runtime::command::{CommandPool, HostEnv};
use crate::task::{SharedClock, Tasks, blocking};
use plugin_sdk::{CancellationSignal, Diagnostic, OwnerPath};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The host's own tools for a configuration; rooms below give them.
pub type Builtins = Arc<dyn Fn(&BotConfig) -> Vec<Contribution> + Send + Sync>;

/// What a workshop is made of.
pub struct WorkshopSetup {
    /// The bot folder.
    pub bot_dir: PathBuf,
    /// The process's folder; its copies go below it.
    pub data_dir: PathBuf,
    /// Variables of the process.
    pub env: Env,
    /// The host's own tools.
    pub builtins: Builtins,
    /// Places of command tools.
    pub pool: Arc<CommandPool>,
    /// Exchanged as soon as `bot.toml` has a valid one.
    pub policy: Arc<PolicyCell>,
    /// Learns every secret.
    pub redactor: Arc<Redactor>,
    /// The clock.
    pub clock: SharedClock,
}

/// Makes candidates, one at a time.
pub struct Workshop {
    pub(super) setup: WorkshopSetup,
    pub(super) scanner: Mutex<Scanner>,
    pub(super) copies: Arc<Copies>,
    /// The data folder of a throw-away world, gone with it.
    pub(super) scratch: Option<tempfile::TempDir>,
}

/// How faults are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// Any error refuses, except those of plugins that had failed before and have not changed.
    #[default]
    Reload,
    /// Broken plugins are left out.
    Start,
    /// Any error refuses.
    Strict,
}

/// The published generation, as the next candidate sees it.
#[derive(Clone)]
pub struct Base {
    /// What it holds.
    pub contents: Arc<Contents>,
    /// What was left out.
    pub failed: Vec<FailedPlugin>,
}

/// What to prepare.
#[derive(Clone, Default)]
pub struct PrepareRequest {
    /// What is published.
    pub base: Option<Base>,
    /// How faults are judged.
    pub rule: Rule,
    /// Rebuilt even if unchanged.
    pub rebuild: BTreeSet<OwnerPath>,
    /// Reads every file again.
    pub full: bool,
    /// Judges failed plugins again though they have not changed.
    pub retry_failed: bool,
    /// Plugins whose files still change: they stay at their published version.
    pub hold: BTreeSet<OwnerPath>,
    /// The configuration whose process keys are in force.
    pub process: Option<Arc<BotConfig>>,
    /// For the whole of it; 60 s when left out.
    pub timeout: Option<Duration>,
    /// Ends it between two steps.
    pub stop: CancellationSignal,
}

/// A candidate that passed every step but the seal. Hand it to `seal` or to `discard`.
pub struct Candidate {
    /// What it holds; the base's own when nothing has changed.
    pub contents: Arc<Contents>,
    /// Whether there is nothing to publish.
    pub unchanged: bool,
    /// What was left out.
    pub failed: Vec<FailedPlugin>,
    /// What it did.
    pub report: Report,
    /// Scenario files of the plugins that run: read with them, judged by whoever plays or checks them.
    pub tests: Vec<OwnedTest>,
}

/// A scenario file and whose it is.
pub type OwnedTest = (OwnerPath, TestSource);

/// Why there is no candidate.
#[derive(Debug)]
pub struct Rejected {
    /// The first step with an error.
    pub failed_step: &'static str,
    /// What was done, with all findings.
    pub report: Report,
    /// The plugins that were found.
    pub plugins: Vec<PluginView>,
    /// As in a candidate.
    pub tests: Vec<OwnedTest>,
}

impl Rejected {
    /// All findings, sorted.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.report.diagnostics
    }
}

impl Workshop {
    /// For the process: its copies live as long as its generations.
    pub fn new(setup: WorkshopSetup) -> Result<Arc<Self>, CopyError> {
        Self::build(setup, None)
    }

    /// For one look: an empty data folder of its own, no live policy, programs only checked.
    pub fn throw_away(
        bot_dir: &Path,
        env: Env,
        builtins: Builtins,
        clock: SharedClock,
        tasks: &Tasks,
    ) -> Result<Arc<Self>, CopyError> {
        let folder = tempfile::Builder::new().prefix("understudy-").tempdir();
        let folder = folder.map_err(|e| CopyError::new(&std::env::temp_dir(), e))?;
        let text = |name: &str| env.get(name).unwrap_or_default().to_owned();
        let host_env = HostEnv { path: text("PATH"), timezone: text("TZ") };
        let pool = CommandPool::new(8, Arc::clone(&clock), folder.path(), tasks.clone(), host_env);
        let setup = WorkshopSetup {
            bot_dir: bot_dir.to_path_buf(),
            data_dir: folder.path().to_path_buf(),
            env,
            builtins,
            pool: Arc::new(pool),
            policy: Arc::new(PolicyCell::default()),
            redactor: Redactor::new(),
            clock,
        };
        Self::build(setup, Some(folder))
    }

    fn build(setup: WorkshopSetup, scratch: Option<tempfile::TempDir>) -> Result<Arc<Self>, CopyError> {
        let copies = Copies::open(&setup.data_dir)?;
        Ok(Arc::new(Self { setup, scanner: Mutex::new(Scanner::new()), copies, scratch }))
    }

    /// Runs every step but the seal. Whatever a refused candidate has made is disposed when this returns.
    pub async fn prepare(self: &Arc<Self>, request: PrepareRequest) -> Result<Candidate, Box<Rejected>> {
        let shop = Arc::clone(self);
        let ran = blocking("prepare", move || Run::new(&shop, request).all()).await;
        let (verdict, unused) = match ran {
            Ok(ran) => ran,
            Err(panicked) => {
                let text = format!("the preparation broke off: {panicked}");
                let mut report = Report::default();
                report.diagnostics.push(Diagnostic::error("reload::copy-failed", text));
                return Err(Box::new(Rejected { failed_step: "read", report, plugins: Vec::new(), tests: Vec::new() }));
            }
        };
        dispose(&unused, &self.setup.clock).await;
        verdict
    }

    /// Exchanges the live policy alone: what is denied acts already while the reload itself has to wait.
    pub async fn apply_policy(self: &Arc<Self>, active: &Arc<BotConfig>) {
        let (shop, active) = (Arc::clone(self), Arc::clone(active));
        let applied = blocking("live policy", move || super::configuration::policy_alone(&shop, &active)).await;
        if !applied.unwrap_or(false) {
            tracing::debug!("the live policy stays as it is");
        }
    }

    /// Disposes what a candidate made, in reverse order, because it will not be published.
    pub async fn discard(&self, candidate: Candidate) {
        if candidate.unchanged {
            return;
        }
        for instance in candidate.contents.instances.iter().rev() {
            if instance.leave() {
                instance.dispose(&self.setup.clock).await;
            }
        }
    }

    /// Removes copies that nobody of this process uses: once, after the start.
    pub async fn sweep(&self) {
        let copies = Arc::clone(&self.copies);
        match blocking("sweep of copies", move || copies.sweep()).await {
            Ok(Err(error)) => tracing::warn!(%error, "copies of an earlier process could not be removed"),
            Err(error) => tracing::warn!(%error, "copies of an earlier process could not be removed"),
            Ok(Ok(())) => {}
        }
    }

    /// The bot folder.
    pub fn bot_dir(&self) -> &Path {
        &self.setup.bot_dir
    }

    /// Places of command tools.
    pub fn pool(&self) -> &Arc<CommandPool> {
        &self.setup.pool
    }

    /// Whether it is thrown away after one look.
    pub(super) fn is_throw_away(&self) -> bool {
        self.scratch.is_some()
    }
}

async fn dispose(instances: &[Arc<Instance>], clock: &SharedClock) {
    for instance in instances.iter().rev() {
        instance.dispose(clock).await;
    }
}
