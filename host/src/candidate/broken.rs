//! Which plugins go when one is broken: the rule of the start, and of what was left out before.

use super::contents::{BrokenItem, FailedPlugin};
use super::guards;
use crate::loader::{Placement, PluginSource, SourceTree};
use plugin_sdk::{Diagnostic, OwnerPath};
use std::collections::{BTreeMap, BTreeSet};

/// Plugins and root items that are not in the candidate, with their causes.
#[derive(Debug, Clone, Default)]
pub(super) struct Exclusions {
    pub(super) plugins: BTreeMap<OwnerPath, Cause>,
    pub(super) root_items: BTreeSet<BrokenItem>,
    pub(super) root_causes: Vec<Diagnostic>,
}

/// Why a plugin is out.
#[derive(Debug, Clone)]
pub(super) struct Cause {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) because_of: Option<OwnerPath>,
}

/// Qualified names of the tools whose files are refused.
pub(super) fn unread_tools(plugin: &PluginSource) -> Vec<String> {
    let named = |d: &Diagnostic| {
        let name = d.item.as_deref()?.strip_prefix("tool ")?;
        let parts: Vec<&str> = d.file.as_deref()?.split('/').collect();
        let at = parts.windows(2).rposition(|w| *w == ["tools", name])?;
        let holder = |end: usize, container: &str| {
            let folder = parts.get(end.checked_sub(2)?..end)?;
            (folder[0] == container).then(|| folder[1].to_string())
        };
        let placement = match (holder(at, "skills"), holder(at, "agents")) {
            (Some(skill), _) => match holder(at - 2, "agents") {
                Some(agent) => Placement::AgentSkill(agent, skill),
                None => Placement::Skill(skill),
            },
            (None, Some(agent)) => Placement::Agent(agent),
            (None, None) => Placement::Plugin,
        };
        Some(plugin.owner.qualify(&placement.local(name)))
    };
    plugin.diagnostics.iter().filter(|d| d.is_error()).filter_map(named).collect()
}

impl Exclusions {
    pub(super) fn has(&self, owner: &OwnerPath) -> bool {
        self.plugins.contains_key(owner)
    }

    /// Whether an item of the root is out.
    pub(super) fn has_item(&self, owner: &OwnerPath, label: &str, file: &str) -> bool {
        owner.is_root() && self.root_items.iter().any(|i| i.label == label && i.file == file)
    }

    /// Takes out what these errors are about, as far as `may` allows. Errors that belong to nothing that can
    /// be taken out come back.
    pub(super) fn exclude(
        &mut self,
        errors: Vec<Diagnostic>,
        tree: &SourceTree,
        may: impl Fn(&OwnerPath) -> bool,
    ) -> Vec<Diagnostic> {
        let mut rest = Vec::new();
        for error in errors {
            let owner = error.owner.as_deref().map(OwnerPath::new);
            let known = owner.and_then(|o| tree.plugins.iter().find(|p| p.owner == o)).filter(|p| may(&p.owner));
            match known {
                Some(root) if root.owner.is_root() => match (&error.item, &error.file) {
                    (Some(label), Some(file)) if !guards::is_guard(root, label, file) => {
                        self.root_items.insert(BrokenItem { label: label.clone(), file: file.clone() });
                        self.root_items.extend(guards::holders(label, file));
                        self.root_causes.push(error);
                    }
                    _ => rest.push(error),
                },
                Some(plugin) => self.add(plugin.owner.clone(), error),
                None => rest.push(error),
            }
        }
        self.spread(tree);
        // Without its guard the rest of the bot would be more open than its author wrote it.
        for plugin in tree.plugins.iter().filter(|p| p.enabled && self.has(&p.owner)) {
            rest.extend(guards::left_out(plugin));
        }
        rest
    }

    pub(super) fn add(&mut self, owner: OwnerPath, error: Diagnostic) {
        let cause = self.plugins.entry(owner).or_insert(Cause { diagnostics: Vec::new(), because_of: None });
        // An own fault weighs more than one inherited from another plugin.
        cause.because_of = None;
        cause.diagnostics.push(error);
    }

    /// Descendants and required dependants go too.
    pub(super) fn spread(&mut self, tree: &SourceTree) {
        // Parents and dependencies come first in the tree, so one pass reaches everything.
        for plugin in tree.plugins.iter().filter(|p| p.enabled && !p.owner.is_root()) {
            if self.has(&plugin.owner) {
                continue;
            }
            let above = plugin.owner.parent().filter(|up| self.has(up));
            let needed = plugin.manifest.depends.iter().filter(|d| !d.optional).map(|d| d.plugin.clone());
            if let Some(origin) = above.or_else(|| needed.into_iter().find(|d| self.has(d))) {
                let message = format!("`{}` is left out with `{origin}`, which it is part of or needs", plugin.owner);
                let d = Diagnostic::error("plugin::dependency-missing", message)
                    .owner(&plugin.owner)
                    .help(format!("repair `{origin}`"));
                let cause = Cause { diagnostics: vec![d], because_of: Some(origin) };
                self.plugins.insert(plugin.owner.clone(), cause);
            }
        }
    }

    /// The list that `status` and the next candidate see.
    pub(super) fn failed(&self, digest: impl Fn(&OwnerPath) -> String) -> Vec<FailedPlugin> {
        let mut out: Vec<FailedPlugin> = self
            .plugins
            .iter()
            .map(|(owner, cause)| FailedPlugin {
                owner: owner.clone(),
                causes: cause.diagnostics.clone(),
                digest: digest(owner),
                because_of: cause.because_of.clone(),
                items: Vec::new(),
            })
            .collect();
        if !self.root_items.is_empty() {
            let root = OwnerPath::root();
            out.push(FailedPlugin {
                digest: digest(&root),
                owner: root,
                causes: self.root_causes.clone(),
                because_of: None,
                items: self.root_items.iter().cloned().collect(),
            });
        }
        out.sort_by(|a, b| a.owner.cmp(&b.owner));
        out
    }
}
