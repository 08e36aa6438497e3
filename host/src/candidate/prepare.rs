//! The pipeline: configuration, read, tree and items, views, copies, binding, index. Each step takes what
//! the one before gave; all problems of all plugins are collected.

use super::broken::{Exclusions, unread_tools};
use super::contents::{Contents, FailedPlugin, PluginState, PluginView, Prepared};
use super::digest::{input_digest, source_digest};
use super::plugins::{Assembly, PluginSteps};
use super::report::Report;
use super::workshop::{Candidate, OwnedTest, PrepareRequest, Rejected, Rule, Workshop};
use super::{Instance, configuration};
use crate::index::{Contribution, Indexes, Parts, build_after};
use crate::loader::{ScanOptions, SourceTree};
use configuration::Loaded;
use plugin_sdk::{Diagnostic, OwnerPath};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// The verdict, and the instances that nobody uses.
pub(super) type Ran = (Result<Candidate, Box<Rejected>>, Vec<Arc<Instance>>);

/// One preparation.
pub(super) struct Run<'a> {
    pub(super) shop: &'a Workshop,
    pub(super) request: PrepareRequest,
    pub(super) report: Report,
    deadline: Duration,
    /// Instances made in this run.
    pub(super) made: Vec<Arc<Instance>>,
    /// Plugins made in this run: a later round takes them from here.
    pub(super) drafts: Vec<Arc<Prepared>>,
    /// Scenario files of what was read.
    tests: Vec<OwnedTest>,
}

/// Ends a preparation early.
pub(super) struct Refused {
    step: &'static str,
    errors: Vec<Diagnostic>,
    plugins: Vec<PluginView>,
}

impl Refused {
    pub(super) fn at(step: &'static str, errors: Vec<Diagnostic>) -> Self {
        Self { step, errors, plugins: Vec::new() }
    }
}

/// What the last round gave.
struct Whole {
    prepared: Vec<Arc<Prepared>>,
    outcome: Outcome,
    failed: Vec<FailedPlugin>,
    digest: String,
}

/// Whether there is something to publish.
enum Outcome {
    New(Arc<Indexes>),
    /// The base's own contents.
    Unchanged(Arc<Contents>),
}

impl<'a> Run<'a> {
    pub(super) fn new(shop: &'a Workshop, request: PrepareRequest) -> Self {
        let deadline = shop.setup.clock.monotonic() + request.timeout.unwrap_or(TIMEOUT);
        Self {
            shop,
            request,
            report: Report::default(),
            deadline,
            made: Vec::new(),
            drafts: Vec::new(),
            tests: Vec::new(),
        }
    }

    pub(super) fn all(mut self) -> Ran {
        match self.steps() {
            Ok(candidate) => {
                let used = &candidate.contents.instances;
                let unused = self.made.drain(..).filter(|m| !used.iter().any(|u| Arc::ptr_eq(u, m))).collect();
                (Ok(candidate), unused)
            }
            Err(refused) => {
                self.report.diagnostics.extend(refused.errors);
                self.report.settle();
                let rejected = Rejected {
                    failed_step: refused.step,
                    report: self.report,
                    plugins: refused.plugins,
                    tests: self.tests,
                };
                (Err(Box::new(rejected)), self.made)
            }
        }
    }

    fn steps(&mut self) -> Result<Candidate, Refused> {
        self.report.watch.read_at = Some(self.shop.setup.clock.now());
        let loaded = self.timed("configuration", |run| configuration::load(run))?;
        if !loaded.refused.is_empty() {
            return Err(self.beside(loaded));
        }
        let tree = self.timed("read", |run| run.scan(&loaded))?;
        configuration::watch_list(self, &loaded, &tree);
        self.report.files_read = tree.files_read;
        let tree = self.held(tree);
        let mut out = self.known_failures(&tree, &loaded);
        let whole = loop {
            match self.round(&tree, &loaded, &out)? {
                Ok(whole) => break whole,
                Err(errors) => out = self.tolerate(errors, &tree, &loaded, out)?,
            }
        };
        Ok(self.finish(whole, &tree, &loaded))
    }

