//! The steps of each plugin that is in: its view, its copy, its bindings; or all of it carried over.

use super::bind::{Binding, Bound};
use super::broken::Exclusions;
use super::configuration::Loaded;
use super::contents::{Acting, PluginState, Prepared};
use super::copies::CopyReport;
use super::prepare::{Refused, Run, view};
use super::tree::Listed;
use super::{CopyError, Instance};
use crate::index::sha256_hex;
use crate::loader::{HashInput, PluginSource, SourceTree, plugin_hash, resolve_config, tokens_for};
use plugin_sdk::{Diagnostic, OwnerPath};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Everything of one round before the index.
#[derive(Default)]
pub(super) struct Assembly {
    pub(super) prepared: Vec<Arc<Prepared>>,
    pub(super) errors: Vec<Diagnostic>,
    pub(super) findings: Vec<Diagnostic>,
}

/// One round over the plugins.
pub(super) struct PluginSteps<'r, 'a> {
    pub(super) run: &'r mut Run<'a>,
    pub(super) tree: &'r SourceTree,
    pub(super) loaded: &'r Loaded,
    pub(super) out: &'r Exclusions,
}

/// What decides about one plugin beside its files.
struct Outlook {
    config: Arc<Map<String, Value>>,
    env: Vec<(String, String)>,
    hash: String,
}

impl PluginSteps<'_, '_> {
    pub(super) fn all(mut self) -> Result<Assembly, Refused> {
        let mut assembly = Assembly::default();
        let mut hashes = BTreeMap::new();
        self.run.report.reused.clear();
        self.run.report.rebuilt.clear();
        self.held(&mut assembly, &mut hashes);
        let tree = self.tree;
        for plugin in tree.plugins.iter().filter(|p| !self.out.has(&p.owner)) {
            self.run.go_on("views")?;
            let prepared = self.one(plugin, &hashes, &mut assembly)?;
            hashes.insert(plugin.owner.clone(), prepared.view.hash.clone());
            assembly.prepared.push(prepared);
        }
        let all = assembly.prepared.iter().flat_map(|p| p.findings.iter().cloned());
        let (errors, fine): (Vec<_>, Vec<_>) = all.partition(Diagnostic::is_error);
        let excluded = |d: &Diagnostic| {
            let owner = OwnerPath::new(d.owner.as_deref().unwrap_or_default());
            self.out.has_item(&owner, d.item.as_deref().unwrap_or(""), d.file.as_deref().unwrap_or(""))
        };
        assembly.errors.extend(errors.into_iter().filter(|d| !excluded(d)));
        assembly.findings.extend(fine);
        Ok(assembly)
    }

    /// Held plugins come as they are published, whatever is on disk.
    fn held(&mut self, assembly: &mut Assembly, hashes: &mut BTreeMap<OwnerPath, String>) {
        let Some(base) = &self.run.request.base else { return };
        for old in &base.contents.prepared {
            let owner = &old.view.owner;
            if !owner.is_root() && self.run.request.hold.iter().any(|h| owner.is_within(h)) {
                hashes.insert(owner.clone(), old.view.hash.clone());
                assembly.prepared.push(Arc::clone(old));
            }
        }
    }

    fn one(
        &mut self,
        plugin: &PluginSource,
        hashes: &BTreeMap<OwnerPath, String>,
        assembly: &mut Assembly,
    ) -> Result<Arc<Prepared>, Refused> {
        if !plugin.enabled {
            return Ok(Arc::new(self.disabled(plugin)));
        }
        let (loaded, tree) = (self.loaded, self.tree);
        let (outlook, found) = self.run.timed("views", |run| Ok(run.outlook(plugin, loaded, hashes)))?;
        if let Some(old) = self.carried_over(plugin, &outlook.hash) {
            if let Some(instance) = &old.instance
                && !self.run.made.iter().any(|m| Arc::ptr_eq(m, instance))
            {
                self.run.report.reused.push(plugin.owner.clone());
            } else {
                self.run.report.rebuilt.push(plugin.owner.clone());
            }
            assembly.findings.extend(self.run.timed("copy", |run| Ok(run.verify(&old)))?);
            return Ok(old);
        }
        self.run.report.rebuilt.push(plugin.owner.clone());
        let broken = plugin.has_errors() && !plugin.owner.is_root();
        let copied = if broken {
            // It is refused anyway: its items are only looked at, and nothing of it is ever run.
            Ok((plugin.dir.clone(), None, Vec::new()))
        } else {
            self.run.timed("copy", |run| Ok(run.copy(plugin, &outlook.hash)))?
        };
        let (root, instance, mut findings) = match copied {
            Ok(copied) => copied,
            Err(e) => (plugin.dir.clone(), None, vec![e.diagnostic().owner(&plugin.owner)]),
        };
        findings.extend(found);
        let bound = self.run.timed("views", |run| Ok(run.bind(plugin, tree, loaded, (&root, &outlook))))?;
        findings.extend(bound.findings);
        let mut view = view(plugin, PluginState::Active);
        view.hash = outlook.hash;
        view.config = outlook.config;
        let prepared = Arc::new(Prepared {
            view,
            instance,
            contributions: bound.contributions,
            left_out: bound.left_out,
            skills: plugin.skills.clone(),
            sections: plugin.sections.clone(),
            acting: Acting { agents: plugin.agents.clone(), hooks: bound.hooks, commands: plugin.commands.clone() },
            agents_md: plugin.agents_md.clone(),
            findings,
            files: Arc::new(plugin.files.clone()),
            links: plugin.links.clone(),
        });
        self.run.drafts.push(Arc::clone(&prepared));
        Ok(prepared)
    }

