//! One scan: from folders to a sorted tree of checked plugins.

use super::cache::{Cache, Pass};
use super::discover::{self, Found};
use super::disk::Roots;
use super::error::UnstableInput;
use super::items;
use super::order;
use super::plugin::{self, Known};
use super::raw::Schemas;
use super::reader::Reader;
use super::rules::{Rules, in_bot};
use super::source::{PluginSource, SourceTree};
use super::walk::{Unstable, Walk};
use super::workspace;
use crate::config::BotConfig;
use crate::config::doc::Doc;
use crate::task::{SharedClock, SystemClock};
use plugin_sdk::{Diagnostic, OwnerPath};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Scans begun before the input counts as unstable: the first, and three again.
const ATTEMPTS: u32 = 4;

/// What a scan reads.
#[derive(Debug, Clone)]
pub struct ScanOptions<'a> {
    /// The bot folder.
    pub bot_dir: &'a Path,
    /// The process's own folder: never part of a plugin.
    pub data_dir: &'a Path,
    /// Checked `bot.toml`.
    pub bot: &'a BotConfig,
    /// `bot.toml` with places.
    pub bot_doc: Option<Arc<Doc>>,
    /// Further paths that are never part of a plugin: `*_file` and `log_file` targets, the workspace root.
    pub never: Vec<PathBuf>,
    /// Folder of workspace skills, when they are switched on.
    pub workspace_skills: Option<PathBuf>,
    /// Reads every file again.
    pub full: bool,
}

/// Scans, and remembers hashes between scans.
pub struct Scanner {
    cache: Cache,
    clock: SharedClock,
    /// Search paths that held plugins in an earlier scan.
    held: Vec<PathBuf>,
    /// Plugins as they were read last, valid for `basis`.
    known: BTreeMap<OwnerPath, Known>,
    basis: Option<Basis>,
    schemas: Schemas,
}

/// What beside its own files decides how a plugin is read.
#[derive(Debug, Clone, PartialEq)]
struct Basis {
    bot: BotConfig,
    text: Option<Arc<str>>,
    roots: Roots,
    never: Vec<PathBuf>,
}

impl Default for Scanner {
    fn default() -> Self {
        Self::new()
    }
}

impl Scanner {
    /// Without any known hash. The clock is the machine's: it is compared with times of the file system.
    pub fn new() -> Self {
        Self::with_clock(SystemClock::shared())
    }

    /// The same on another clock.
    pub fn with_clock(clock: SharedClock) -> Self {
        Self {
            cache: Cache::default(),
            clock,
            held: Vec::new(),
            known: BTreeMap::new(),
            basis: None,
            schemas: Schemas::default(),
        }
    }

    /// Reads the whole tree; begins again when a file changes under the read.
    pub fn scan(&mut self, options: &ScanOptions<'_>) -> Result<SourceTree, UnstableInput> {
        let mut last = String::new();
        for _ in 0..ATTEMPTS {
            match self.once(options) {
                Ok(tree) => return Ok(tree),
                Err(Unstable(path)) => {
                    let bot = std::fs::canonicalize(options.bot_dir).unwrap_or_else(|_| options.bot_dir.into());
                    last = path.strip_prefix(&bot).unwrap_or(&path).to_string_lossy().into_owned();
                }
            }
        }
        Err(UnstableInput { path: last, attempts: ATTEMPTS })
    }

    fn once(&mut self, options: &ScanOptions<'_>) -> Result<SourceTree, Unstable> {
        let bot_dir = std::fs::canonicalize(options.bot_dir).map_err(|_| Unstable(options.bot_dir.into()))?;
        let mut roots = vec![bot_dir.clone()];
        roots.extend(options.bot.plugins.paths.iter().filter_map(|p| std::fs::canonicalize(bot_dir.join(p)).ok()));
        let roots = Roots(roots);
        let never = never(options, &bot_dir);
        let text = options.bot_doc.as_ref().map(|d| d.text.clone());
        let basis = Basis { bot: options.bot.clone(), text, roots: roots.clone(), never: never.clone() };
        if options.full || self.basis.as_ref() != Some(&basis) {
            self.known.clear();
            self.basis = Some(basis);
        }
        let (rules, bad_rules) = Rules::new(&options.bot.plugins.ignore, never, options.bot_doc.as_deref());
        let millis = u64::try_from(self.clock.now().timestamp_millis()).unwrap_or(0);
        let pass = Pass { roots: &roots, now: Duration::from_millis(millis), full: options.full };
        self.cache.begin();
        let mut cx = Context {
            options,
            bot_dir,
            roots: &roots,
            rules: &rules,
            schemas: &self.schemas,
            workspace: options.data_dir.join(&options.bot.workspace.root),
            tree: bad_rules,
            watch: BTreeSet::new(),
            apart: Vec::new(),
            known: std::mem::take(&mut self.known),
            reader: Reader { pass, cache: &mut self.cache },
        };
        let paths = discover::search_paths(&mut cx, &self.held);
        cx.apart = paths.iter().map(|p| p.real.clone()).filter(|p| *p != cx.bot_dir).collect();
        let found = discover::plugins(&mut cx, &paths)?;
        self.held =
            paths.iter().filter(|p| found.iter().any(|f| f.dir.starts_with(&p.real))).map(|p| p.real.clone()).collect();
        let root = root_of(&cx);
        let mut plugins = Vec::new();
        for found in std::iter::once(root).chain(found) {
            plugins.extend(plugin::load(&mut cx, found, &mut self.known)?);
        }
        if let Some(root) = plugins.first_mut() {
            workspace::add(&mut cx, root)?;
        }
        let (bot, doc) = (options.bot, options.bot_doc.as_deref());
        cx.tree.extend(owners(bot, doc, &plugins));
        let plugins = order::settle(plugins, &bot.plugins.disabled);
        cx.tree.extend(items::many_always_loaded(&plugins));
        let (diagnostics, watch) = (cx.tree, cx.watch);
        let files_read = self.cache.opened;
        self.cache.end();
        Ok(SourceTree { plugins, diagnostics, watch: watch.into_iter().collect(), files_read })
    }
}