    /// `bot.toml` is refused: what else is wrong in the tree is said at once, as far as it does not depend on
    /// what the file would have said.
    fn beside(&mut self, mut loaded: Loaded) -> Refused {
        let mut errors = std::mem::take(&mut loaded.refused);
        let digest = self.report.digest.clone();
        if let Ok(tree) = self.timed("read", |run| run.scan(&loaded)) {
            let tree = self.held(tree);
            if let Ok(Err(more)) = self.round(&tree, &loaded, &Exclusions::default()) {
                errors.extend(more.into_iter().filter(stands_alone));
            }
            self.report.diagnostics.retain(stands_alone);
        }
        self.report.digest = digest;
        Refused::at("configuration", errors)
    }

    /// One attempt at everything that is not excluded: whole, or all its errors.
    fn round(
        &mut self,
        tree: &SourceTree,
        loaded: &Loaded,
        out: &Exclusions,
    ) -> Result<Result<Whole, Vec<Diagnostic>>, Refused> {
        self.report.diagnostics.clear();
        let mut errors = self.timed("tree", |run| Ok(run.found(tree, loaded, out)))?;
        let assembly = PluginSteps { run: self, tree, loaded, out }.all()?;
        let failed = out.failed(|owner| own_digest(tree, loaded, owner));
        let digest = input_digest(&loaded.digest, &assembly.prepared, &failed);
        self.report.digest.clone_from(&digest);
        let sound = errors.is_empty() && assembly.errors.is_empty();
        if let (true, Some(contents)) = (sound, self.unchanged(&digest, &failed)) {
            self.report.diagnostics.extend(assembly.findings);
            let outcome = Outcome::Unchanged(contents);
            return Ok(Ok(Whole { prepared: assembly.prepared, outcome, failed, digest }));
        }
        let (indexes, found) = self.timed("index", |run| Ok(run.index(tree, loaded, out, &assembly)))?;
        let (wrong, fine): (Vec<_>, Vec<_>) = found.into_iter().partition(Diagnostic::is_error);
        errors.extend(wrong);
        errors.extend(assembly.errors);
        self.report.diagnostics.extend(assembly.findings.into_iter().chain(fine));
        match indexes {
            Some(indexes) if errors.is_empty() => {
                let outcome = Outcome::New(Arc::new(indexes));
                Ok(Ok(Whole { prepared: assembly.prepared, outcome, failed, digest }))
            }
            _ => Ok(Err(errors)),
        }
    }

