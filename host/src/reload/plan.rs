//! What changed between two generations, and the smallest true word for it.

use super::record::{Changes, Plan};
use crate::candidate::{Contents, PluginState, PluginView};
use plugin_sdk::OwnerPath;
use std::collections::{BTreeMap, BTreeSet};

/// Changes per kind, owners involved, and the plan.
pub(super) struct Difference {
    pub(super) changes: BTreeMap<String, Changes>,
    pub(super) owners: Vec<String>,
    pub(super) plan: Plan,
}

/// Compares. Without a former generation everything is new.
pub(super) fn difference(old: Option<&Contents>, new: &Contents) -> Difference {
    let plugins = kind(old.map(plugins), plugins(new));
    let changes = BTreeMap::from([
        ("tools".to_owned(), kind(old.map(tools), tools(new))),
        ("skills".to_owned(), kind(old.map(skills), skills(new))),
        ("sections".to_owned(), kind(old.map(sections), sections(new))),
        ("commands".to_owned(), kind(old.map(commands), commands(new))),
        ("plugins".to_owned(), plugins.clone()),
    ]);
    let owners: BTreeSet<&String> = plugins.added.iter().chain(&plugins.removed).chain(&plugins.changed).collect();
    let plan = plan(old, &plugins, &changes, new);
    Difference { owners: owners.into_iter().cloned().collect(), plan, changes }
}

fn plan(old: Option<&Contents>, plugins: &Changes, changes: &BTreeMap<String, Changes>, new: &Contents) -> Plan {
    if old.is_none() || plugins.moves_names() || switched(old, new) {
        return Plan::Topology;
    }
    let names_moved = changes.values().any(Changes::moves_names);
    match plugins.changed.as_slice() {
        // The configuration of the bot alone: a slot of the root, unless it moved names.
        [] | [_] => {
            if names_moved {
                Plan::Subtree
            } else {
                Plan::Slot
            }
        }
        many => {
            let owners: Vec<OwnerPath> = many.iter().map(|o| OwnerPath::new(o)).collect();
            let under =
                |top: &OwnerPath| owners.iter().all(|o| o == top || o.is_within(top) || upstream(o, new).contains(top));
            let tops = owners.iter().filter(|o| !o.is_root());
            if tops.into_iter().any(under) { Plan::Subtree } else { Plan::Topology }
        }
    }
}

/// Whether a plugin was switched on or off, or failed, or came back.
fn switched(old: Option<&Contents>, new: &Contents) -> bool {
    let states = |c: &Contents| c.plugins.iter().map(|p| (p.owner.clone(), p.state)).collect::<BTreeMap<_, _>>();
    old.is_some_and(|old| states(old) != states(new))
}

/// Everything a plugin depends on, at any distance.
fn upstream(owner: &OwnerPath, contents: &Contents) -> BTreeSet<OwnerPath> {
    let mut found = BTreeSet::new();
    let mut open = vec![owner.clone()];
    while let Some(at) = open.pop() {
        for next in contents.plugin(&at).into_iter().flat_map(|p| &p.depends) {
            if found.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    found
}

type Marks = BTreeMap<String, String>;

fn kind(old: Option<Marks>, new: Marks) -> Changes {
    let old = old.unwrap_or_default();
    let only = |a: &Marks, b: &Marks| a.keys().filter(|k| !b.contains_key(*k)).cloned().collect();
    Changes {
        added: only(&new, &old),
        removed: only(&old, &new),
        changed: new.iter().filter(|(k, v)| old.get(*k).is_some_and(|o| o != *v)).map(|(k, _)| k.clone()).collect(),
    }
}

fn plugins(contents: &Contents) -> Marks {
    let mark =
        |p: &PluginView| format!("{} {}", p.state.as_str(), if p.state == PluginState::Active { &*p.hash } else { "" });
    contents.plugins.iter().map(|p| (p.owner.to_string(), mark(p))).collect()
}

fn tools(contents: &Contents) -> Marks {
    let mark = |t: &crate::index::Tool| format!("{} {:?} {:?} {}", t.tool_hash(), t.rules, t.def().options, t.wire);
    contents.indexes.tools.tools().iter().map(|t| (t.qualified.to_string(), mark(t))).collect()
}

fn skills(contents: &Contents) -> Marks {
    let mark = |s: &crate::index::Skill| {
        let source = &s.source;
        format!("{} {:?} {} {} {:?}", source.description, s.rules, source.always, source.body, source.tools)
    };
    contents.indexes.skills.iter().map(|s| (s.qualified.clone(), mark(s))).collect()
}

fn sections(contents: &Contents) -> Marks {
    let mark = |s: &crate::index::Section| {
        let c = &s.source;
        format!(
            "{} {:?} {} {:?} {:?} {:?} {:?} {}",
            c.title, c.layer, c.order, c.retention, c.max_chars, c.profiles, c.platforms, c.body
        )
    };
    contents.indexes.sections.iter().map(|s| (s.qualified.clone(), mark(s))).collect()
}

fn commands(contents: &Contents) -> Marks {
    contents
        .indexes
        .commands
        .iter()
        .map(|c| (c.word.clone(), format!("{:?} {} {} {:?}", c.aliases, c.qualified, c.description, c.usage)))
        .collect()
}
