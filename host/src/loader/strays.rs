//! Names beside the known ones of an agent's or a skill's folder that were meant to be one of them.

use super::fileset::is_meant;
use super::loading::Loading;
use super::places::{Item, Kind};
use super::walk::Entry;
use crate::config::nearest;
use plugin_sdk::Diagnostic;

const AGENT_FOLDERS: [&str; 5] = ["workflows", "knowledge", "tools", "skills", "hooks"];
const AGENT_FILES: [&str; 4] = ["agent.json", "system.md", "boundaries.md", "conventions.md"];
/// Beside these a skill holds whatever it needs.
const SKILL_FOLDERS: [&str; 2] = ["tools", "hooks"];

/// Reports them.
pub(super) fn report(l: &mut Loading<'_, '_, '_>, item: &Item<'_>) {
    let present = |name: &str| item.folder.child(name).is_some();
    for entry in item.folder.entries() {
        let Some(help) = help(l, item.kind, entry, &present) else { continue };
        let slash = if entry.is_folder() { "/" } else { "" };
        let message =
            format!("`{}{slash}` is not read: no part of {} {}", entry.name, article(item.kind), item.kind.word());
        l.walk.report(Diagnostic::warning("layout::misplaced", message).item(item.label()).help(help), &entry.rel);
    }
}

fn article(kind: Kind) -> &'static str {
    if kind == Kind::Agent { "an" } else { "a" }
}

fn help(l: &Loading<'_, '_, '_>, kind: Kind, entry: &Entry, present: &dyn Fn(&str) -> bool) -> Option<String> {
    let name = entry.name.as_str();
    let rename = |to: &str| format!("rename it to `{to}`");
    match (kind, entry.is_folder()) {
        (Kind::Agent, _) if AGENT_FOLDERS.contains(&name) || AGENT_FILES.contains(&name) => None,
        (Kind::Agent | Kind::Skill, true) if name == "tests" => {
            Some(format!("move its files to `{}`, the scenarios of the whole plugin", l.shown("tests")))
        }
        (Kind::Agent, true) => nearest(name, AGENT_FOLDERS).filter(|n| !present(n)).map(|n| rename(&n)),
        (Kind::Agent, false) => {
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            let folder = AGENT_FOLDERS[..2].iter().find(|f| is_meant(f, stem));
            // Another case of the letters is named where the file is missed.
            let other = |n: &String| !present(n) && !n.eq_ignore_ascii_case(name);
            let file = || nearest(name, AGENT_FILES).filter(other).map(|n| rename(&n));
            folder.map(|f| format!("put it into the folder `{f}/`")).or_else(file)
        }
        (Kind::Skill, true) if !SKILL_FOLDERS.contains(&name) => {
            SKILL_FOLDERS.into_iter().find(|f| is_meant(f, name) && !present(f)).map(rename)
        }
        _ => None,
    }
}
