//! Hooks: their levels, their order, and whether their filters fit anything.

use super::skills::near_or;
use crate::admission::NamePattern;
use crate::loader::{HookSource, Placement};
use plugin_sdk::{Diagnostic, HookHandler, OwnerPath};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// A sealed hook with its code.
#[derive(Clone)]
pub struct Hook {
    /// What the folder says.
    pub source: HookSource,
    /// Owner.
    pub owner: OwnerPath,
    /// Placement: while what it belongs to is chosen or loaded, it acts.
    pub level: Placement,
    /// Its code.
    pub handler: Arc<dyn HookHandler>,
}

impl Hook {
    /// A hook with its bound code.
    pub fn new(source: HookSource, handler: Arc<dyn HookHandler>) -> Self {
        Self { owner: source.place.owner.clone(), level: source.placement.clone(), source, handler }
    }

    /// Unique name.
    pub fn qualified(&self) -> String {
        self.owner.qualify(&self.level.local(&self.source.name))
    }

    /// Contract name of the level: `host`, `plugin`, `agent`, `skill`.
    pub fn level_name(&self) -> &'static str {
        match &self.level {
            Placement::Plugin if self.owner.is_root() => "host",
            Placement::Plugin => "plugin",
            Placement::Agent(_) => "agent",
            Placement::Skill(_) | Placement::AgentSkill(..) => "skill",
        }
    }

    /// Host, plugin, agent, skill.
    fn rank(&self) -> u8 {
        match self.level_name() {
            "host" => 0,
            "plugin" => 1,
            "agent" => 2,
            _ => 3,
        }
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook").field("source", &self.source).finish_non_exhaustive()
    }
}

/// The hooks that stand, in the order they run.
pub(super) fn hooks(mut list: Vec<Hook>, present: &BTreeSet<String>, out: &mut Vec<Diagnostic>) -> Vec<Hook> {
    list.sort_by(|a, b| {
        let key = |h: &Hook| (h.rank(), -i128::from(h.source.order));
        let name = |h: &Hook| (h.owner.clone(), h.level.local(&h.source.name));
        key(a).cmp(&key(b)).then_with(|| name(a).cmp(&name(b)))
    });
    let mut owners: BTreeMap<String, OwnerPath> = BTreeMap::new();
    for hook in &list {
        let place = &hook.source.place;
        let qualified = hook.qualified();
        if let Some(other) = owners.insert(qualified.clone(), hook.owner.clone()).filter(|o| *o != hook.owner) {
            let message = format!("`{qualified}` is a hook of owner `{other}` and of owner `{}`", hook.owner);
            let d = Diagnostic::error("name::collision", message).help("rename a folder of one of the two");
            out.push(place.diag(d, ""));
        }
        for (i, text) in hook.source.tools.iter().enumerate() {
            out.extend(idle_filter(text, present).map(|d| place.diag(d, &format!("/tools/{i}"))));
        }
    }
    list
}

/// A filter that fits no tool: a guard that guards nothing.
fn idle_filter(text: &str, present: &BTreeSet<String>) -> Option<Diagnostic> {
    let pattern = NamePattern::new(text);
    if present.iter().any(|name| pattern.fits(name)) {
        return None;
    }
    let message = format!("`{text}` fits no tool of this bot, so the hook sees none of its calls");
    let known = present.iter().map(String::as_str);
    let hint = "write qualified names or globs over them, like `maps__*`; `understudy list tools` shows all";
    Some(Diagnostic::warning("hook::tools-filter", message).help(near_or(text, known, hint)))
}