    /// Findings of the read: errors of what is in, everything else goes into the report.
    fn found(&mut self, tree: &SourceTree, loaded: &Loaded, out: &Exclusions) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        self.report.diagnostics.extend(loaded.findings.iter().cloned());
        let known = || tree.plugins.iter().map(|p| p.owner.as_str());
        for owner in self.request.rebuild.iter().filter(|o| !known().any(|k| k == o.as_str())) {
            let d = Diagnostic::warning("config::unknown-owner", format!("there is no plugin `{owner}` to rebuild"));
            self.report.diagnostics.push(d.help(crate::config::nearest_help(owner.as_str(), known())));
        }
        for cause in out.plugins.values().flat_map(|c| &c.diagnostics).chain(&out.root_causes) {
            self.report.diagnostics.push(cause.clone());
        }
        let own = tree.plugins.iter().flat_map(|p| p.diagnostics.iter().map(move |d| (Some(&p.owner), d)));
        for (owner, d) in own.chain(tree.diagnostics.iter().map(|d| (None, d))) {
            let excluded = owner.is_some_and(|o| {
                let item = |d: &Diagnostic| Some(out.has_item(o, d.item.as_deref()?, d.file.as_deref()?));
                out.has(o) || item(d) == Some(true)
            });
            if d.is_error() && !excluded {
                errors.push(d.clone());
            } else {
                self.report.diagnostics.push(d.clone());
            }
        }
        errors
    }

    fn scan(&mut self, loaded: &Loaded) -> Result<SourceTree, Refused> {
        let bot = &loaded.bot;
        let bot_dir = self.shop.bot_dir();
        let data_dir = crate::store::real_path(&bot_dir.join(&bot.bot.data_dir));
        let workspace = data_dir.join(&bot.workspace.root);
        let mut never = loaded.secret_sources.clone();
        never.extend(bot.telemetry.log_file.iter().map(|f| bot_dir.join(f)));
        never.extend([workspace.clone(), self.shop.setup.data_dir.clone()]);
        let skills = &bot.agent.skills;
        let options = ScanOptions {
            bot_dir,
            data_dir: &data_dir,
            bot,
            bot_doc: loaded.doc.clone(),
            never,
            workspace_skills: skills.enabled.then(|| workspace.join(&skills.root)),
            full: self.request.full,
        };
        let mut scanner = self.shop.scanner.lock().unwrap_or_else(PoisonError::into_inner);
        let tree = scanner.scan(&options).map_err(|unstable| Refused::at("read", vec![unstable.diagnostic()]))?;
        let tests = |p: &'_ crate::loader::PluginSource| -> Vec<OwnedTest> {
            p.tests.iter().map(|t| (p.owner.clone(), t.clone())).collect()
        };
        self.tests = tree.plugins.iter().filter(|p| p.enabled).flat_map(tests).collect();
        Ok(tree)
    }

    /// Plugins whose files still change are not looked at: their published version goes on, a new one waits.
    fn held(&mut self, mut tree: SourceTree) -> SourceTree {
        let hold = std::mem::take(&mut self.request.hold);
        let is_held = |owner: &OwnerPath| !owner.is_root() && hold.iter().any(|h| owner.is_within(h));
        self.report.settling = hold.iter().filter(|o| !o.is_root()).cloned().collect();
        tree.plugins.retain(|p| !is_held(&p.owner));
        self.request.hold = hold;
        tree
    }

    /// Failed plugins that have not changed stay out from the beginning, unless they are to be judged again.
    fn known_failures(&self, tree: &SourceTree, loaded: &Loaded) -> Exclusions {
        let mut out = Exclusions::default();
        let Some(base) = self.request.base.as_ref().filter(|_| !self.request.retry_failed) else { return out };
        for failed in
            base.failed.iter().filter(|f| f.because_of.is_none() && f.digest == own_digest(tree, loaded, &f.owner))
        {
            if failed.owner.is_root() {
                out.root_items.extend(failed.items.iter().cloned());
                out.root_causes.extend(failed.causes.iter().cloned());
            } else {
                failed.causes.iter().for_each(|d| out.add(failed.owner.clone(), d.clone()));
            }
        }
        out.spread(tree);
        out
    }

    /// The next exclusions, or the refusal.
    fn tolerate(
        &mut self,
        errors: Vec<Diagnostic>,
        tree: &SourceTree,
        loaded: &Loaded,
        mut out: Exclusions,
    ) -> Result<Exclusions, Refused> {
        let before = (out.plugins.len(), out.root_items.len());
        let base = self.request.base.as_ref();
        let failed_before = |owner: &OwnerPath| {
            let digest = own_digest(tree, loaded, owner);
            base.is_some_and(|b| b.failed.iter().any(|f| f.owner == *owner && f.digest == digest))
        };
        let may = |owner: &OwnerPath| match self.request.rule {
            Rule::Start => true,
            Rule::Strict => false,
            Rule::Reload => failed_before(owner),
        };
        let mut rest = out.exclude(errors.clone(), tree, may);
        let dragged = out.plugins.iter().filter(|(owner, cause)| cause.because_of.is_some() && !may(owner));
        rest.extend(dragged.flat_map(|(_, cause)| cause.diagnostics.clone()));
        if rest.is_empty() && before != (out.plugins.len(), out.root_items.len()) {
            return Ok(out);
        }
        let errors = match self.request.rule {
            // What would have been left out is said with what cannot be.
            Rule::Start => {
                let more: Vec<_> = rest.into_iter().filter(|d| !errors.contains(d)).collect();
                errors.into_iter().chain(more).collect()
            }
            _ if rest.is_empty() => errors,
            _ => rest,
        };
        let step = errors.iter().map(step_of).min_by_key(|s| super::report::STEPS.iter().position(|n| n == s));
        let plugins = tree.plugins.iter().map(|p| view(p, PluginState::Active)).collect();
        Err(Refused { step: step.unwrap_or("index"), errors, plugins })
    }

    fn index(
        &self,
        tree: &SourceTree,
        loaded: &Loaded,
        out: &Exclusions,
        assembly: &Assembly,
    ) -> (Option<Indexes>, Vec<Diagnostic>) {
        let inactive = tree.plugins.iter().filter(|p| !p.enabled || out.has(&p.owner)).map(|p| p.owner.clone());
        let prepared = &assembly.prepared;
        let keep = |owner: &OwnerPath, place: &crate::loader::Place| !out.has_item(owner, &place.item, &place.doc.file);
        let all = prepared.iter().flat_map(|p| p.contributions.iter());
        let kept = |c: &&Contribution| c.place.as_ref().is_none_or(|place| keep(&c.owner, place));
        // a broken tool counts as present: naming it elsewhere is no second fault
        let unread = tree.plugins.iter().flat_map(unread_tools);
        let broken = all.clone().filter(|c| !kept(c)).flat_map(Contribution::names).chain(unread);
        let own = all.filter(kept).cloned();
        let skills = prepared.iter().flat_map(|p| p.skills.iter().cloned());
        let sections = prepared.iter().flat_map(|p| p.sections.iter().cloned());
        let agents = prepared.iter().flat_map(|p| p.acting.agents.iter().cloned());
        let hooks = prepared.iter().flat_map(|p| p.acting.hooks.iter().cloned());
        let commands = prepared.iter().flat_map(|p| p.acting.commands.iter().cloned());
        let texts = prepared.iter().filter_map(|p| Some((p.view.owner.clone(), p.agents_md.clone()?)));
        let previous = self.request.base.as_ref().map(|b| &b.contents);
        let previous = previous.filter(|c| c.bot.adapters.keys().eq(loaded.bot.adapters.keys()));
        let parts = Parts {
            contributions: (self.shop.setup.builtins)(&loaded.bot).into_iter().chain(own).collect(),
            left_out: prepared.iter().flat_map(|p| p.left_out.iter().cloned()).chain(broken).collect(),
            inactive: inactive.collect(),
            skills: skills.filter(|s| keep(&s.place.owner, &s.place)).collect(),
            sections: sections.filter(|s| keep(&s.place.owner, &s.place)).collect(),
            agents: agents.filter(|a| keep(&a.place.owner, &a.place)).collect(),
            hooks: hooks.filter(|h| keep(&h.owner, &h.source.place)).collect(),
            commands: commands.filter(|c| keep(&c.place.owner, &c.place)).collect(),
            agents_md: texts.collect(),
            bot: &loaded.bot,
            bot_doc: loaded.doc.clone(),
        };
        build_after(parts, previous.map(|c| &*c.indexes))
    }

    /// The base's contents when they are what this would become.
    fn unchanged(&self, digest: &str, failed: &[FailedPlugin]) -> Option<Arc<Contents>> {
        let base = self.request.base.as_ref()?;
        let same = base.contents.digest == digest && base.failed.len() == failed.len();
        (same && self.report.rebuilt.is_empty()).then(|| Arc::clone(&base.contents))
    }

    fn finish(&mut self, whole: Whole, tree: &SourceTree, loaded: &Loaded) -> Candidate {
        self.report.settle();
        let report = std::mem::take(&mut self.report);
        let tests = std::mem::take(&mut self.tests);
        let failed = whole.failed;
        let indexes = match whole.outcome {
            Outcome::New(indexes) => indexes,
            Outcome::Unchanged(contents) => return Candidate { contents, unchanged: true, failed, report, tests },
        };
        let instances: Vec<_> = whole.prepared.iter().filter_map(|p| p.instance.clone()).collect();
        instances.iter().for_each(|i| i.join());
        let mut plugins: Vec<PluginView> = whole.prepared.iter().map(|p| p.view.clone()).collect();
        let is_failed = |owner: &OwnerPath| failed.iter().any(|f| f.owner == *owner);
        plugins.iter_mut().filter(|p| is_failed(&p.owner)).for_each(|p| p.state = PluginState::Failed);
        let missing = tree.plugins.iter().filter(|p| is_failed(&p.owner) && !p.owner.is_root());
        plugins.extend(missing.map(|p| view(p, PluginState::Failed)));
        let contents = Contents {
            bot: Arc::clone(&loaded.bot),
            plugins,
            indexes,
            warnings: report.diagnostics.iter().filter(|d| !d.is_error()).cloned().collect(),
            digest: whole.digest,
            instances,
            inputs: whole.prepared.iter().filter(|p| p.instance.is_some()).map(|p| p.input()).collect(),
            prepared: whole.prepared,
        };
        Candidate { contents: Arc::new(contents), unchanged: false, failed, report, tests }
    }

    /// Runs a step under the clock; the stop signal and the time limit are looked at before it.
    pub(super) fn timed<T>(
        &mut self,
        step: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        self.go_on(step)?;
        let start = self.shop.setup.clock.monotonic();
        let result = work(self);
        let spent = self.shop.setup.clock.monotonic().saturating_sub(start);
        self.report.spent(step, spent.as_secs_f64() * 1000.0);
        result
    }

    pub(super) fn go_on(&self, step: &'static str) -> Result<(), Refused> {
        let why = if self.request.stop.requested() {
            "the preparation was stopped"
        } else if self.shop.setup.clock.monotonic() >= self.deadline {
            "the preparation took longer than `reload.prepare_timeout_seconds`"
        } else {
            return Ok(());
        };
        Err(Refused::at(step, vec![Diagnostic::error("reload::prepare-timeout", why)]))
    }
}

