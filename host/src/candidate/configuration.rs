//! The first step: `bot.toml`, the live policy, and the keys that need a restart.

use super::prepare::{Refused, Run};
use super::report::WatchList;
use crate::admission::{LivePolicy, PolicyInput};
use crate::config::doc::Doc;
use crate::config::{BOT_FILE, BotConfig, Env, LoadInput, LoadedBot, config_digest, load_bot};
use crate::loader::SourceTree;
use plugin_sdk::Diagnostic;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A whole configuration.
pub(super) struct Loaded {
    /// With the process keys that are in force.
    pub(super) bot: Arc<BotConfig>,
    pub(super) doc: Option<Arc<Doc>>,
    pub(super) env: Env,
    pub(super) secret_sources: Vec<PathBuf>,
    /// Digest of `bot`.
    pub(super) digest: String,
    /// Warnings.
    pub(super) findings: Vec<Diagnostic>,
}

/// Reads it. The live policy is exchanged as soon as its keys are valid, whatever the rest is.
pub(super) fn load(run: &mut Run<'_>) -> Result<Loaded, Refused> {
    let setup = &run.shop.setup;
    let read = load_bot(LoadInput { bot_dir: &setup.bot_dir, text: None, env: &setup.env });
    for secret in &read.secrets {
        setup.redactor.register(secret.expose());
    }
    // Should the rest be refused, the watcher still has to see the repair.
    run.report.watch.files = sources(&setup.bot_dir, &read);
    run.report.watch.folders = folders_of(&run.report.watch.files);
    run.report.policy_applied = apply_policy(run, &read);
    run.report.digest.clone_from(&read.digest);
    let Some(desired) = read.config else { return Err(Refused::at("configuration", read.diagnostics)) };
    let emptied = read.doc.as_ref().is_some_and(|d| d.text.trim().is_empty());
    if let (true, Some(base)) = (emptied, &run.request.base)
        && *base.contents.bot != BotConfig::default()
    {
        let d = Diagnostic::error("bot::emptied", "bot.toml has become empty")
            .file(BOT_FILE)
            .help("a half saved file looks like this; to really use all defaults write a comment into it");
        return Err(Refused::at("configuration", vec![d]));
    }
    let mut bot = desired.clone();
    if let Some(process) = &run.request.process {
        run.report.restart_keys = pin(&mut bot, process);
    }
    run.report.desired = Some(Arc::new(desired));
    Ok(Loaded {
        digest: config_digest(&bot),
        bot: Arc::new(bot),
        doc: read.doc,
        env: read.env,
        secret_sources: read.secret_sources,
        findings: read.diagnostics,
    })
}

fn apply_policy(run: &Run<'_>, read: &LoadedBot) -> bool {
    let (Some(policy), false) = (&read.policy, run.shop.is_throw_away()) else { return false };
    let cell = &run.shop.setup.policy;
    // What the endpoints say is known only with a whole file; until then it stays as it is.
    let endpoints = match &read.config {
        Some(bot) => PolicyInput::from(bot),
        None => cell.read().input().clone(),
    };
    let (endpoint_roles, has_endpoints) = (endpoints.endpoint_roles, endpoints.has_endpoints);
    cell.replace(LivePolicy::new(PolicyInput { endpoint_roles, has_endpoints, ..PolicyInput::from(policy) }));
    true
}

/// Keeps the process keys of the running process; the names of those that differ.
fn pin(bot: &mut BotConfig, process: &BotConfig) -> Vec<String> {
    let mut keys = Vec::new();
    let mut keep = |key: &str, differs: bool| {
        if differs {
            keys.push(key.to_owned());
        }
    };
    keep("bot.data_dir", bot.bot.data_dir != process.bot.data_dir);
    keep("store.cache_mb", bot.store.cache_mb != process.store.cache_mb);
    keep("store.flush_every_ms", bot.store.flush_every_ms != process.store.flush_every_ms);
    bot.bot.data_dir.clone_from(&process.bot.data_dir);
    bot.store.cache_mb = process.store.cache_mb;
    bot.store.flush_every_ms = process.store.flush_every_ms;
    keys
}

fn sources(bot_dir: &Path, read: &LoadedBot) -> BTreeSet<PathBuf> {
    read.secret_sources.iter().cloned().chain([bot_dir.join(BOT_FILE)]).collect()
}

fn folders_of(files: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    files.iter().filter_map(|f| f.parent().map(Path::to_path_buf)).collect()
}

/// Folders of the tree, of secrets, and the parents of the roots, to see those vanish and return.
pub(super) fn watch_list(run: &mut Run<'_>, loaded: &Loaded, tree: &SourceTree) {
    let bot_dir = &run.shop.setup.bot_dir;
    let roots = loaded.bot.plugins.paths.iter().map(|p| bot_dir.join(p)).chain([bot_dir.clone()]);
    let parents = roots.filter_map(|r| r.parent().map(Path::to_path_buf));
    let list: &mut WatchList = &mut run.report.watch;
    list.folders.extend(tree.watch.iter().cloned());
    list.folders.extend(parents);
    list.plugins = tree.plugins.iter().map(|p| (p.owner.clone(), p.dir.clone())).collect();
    list.never = [bot_dir.join(&loaded.bot.bot.data_dir), run.shop.setup.data_dir.clone()].into();
}
