//! The tree as a whole: switches, dependencies, tokens, and the order of preparation.

use super::source::{Dependency, PluginSource};
use plugin_sdk::{Diagnostic, OwnerPath, Severity};
use std::collections::{BTreeMap, BTreeSet};

/// Tokens the host itself gives.
const HOST_TOKENS: [&str; 6] = ["store", "schedule", "outbound", "http", "clock", "log"];

/// Applies switches and relations and sorts: parent before child, dependency before dependant, ties by owner.
pub(super) fn settle(mut plugins: Vec<PluginSource>, disabled: &[String]) -> Vec<PluginSource> {
    plugins.sort_by(|a, b| a.owner.cmp(&b.owner));
    switch(&mut plugins, disabled);
    let found = relations(&plugins);
    for (plugin, list) in plugins.iter_mut().zip(found) {
        plugin.diagnostics.extend(list);
    }
    sorted(plugins)
}

/// A disabled plugin and what lies in it contributes nothing, and its faults refuse nothing.
fn switch(plugins: &mut [PluginSource], disabled: &[String]) {
    let off: Vec<OwnerPath> = plugins
        .iter()
        .filter(|p| !p.manifest.enabled || disabled.iter().any(|d| d == p.owner.as_str()))
        .map(|p| p.owner.clone())
        .collect();
    for plugin in plugins.iter_mut().filter(|p| off.iter().any(|o| p.owner.is_within(o))) {
        plugin.enabled = false;
        plugin.tools.clear();
        plugin.skills.clear();
        plugin.sections.clear();
        plugin.agents_md = None;
        plugin.tests.clear();
        plugin.files.clear();
        for d in plugin.diagnostics.iter_mut().filter(|d| d.severity == Severity::Error) {
            d.severity = Severity::Warning;
        }
    }
}

fn by_owner<'p>(plugins: &'p [PluginSource], owner: &OwnerPath) -> Option<&'p PluginSource> {
    plugins.iter().find(|p| p.owner == *owner)
}

/// Whether a dependency is there: `Err` says why not, and which key is to blame.
fn meets(plugins: &[PluginSource], dependency: &Dependency) -> Result<(), (String, &'static str)> {
    let owner = &dependency.plugin;
    match by_owner(plugins, owner) {
        None => Err((format!("there is no plugin `{owner}`"), "plugin")),
        Some(p) if !p.enabled => Err((format!("the plugin `{owner}` is disabled"), "plugin")),
        // A version that could not be read has its own finding.
        Some(p) if !p.has_errors() && !dependency.version.matches(&p.manifest.version) => Err((
            format!("the plugin `{owner}` has version {}, but `{}` is needed", p.manifest.version, dependency.version),
            "version",
        )),
        Some(_) => Ok(()),
    }
}

/// Findings of every plugin, in its order.
fn relations(plugins: &[PluginSource]) -> Vec<Vec<Diagnostic>> {
    let mut found: Vec<Vec<Diagnostic>> = plugins.iter().map(|p| dependencies(plugins, p)).collect();
    for (plugin, list) in plugins.iter().zip(&mut found) {
        if plugin.enabled {
            list.extend(tokens(plugins, plugin));
        }
    }
    for circle in circles(plugins) {
        let Some((at, n)) = closing(plugins, &circle) else { continue };
        let mut names: Vec<String> = circle.iter().map(|o| format!("`{o}`")).collect();
        names.extend(names.first().cloned());
        let message = format!("the dependencies form a circle: {}", names.join(" → "));
        let d = Diagnostic::error("plugin::dependency-cycle", message).help("remove one of these dependencies");
        found[at].push(placed(&plugins[at], d, &format!("/depends/{n}/plugin")));
    }
    found
}

fn placed(plugin: &PluginSource, d: Diagnostic, pointer: &str) -> Diagnostic {
    match &plugin.manifest.place {
        Some(place) => place.doc.diag(d.owner(&plugin.owner), pointer),
        None => d.owner(&plugin.owner),
    }
}

fn dependencies(plugins: &[PluginSource], plugin: &PluginSource) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (n, dependency) in plugin.manifest.depends.iter().enumerate() {
        let Err((why, key)) = meets(plugins, dependency) else { continue };
        let (d, help) = if dependency.optional || !plugin.enabled {
            (
                Diagnostic::info("plugin::dependency-skipped", why),
                "the optional dependency counts as absent".to_string(),
            )
        } else {
            let owner = &dependency.plugin;
            let others = plugins.iter().map(|p| p.owner.as_str()).filter(|o| *o != plugin.owner.as_str());
            let near = match by_owner(plugins, owner) {
                None => crate::config::nearest(owner.as_str(), others),
                Some(_) => None,
            };
            let help = match (near, key) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, "version") => format!("update `{owner}`, or widen the range"),
                (None, _) => "add it, enable it, or mark the dependency `optional = true`".into(),
            };
            (Diagnostic::error("plugin::dependency-missing", why), help)
        };
        found.push(placed(plugin, d.help(help), &format!("/depends/{n}/{key}")));
    }
    found
}