/// Whether a finding holds whatever `bot.toml` says.
fn stands_alone(d: &Diagnostic) -> bool {
    let group = d.code.split("::").next().unwrap_or_default();
    let of_the_file = d.file.as_deref() == Some(crate::config::BOT_FILE);
    let by_settings = ["access", "admission", "approval", "bot", "config", "deferred", "tools"].contains(&group);
    let by_values = [
        "agent::platform-conflict",
        "agent::unknown-model",
        "agent::workspace",
        "permit::adapter-absent",
        "permit::ambiguous-user",
        "tool::left-out",
        "tool::preset-invalid",
    ];
    !of_the_file && !by_settings && !by_values.contains(&d.code.as_str())
}

/// Digest of a plugin's own input; empty when it is not in the tree.
fn own_digest(tree: &SourceTree, loaded: &Loaded, owner: &OwnerPath) -> String {
    let plugin = tree.plugins.iter().find(|p| p.owner == *owner);
    plugin.map_or_else(String::new, |p| source_digest(p, loaded.bot.plugins.config.get(owner.as_str())))
}

/// The step that a finding belongs to, by its group.
fn step_of(d: &Diagnostic) -> &'static str {
    let group = d.code.split("::").next().unwrap_or_default();
    match (group, d.code.as_str()) {
        (_, "tool::left-out" | "tool::when-unknown" | "tool::preset-unknown" | "tool::preset-invalid") => "views",
        (_, "agent::platform-conflict") => "index",
        ("bot" | "plugin", _) => "tree",
        ("config", _) => "views",
        ("reload", _) => "copy",
        ("name" | "permit" | "tools", _) => "index",
        _ => "items",
    }
}

/// A plugin as lists show it.
pub(super) fn view(plugin: &crate::loader::PluginSource, state: PluginState) -> PluginView {
    let manifest = &plugin.manifest;
    PluginView {
        owner: plugin.owner.clone(),
        name: manifest.name.clone(),
        version: manifest.version.to_string(),
        description: manifest.description.clone(),
        file: manifest.place.as_ref().map(|p| p.doc.file.clone()),
        state,
        hash: String::new(),
        config: Arc::default(),
        config_schema: manifest.config_schema.clone().map(Arc::new),
        permissions: Arc::new(manifest.permissions.clone()),
        depends: manifest.depends.iter().map(|d| d.plugin.clone()).collect(),
    }
}
