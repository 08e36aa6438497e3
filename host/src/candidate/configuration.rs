//! The first step: `bot.toml`, the live policy, and the keys that need a restart.

use super::Workshop;
use super::prepare::{Refused, Run};
use super::report::WatchList;
use crate::admission::{LivePolicy, PolicyInput};
use crate::config::doc::Doc;
use crate::config::{BOT_FILE, BotConfig, Env, LoadInput, LoadedBot, config_digest, load_bot};
use crate::loader::SourceTree;
use plugin_sdk::{Diagnostic, OwnerPath};
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
    /// Everything about a refused file; `bot` is then what could be read of it.
    pub(super) refused: Vec<Diagnostic>,
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
    run.report.digest.clone_from(&read.digest);
    let active = run.request.base.as_ref().map(|b| &*b.contents.bot);
    let emptied = has_emptied(&read, active);
    run.report.policy_applied = !emptied && apply_policy(run.shop, &read);
    let Some(desired) = read.config else {
        let Some(bot) = read.readable else { return Err(Refused::at("configuration", read.diagnostics)) };
        return Ok(Loaded {
            digest: String::new(),
            bot: Arc::new(bot),
            doc: read.doc,
            env: read.env,
            secret_sources: read.secret_sources,
            findings: Vec::new(),
            refused: read.diagnostics,
        });
    };
    if emptied {
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
        refused: Vec::new(),
    })
}

/// A half saved file looks like this. It takes nothing back, a denial least of all.
fn has_emptied(read: &LoadedBot, active: Option<&BotConfig>) -> bool {
    let emptied = read.doc.as_ref().is_some_and(|d| d.text.trim().is_empty());
    emptied && active.is_some_and(|bot| *bot != BotConfig::default())
}

/// Exchanges the live policy alone.
pub(super) fn policy_alone(shop: &Workshop, active: &BotConfig) -> bool {
    let read = load_bot(LoadInput { bot_dir: &shop.setup.bot_dir, text: None, env: &shop.setup.env });
    !has_emptied(&read, Some(active)) && apply_policy(shop, &read)
}

fn apply_policy(shop: &Workshop, read: &LoadedBot) -> bool {
    let (Some(policy), false) = (&read.policy, shop.is_throw_away()) else { return false };
    let cell = &shop.setup.policy;
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
    let files = read.secret_sources.iter().cloned().chain([bot_dir.join(BOT_FILE)]);
    // Events name a file by the real path of its folder.
    let real_folder = |f: PathBuf| match (f.parent(), f.file_name()) {
        (Some(folder), Some(name)) => real(folder).join(name),
        _ => f,
    };
    files.map(real_folder).collect()
}

fn folders_of(files: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    files.iter().filter_map(|f| f.parent().map(Path::to_path_buf)).collect()
}

/// Folders of the tree, of secrets, and the parents of the roots, to see those vanish and return.
pub(super) fn watch_list(run: &mut Run<'_>, loaded: &Loaded, tree: &SourceTree) {
    let bot_dir = real(&run.shop.setup.bot_dir);
    let bot = &loaded.bot;
    let data_dir = bot_dir.join(&bot.bot.data_dir);
    let paths: Vec<PathBuf> = bot.plugins.paths.iter().map(|p| real(&bot_dir.join(p))).collect();
    let mut roots = vec![bot_dir.clone()];
    roots.extend(paths.iter().filter(|p| !p.starts_with(&bot_dir)).cloned());
    if bot.agent.skills.enabled {
        roots.push(real(&data_dir.join(&bot.workspace.root).join(&bot.agent.skills.root)));
    }
    let list: &mut WatchList = &mut run.report.watch;
    list.folders.extend(tree.watch.iter().cloned());
    list.folders.extend(roots.iter().chain(&paths).filter_map(|r| r.parent().map(Path::to_path_buf)));
    list.folders.extend(paths.iter().filter(|p| p.is_dir()).cloned());
    list.plugins = tree.plugins.iter().map(|p| (p.owner.clone(), p.dir.clone())).collect();
    for plugin in &tree.plugins {
        let top = plugin.files.iter().filter(|f| !f.path.contains('/'));
        list.files.extend(top.map(|f| plugin.dir.join(&f.path)));
    }
    list.search = paths.into_iter().map(|p| (OwnerPath::root(), p)).collect();
    let nested = list.plugins.iter().filter(|(owner, _)| !owner.is_root());
    let nested: Vec<_> = nested.map(|(owner, dir)| (owner.clone(), dir.join("plugins"))).collect();
    list.search.extend(nested);
    list.roots = roots;
    let log_file = bot.telemetry.log_file.iter().map(|f| bot_dir.join(f));
    list.never = log_file.chain([data_dir, run.shop.setup.data_dir.clone()]).collect();
}

/// Links followed as far as the path exists.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
