//! Hooks that may refuse a call are guards. A guard never goes missing silently: what it guards goes with it, or
//! there is no candidate.

use super::contents::BrokenItem;
use crate::loader::{HookSource, Placement, PluginSource};
use plugin_sdk::{Diagnostic, HookEventKind};

/// Whether a refused item of the root is a hook before everybody's calls, as far as its file tells.
pub(super) fn is_guard(root: &PluginSource, label: &str, file: &str) -> bool {
    let Some(folder) = folder_of(label, file) else { return false };
    let sound = root.hooks.iter().find(|h| h.placement == Placement::Plugin && h.folder == folder);
    match sound {
        Some(hook) => guards(hook),
        None => !root.quiet_hooks.contains(&folder),
    }
}

/// What a refused hook of an agent or skill takes with it: that agent or skill would act without it.
pub(super) fn holders(label: &str, file: &str) -> Option<BrokenItem> {
    label.strip_prefix("hook ")?;
    let parts: Vec<&str> = file.split('/').collect();
    let at = parts.iter().rposition(|part| *part == "hooks")?;
    let name = parts.get(at.checked_sub(1)?)?;
    let (kind, manifest) = match *parts.get(at.checked_sub(2)?)? {
        "agents" => ("agent", "agent.json"),
        "skills" => ("skill", "SKILL.md"),
        _ => return None,
    };
    let folder = parts.get(..at)?.join("/");
    Some(BrokenItem { label: format!("{kind} {name}"), file: format!("{folder}/{manifest}") })
}

/// The finding when a plugin that is left out had a guard before the calls of others.
pub(super) fn left_out(plugin: &PluginSource) -> Option<Diagnostic> {
    let own = plugin.owner.qualify("");
    let beyond = |h: &&HookSource| h.tools.is_empty() || h.tools.iter().any(|t| !t.starts_with(&own));
    let sound = plugin.hooks.iter().filter(|h| h.placement == Placement::Plugin && guards(h)).find(beyond);
    let (name, place) = match sound {
        Some(hook) => (hook.name.clone(), Some(&hook.place)),
        None => (broken(plugin)?, None),
    };
    let message = format!("`{}` is broken, and its guard `{name}` would be left out with it", plugin.owner);
    let d = Diagnostic::error("hook::guard-left-out", message)
        .owner(&plugin.owner)
        .item(format!("hook {name}"))
        .help(format!("repair `{0}`; to run without its guard, say so: `plugins.disabled = [\"{0}\"]`", plugin.owner));
    Some(match place {
        Some(place) => place.diag(d, "/events"),
        None => d,
    })
}

/// Name of a refused hook of a plugin that may have been a guard.
fn broken(plugin: &PluginSource) -> Option<String> {
    let shown = plugin.manifest.place.as_ref().map_or("", |p| p.doc.file.trim_end_matches("plugin.toml"));
    let lost = |d: &&Diagnostic| {
        let file = d.file.as_deref().unwrap_or_default();
        let folder = folder_of(d.item.as_deref().unwrap_or_default(), file.strip_prefix(shown).unwrap_or(file));
        folder.is_some_and(|f| !plugin.quiet_hooks.contains(&f) && !plugin.hooks.iter().any(|h| h.folder == f))
    };
    let first = plugin.diagnostics.iter().filter(|d| d.is_error()).find(lost)?;
    first.item.as_deref()?.strip_prefix("hook ").map(str::to_string)
}

fn guards(hook: &HookSource) -> bool {
    hook.events.contains(&HookEventKind::ToolBefore)
}

/// The folder of a hook of the plugin itself, from the label and file of a finding.
fn folder_of(label: &str, file: &str) -> Option<String> {
    label.strip_prefix("hook ")?;
    let mut parts = file.split('/');
    match (parts.next(), parts.next()) {
        (Some("hooks"), Some(name)) => Some(format!("hooks/{name}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_takes_what_holds_it() {
        let of = |file: &str| holders("hook g", file).map(|i| (i.label, i.file));
        let is = |label: &str, file: &str| Some((label.to_string(), file.to_string()));
        assert_eq!(of("hooks/g/hook.toml"), None);
        assert_eq!(of("agents/a/hooks/g/hook.toml"), is("agent a", "agents/a/agent.json"));
        assert_eq!(of("skills/s/hooks/g/hook.toml"), is("skill s", "skills/s/SKILL.md"));
        let inner = is("skill s", "agents/a/skills/s/SKILL.md");
        assert_eq!(of("agents/a/skills/s/hooks/g/hook.toml"), inner);
        assert_eq!(holders("tool g", "agents/a/hooks/g/hook.toml"), None);
    }
}