    fn disabled(&self, plugin: &PluginSource) -> Prepared {
        let mut view = view(plugin, PluginState::Disabled);
        view.hash = plugin_hash(plugin, HashInput::default());
        Prepared {
            view,
            instance: None,
            contributions: Vec::new(),
            left_out: Vec::new(),
            skills: Vec::new(),
            sections: Vec::new(),
            acting: Acting::default(),
            agents_md: None,
            findings: Vec::new(),
            files: Arc::default(),
            links: Vec::new(),
        }
    }

    /// The published plugin with this hash, or the one of an earlier round of this run. Nothing else is looked up.
    fn carried_over(&self, plugin: &PluginSource, hash: &str) -> Option<Arc<Prepared>> {
        let fits = |p: &&Arc<Prepared>| p.view.owner == plugin.owner && p.view.hash == hash;
        if let Some(draft) = self.run.drafts.iter().find(fits) {
            return Some(Arc::clone(draft));
        }
        let base = self.run.request.base.as_ref()?;
        let again = self.run.request.rebuild.contains(&plugin.owner);
        base.contents.prepared.iter().find(fits).filter(|p| !again && p.instance.is_some()).cloned()
    }
}

type Copied = Result<(std::path::PathBuf, Option<Arc<Instance>>, Vec<Diagnostic>), CopyError>;

impl Run<'_> {
    fn outlook(
        &mut self,
        plugin: &PluginSource,
        loaded: &Loaded,
        hashes: &BTreeMap<OwnerPath, String>,
    ) -> (Outlook, Vec<Diagnostic>) {
        let (config, found) = resolve_config(plugin, &loaded.bot, loaded.doc.as_deref());
        let asked = &plugin.manifest.permissions;
        let env: Vec<(String, String)> =
            asked.env.iter().filter_map(|n| Some((n.clone(), loaded.env.get(n)?.to_owned()))).collect();
        let mut environment: Vec<(String, String)> =
            env.iter().map(|(n, v)| (format!("env {n}"), sha256_hex(v))).collect();
        let readable = |name: &&String| plugin.owner.is_root() || asked.secrets.contains(name);
        environment.extend(
            loaded.bot.secrets.iter().filter(|(n, _)| readable(n)).map(|(n, s)| (n.clone(), sha256_hex(s.expose()))),
        );
        environment.sort();
        // The root is not counted as a parent: a change of a root tool would rebuild every plugin.
        let above = plugin.owner.parent().filter(|up| !up.is_root());
        let needs = above.into_iter().chain(plugin.manifest.depends.iter().map(|d| d.plugin.clone()));
        let upstream: Vec<String> = needs.filter_map(|owner| hashes.get(&owner).cloned()).collect();
        let input = HashInput { config: Some(&config), environment: &environment, upstream: &upstream };
        let hash = plugin_hash(plugin, input);
        (Outlook { config: Arc::new(config), env, hash }, found)
    }

    /// Compares the tree of a carried-over plugin before it is used again.
    fn verify(&mut self, old: &super::contents::Prepared) -> Vec<Diagnostic> {
        let mut report = CopyReport::default();
        let listed = Listed { files: &old.files, links: &old.links };
        let verified = self.shop.copies.verify(&old.view.hash, listed, &mut report);
        self.report.bytes_copied += report.bytes;
        let mut found = written(&old.view.owner, report.changed);
        if let Err(e) = verified {
            found.push(e.diagnostic().owner(&old.view.owner));
        }
        found
    }

    fn copy(&mut self, plugin: &PluginSource, hash: &str) -> Copied {
        let mut report = CopyReport::default();
        let tree = self.shop.copies.tree(hash, plugin, &mut report);
        self.report.bytes_copied += report.bytes;
        let tree = tree?;
        let path = tree.path.clone();
        let instance = Arc::new(Instance::new(plugin.owner.clone(), hash.to_owned(), vec![Box::new(tree)]));
        self.made.push(Arc::clone(&instance));
        Ok((path, Some(instance), written(&plugin.owner, report.changed)))
    }

    fn bind(
        &mut self,
        plugin: &PluginSource,
        tree: &SourceTree,
        loaded: &Loaded,
        (root, outlook): (&Path, &Outlook),
    ) -> Bound {
        let secrets: BTreeSet<String> = loaded.bot.secrets.keys().cloned().collect();
        let binding = Binding {
            plugin,
            root,
            config: &outlook.config,
            tokens: &tokens_for(&tree.plugins, &plugin.owner),
            secrets: &secrets,
            env: &outlook.env,
            pool: &self.shop.setup.pool,
            lenient: self.shop.is_throw_away(),
        };
        binding.run()
    }
}

fn written(owner: &OwnerPath, changed: Vec<String>) -> Vec<Diagnostic> {
    let warn = |path: String| {
        Diagnostic::warning("run::wrote-into-copy", format!("`{path}` was changed in the copy of `{owner}`"))
            .owner(owner)
            .help("a tool writes into its data folder or the workspace; the copy was put right")
    };
    changed.into_iter().map(warn).collect()
}