fn root_of(cx: &Context<'_>) -> Found {
    Found { owner: OwnerPath::root(), dir: cx.bot_dir.clone(), shown: String::new(), naming: Vec::new() }
}

/// Absolute paths, links resolved where the path exists.
fn never(options: &ScanOptions<'_>, bot_dir: &Path) -> Vec<PathBuf> {
    let own = [options.data_dir.to_path_buf(), bot_dir.join(".env"), bot_dir.join("bot.toml")];
    own.into_iter()
        .chain(options.never.iter().cloned())
        .flat_map(|path| {
            let path = bot_dir.join(path);
            let real = std::fs::canonicalize(&path).ok().or_else(|| {
                let parent = std::fs::canonicalize(path.parent()?).ok()?;
                Some(parent.join(path.file_name()?))
            });
            [Some(path), real].into_iter().flatten()
        })
        .filter(|path| path != bot_dir && path.parent().is_some())
        .collect()
}

/// What the steps of a scan share.
pub(super) struct Context<'a> {
    pub(super) options: &'a ScanOptions<'a>,
    pub(super) bot_dir: PathBuf,
    pub(super) roots: &'a Roots,
    pub(super) rules: &'a Rules,
    pub(super) schemas: &'a Schemas,
    /// `workspace.root`.
    pub(super) workspace: PathBuf,
    /// Findings that belong to no single plugin.
    pub(super) tree: Vec<Diagnostic>,
    watch: BTreeSet<PathBuf>,
    /// Folders that are never part of the root plugin: the search paths.
    pub(super) apart: Vec<PathBuf>,
    /// Plugins of the scan before.
    pub(super) known: BTreeMap<OwnerPath, Known>,
    pub(super) reader: Reader<'a>,
}

impl Context<'_> {
    /// Keeps what a walk found that belongs to no plugin.
    pub(super) fn take(&mut self, walk: Walk<'_>) {
        self.watch.extend(walk.folders);
        // A folder of plugins is no part of the copy, so neither are dependency folders beside them.
        self.tree.extend(walk.diagnostics.into_iter().filter(|d| d.code != "layout::shared-dependencies"));
    }

    pub(super) fn watch_all(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        self.watch.extend(folders);
    }

    /// Watches the nearest folder above that exists, to see a path come and go.
    pub(super) fn watch_parent(&mut self, path: &Path) {
        let there = path.ancestors().skip(1).find_map(|p| std::fs::canonicalize(p).ok());
        self.watch.extend(there);
    }
}

/// Owners of `bot.toml` that are no plugin.
fn owners(bot: &BotConfig, doc: Option<&Doc>, plugins: &[PluginSource]) -> Vec<Diagnostic> {
    let known: Vec<&str> = plugins.iter().map(|p| p.owner.as_str()).collect();
    let unknown = |name: &str| {
        let d = Diagnostic::warning("config::unknown-owner", format!("there is no plugin `{name}`"));
        d.help(crate::config::nearest_help(name, known.iter().copied()))
    };
    let mut found = Vec::new();
    for name in bot.plugins.config.keys().filter(|k| !known.contains(&k.as_str())) {
        let pointer = format!("/plugins/config/{}", name.replace('~', "~0").replace('/', "~1"));
        found.push(match doc {
            Some(doc) => doc.diag_key(unknown(name), &pointer),
            None => unknown(name).file("bot.toml"),
        });
    }
    for (n, name) in bot.plugins.disabled.iter().enumerate().filter(|(_, d)| !known.contains(&d.as_str())) {
        found.push(in_bot(doc, unknown(name), &format!("/plugins/disabled/{n}")));
    }
    found
}