/// Tokens a plugin can use: its own, its ancestors', its dependencies', the host's.
pub fn tokens_for(plugins: &[PluginSource], owner: &OwnerPath) -> BTreeSet<String> {
    let mut out: BTreeSet<String> = HOST_TOKENS.iter().map(|t| (*t).to_string()).collect();
    let mut next = Some(owner.clone());
    while let Some(at) = next {
        if let Some(p) = by_owner(plugins, &at).filter(|p| p.enabled) {
            out.extend(p.manifest.provides.iter().cloned());
        }
        next = at.parent();
    }
    let depends = by_owner(plugins, owner).map(|p| p.manifest.depends.as_slice()).unwrap_or_default();
    for dependency in depends.iter().filter(|d| meets(plugins, d).is_ok()) {
        if let Some(p) = by_owner(plugins, &dependency.plugin) {
            out.extend(p.manifest.provides.iter().cloned());
        }
    }
    out
}

fn tokens(plugins: &[PluginSource], plugin: &PluginSource) -> Vec<Diagnostic> {
    if plugin.manifest.requires.is_empty() {
        return Vec::new();
    }
    let known = tokens_for(plugins, &plugin.owner);
    let mut found = Vec::new();
    for (n, token) in plugin.manifest.requires.iter().enumerate().filter(|(_, t)| !known.contains(*t)) {
        let giver = plugins.iter().find(|p| p.manifest.provides.contains(token));
        let help = match giver {
            Some(p) => format!("add `{}` to `[[depends]]`; it provides `{token}`", p.owner),
            None => crate::config::nearest_help(token, known.iter().map(String::as_str)),
        };
        let message = format!("nobody whom `{}` can see provides the token `{token}`", plugin.owner);
        let d = Diagnostic::error("plugin::missing-token", message).help(help);
        found.push(placed(plugin, d, &format!("/requires/{n}")));
    }
    found
}

/// Owners that must come before a plugin.
fn before<'p>(plugins: &'p [PluginSource], plugin: &'p PluginSource) -> Vec<OwnerPath> {
    let depends = plugin.manifest.depends.iter().map(|d| d.plugin.clone());
    depends.chain(plugin.owner.parent()).filter(|o| by_owner(plugins, o).is_some()).collect()
}

fn sorted(plugins: Vec<PluginSource>) -> Vec<PluginSource> {
    let mut open: BTreeMap<OwnerPath, BTreeSet<OwnerPath>> =
        plugins.iter().map(|p| (p.owner.clone(), before(&plugins, p).into_iter().collect())).collect();
    let mut order: Vec<OwnerPath> = Vec::new();
    while let Some(next) = open
        .iter()
        .find(|(_, needs)| needs.is_empty())
        // What is left is a circle: its finding refuses the tree, the order only has to be stable.
        .or_else(|| open.iter().next())
        .map(|(owner, _)| owner.clone())
    {
        open.remove(&next);
        open.values_mut().for_each(|needs| {
            needs.remove(&next);
        });
        order.push(next);
    }
    let mut by_name: BTreeMap<OwnerPath, PluginSource> = plugins.into_iter().map(|p| (p.owner.clone(), p)).collect();
    order.iter().filter_map(|owner| by_name.remove(owner)).collect()
}

/// One circle for each group of plugins that wait for each other.
fn circles(plugins: &[PluginSource]) -> Vec<Vec<OwnerPath>> {
    let mut out: Vec<Vec<OwnerPath>> = Vec::new();
    for start in plugins {
        if out.iter().any(|c| c.contains(&start.owner)) {
            continue;
        }
        let mut path = vec![start.owner.clone()];
        let mut seen = BTreeSet::new();
        if way_back(plugins, &start.owner, &mut path, &mut seen) {
            out.push(path);
        }
    }
    out
}

/// Extends `path` to a way from its last owner back to `goal`.
fn way_back(
    plugins: &[PluginSource],
    goal: &OwnerPath,
    path: &mut Vec<OwnerPath>,
    seen: &mut BTreeSet<OwnerPath>,
) -> bool {
    let Some(plugin) = path.last().and_then(|o| by_owner(plugins, o)) else { return false };
    for next in before(plugins, plugin) {
        if next == *goal {
            return true;
        }
        if seen.insert(next.clone()) {
            path.push(next);
            if way_back(plugins, goal, path, seen) {
                return true;
            }
            path.pop();
        }
    }
    false
}

/// The first `[[depends]]` entry that belongs to a circle: plugin and entry.
fn closing(plugins: &[PluginSource], circle: &[OwnerPath]) -> Option<(usize, usize)> {
    plugins
        .iter()
        .enumerate()
        .filter(|(_, p)| circle.contains(&p.owner))
        .find_map(|(at, p)| p.manifest.depends.iter().position(|d| circle.contains(&d.plugin)).map(|n| (at, n)))
}
