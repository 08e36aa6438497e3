//! Names of tools in `bot.toml`, checked against the tools there are.

use super::names::is_reserved;
use super::skills::near_or;
use super::tool::Tool;
use crate::admission::NamePattern;
use crate::config::doc::Doc;
use crate::config::{BotConfig, DEFAULT_ALWAYS_LOADED, DeferredForm};
use plugin_sdk::{Diagnostic, OwnerPath, Severity};
use std::collections::BTreeSet;

/// The search tool and the loader of the `discover` form; the one of the other form.
const DISCOVER: &str = "discover";
const LOAD_TOOL: &str = "load_tool";
const TOOL_SEARCH: &str = "tool_search";

/// Tools that are always loaded by configuration, with their index in a written list.
pub fn always_loaded(bot: &BotConfig) -> Vec<(Option<usize>, String)> {
    let deferred = &bot.agent.deferred_tools;
    let written = deferred.always_loaded_tools.as_ref();
    let list: Vec<(Option<usize>, String)> = match written {
        Some(list) => list.iter().enumerate().map(|(i, n)| (Some(i), n.clone())).collect(),
        None => DEFAULT_ALWAYS_LOADED.iter().map(|n| (None, (*n).to_string())).collect(),
    };
    // both search names mean the search tool of the form; the loader belongs to one form only
    let form = |name: String| match (deferred.form, name.as_str()) {
        (DeferredForm::Discover, TOOL_SEARCH) => Some(DISCOVER.to_string()),
        (DeferredForm::ToolSearch, DISCOVER) => Some(TOOL_SEARCH.to_string()),
        (DeferredForm::ToolSearch, LOAD_TOOL) => None,
        _ => Some(name),
    };
    let mut seen = BTreeSet::new();
    list.into_iter().filter_map(|(i, n)| Some((i, form(n)?))).filter(|(_, n)| seen.insert(n.clone())).collect()
}

/// What is known while `bot.toml` is checked.
pub(super) struct Known<'a> {
    pub(super) bot: &'a BotConfig,
    pub(super) doc: Option<&'a Doc>,
    pub(super) tools: &'a [Tool],
    /// Every name that counts as present.
    pub(super) present: &'a BTreeSet<String>,
    pub(super) inactive: &'a [OwnerPath],
}

impl Known<'_> {
    /// Every finding about tool names in the file.
    pub(super) fn check(&self) -> Vec<Diagnostic> {
        let mut out = Vec::new();
        let tools = &self.bot.tools;
        let empty = Vec::new();
        let lists =
            [("allow", tools.allow.as_ref().unwrap_or(&empty)), ("deny", &tools.deny), ("disabled", &tools.disabled)];
        for (key, list) in lists {
            for (i, name) in list.iter().enumerate().filter(|(_, n)| !self.present.contains(*n)) {
                out.push(self.at(self.unknown(name), &format!("/tools/{key}/{i}")));
            }
        }
        for key in tools.overrides.keys() {
            let pattern = NamePattern::new(key);
            if !self.present.iter().any(|n| pattern.fits(n)) {
                let pointer = format!("/tools/override/{}", super::schema::check::escape(key));
                out.push(self.at_key(self.unknown(key), &pointer));
            }
        }
        self.always(&mut out);
        out.extend(self.unreachable());
        out
    }

    /// A misspelt name is an error, so that a misspelt deny never opens anything.
    fn unknown(&self, name: &str) -> Diagnostic {
        let known = self.present.iter().map(String::as_str);
        let mut d = Diagnostic::error("tools::unknown-name", format!("no tool is called `{name}`")).help(near_or(
            name,
            known,
            "`understudy list tools` shows all qualified names",
        ));
        let prefix = |owner: &OwnerPath| !owner.is_root() && name.starts_with(&owner.qualify(""));
        if let Some(owner) = self.inactive.iter().find(|o| prefix(o)) {
            d.severity = Severity::Warning;
            d.message.push_str(&format!(" now: its owner `{owner}` is not active"));
        }
        d
    }

    fn always(&self, out: &mut Vec<Diagnostic>) {
        for (i, name) in always_loaded(self.bot) {
            let (Some(i), false) = (i, self.present.contains(&name)) else { continue };
            let pointer = format!("/agent/deferred_tools/always_loaded_tools/{i}");
            let d = if is_reserved(&name) {
                Diagnostic::warning("tools::always-loaded-off", format!("`{name}` is a tool of the host that is off"))
                    .help("switch it on, or remove the entry; it is skipped")
            } else {
                let known = self.present.iter().map(String::as_str);
                Diagnostic::error("deferred::unknown-tool", format!("no tool is called `{name}`")).help(near_or(
                    &name,
                    known,
                    "write a qualified name",
                ))
            };
            out.push(self.at(d, &pointer));
        }
    }

    /// Deferred tools that no step of a turn could ever load.
    fn unreachable(&self) -> Option<Diagnostic> {
        let deferred = &self.bot.agent.deferred_tools;
        let loader = match deferred.form {
            DeferredForm::Discover => LOAD_TOOL,
            DeferredForm::ToolSearch => TOOL_SEARCH,
        };
        let off = |n: &str| self.bot.tools.deny.iter().chain(&self.bot.tools.disabled).any(|d| d == n);
        let offered = self.tools.iter().any(|t| *t.qualified == *loader && t.always) && !off(loader);
        let meta = [DISCOVER, LOAD_TOOL, TOOL_SEARCH, "load_skill", "ask_user", "spawn_task", "subagent"];
        let waiting = self
            .tools
            .iter()
            .filter(|t| !t.always && !t.def().options.hidden && t.in_group && !meta.contains(&&*t.qualified))
            .count();
        if offered || waiting == 0 || deferred.load_all_below_chars > 0 {
            return None;
        }
        let message = format!("{waiting} tools are deferred and `{loader}` is not offered: no turn can load them");
        let d = Diagnostic::warning("deferred::unreachable", message)
            .help(format!("put `{loader}` into `agent.deferred_tools.always_loaded_tools`"));
        Some(self.at(d, "/agent/deferred_tools/always_loaded_tools"))
    }

    pub(super) fn at(&self, d: Diagnostic, pointer: &str) -> Diagnostic {
        let d = d.owner(OwnerPath::root());
        match self.doc {
            Some(doc) => doc.diag(d, pointer),
            None => d,
        }
    }

    fn at_key(&self, d: Diagnostic, pointer: &str) -> Diagnostic {
        let d = d.owner(OwnerPath::root());
        match self.doc {
            Some(doc) => doc.diag_key(d, pointer),
            None => d,
        }
    }
}
