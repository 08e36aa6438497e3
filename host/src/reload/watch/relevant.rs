//! Which paths are input: the file set's rules, applied before anything is watched or looked at.

use crate::candidate::WatchList;
use plugin_sdk::OwnerPath;
use std::path::Path;

/// Names in a plugin folder that are part of a file set by themselves.
const TOP: [&str; 16] = [
    "plugin.toml",
    "bot.toml",
    ".env",
    "AGENTS.md",
    "mcp.json",
    "mcp.jsonc",
    "mcp.toml",
    "lib",
    "tools",
    "skills",
    "agents",
    "prompt-sections",
    "hooks",
    "commands",
    "tests",
    "plugins",
];
const NEVER: [&str; 7] = ["node_modules", "target", "__pycache__", "venv", ".venv", "coverage", "4913"];
const ENDINGS: [&str; 6] = ["~", ".swp", ".swx", ".tmp", ".part", ".crdownload"];

/// Whether a change of `path` may be a change of input.
pub(super) fn is_relevant(list: &WatchList, path: &Path) -> bool {
    if list.files.contains(path) {
        return true;
    }
    if list.never.iter().any(|n| path.starts_with(n)) {
        return false;
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|n| n.to_str())) else { return false };
    if list.roots.iter().any(|r| r == path) {
        return true;
    }
    if is_ignored(name) {
        return false;
    }
    if list.search.iter().any(|(_, dir)| dir == folder) {
        return true;
    }
    match list.plugins.iter().any(|(_, dir)| dir == folder) {
        true => TOP.contains(&name),
        false => {
            list.plugins.iter().any(|(_, dir)| path.starts_with(dir)) || in_search(list, path) || in_skills(list, path)
        }
    }
}

/// The plugin a path lies in, the root aside; one that is only being made counts.
pub(super) fn owner_of(list: &WatchList, path: &Path) -> Option<OwnerPath> {
    let known = list.plugins.iter().filter(|(owner, dir)| !owner.is_root() && path.starts_with(dir));
    let known = known.max_by_key(|(_, dir)| dir.as_os_str().len());
    let fresh = list.search.iter().filter_map(|(parent, dir)| {
        let first = path.strip_prefix(dir).ok()?.components().next()?;
        let owner = parent.child(first.as_os_str().to_str()?);
        Some((dir.as_os_str().len() + 1, owner))
    });
    let fresh = fresh.max_by_key(|(len, _)| *len);
    match (known, fresh) {
        (Some((owner, dir)), Some((len, new))) => Some(if len > dir.as_os_str().len() { new } else { owner.clone() }),
        (Some((owner, _)), None) => Some(owner.clone()),
        (None, Some((_, new))) => Some(new),
        (None, None) => None,
    }
}

/// Whether a folder may hold input, so that it joins the watch when it appears.
pub(super) fn may_hold_input(list: &WatchList, folder: &Path) -> bool {
    is_relevant(list, folder) && !list.files.contains(folder)
}

fn in_search(list: &WatchList, path: &Path) -> bool {
    list.search.iter().any(|(_, dir)| path.starts_with(dir))
}

fn in_skills(list: &WatchList, path: &Path) -> bool {
    list.roots.iter().any(|root| path.starts_with(root) && !list.plugins.iter().any(|(_, dir)| dir == root))
}

fn is_ignored(name: &str) -> bool {
    let hidden = name.starts_with('.') && name != ".env";
    let emacs = name.len() > 1 && name.starts_with('#') && name.ends_with('#');
    hidden || emacs || NEVER.contains(&name) || ENDINGS.iter().any(|e| name.ends_with(e))
}
