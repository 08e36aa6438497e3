//! The builder of every `ToolIndex`: checks first, then all or none.

use super::check_tool::check_tool;
use super::names::{digest_form, is_plain, is_reserved};
use super::ranking::RankItem;
use super::tool::{Contribution, Source as Declarer, Tool, ToolId};
use super::tool_index::{Names, ToolIndex};
use super::view::{Source, ToolNotFound, ToolView, ViewFilter};
use crate::admission::{Overrides, Platforms, Rules};
use plugin_sdk::{Diagnostic, Diagnostics};
use std::collections::HashMap;
use std::sync::Arc;

/// What the bot's configuration says about tools that are registered.
#[derive(Debug, Clone, Default)]
pub struct RegistrySettings {
    /// Platforms with an adapter.
    pub platforms: Platforms,
    /// `[tools.override]`.
    pub overrides: Overrides,
    /// `tools.include_groups` and `tools.allow`.
    pub filter: ViewFilter,
    /// Qualified names that are always loaded by configuration.
    pub always: Vec<String>,
}

/// What a registration gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Registered {
    /// In the order given.
    pub ids: Vec<ToolId>,
    /// Findings that refuse nothing.
    pub warnings: Vec<Diagnostic>,
}

/// A plain value behind `&mut`: no lock, no IO.
#[derive(Debug, Clone, Default)]
pub struct ToolRegistry {
    settings: RegistrySettings,
    tools: Vec<Tool>,
    names: Names,
    /// Tools of the index this one follows.
    known: HashMap<Arc<str>, Tool>,
}

impl ToolRegistry {
    /// An empty one for a program.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty one for a bot.
    pub fn with_settings(settings: RegistrySettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Registers one tool.
    pub fn register(&mut self, tool: Contribution) -> Result<Registered, Diagnostics> {
        self.register_many([tool])
    }

    /// Registers all or none; after an error the registry is as before.
    pub fn register_many(&mut self, tools: impl IntoIterator<Item = Contribution>) -> Result<Registered, Diagnostics> {
        let before = self.tools.len();
        let (ids, found) = self.register_each(tools);
        if !found.iter().any(Diagnostic::is_error) {
            return Ok(Registered { ids, warnings: found });
        }
        for name in self.tools.drain(before..).flat_map(|t| t.names) {
            self.names.remove(&name);
        }
        Diagnostics::new(found).map_or(Ok(Registered { ids: Vec::new(), warnings: Vec::new() }), Err)
    }

    /// Registers what is sound and reports the rest: for a candidate, which is thrown away as a whole.
    pub(super) fn register_each(
        &mut self,
        tools: impl IntoIterator<Item = Contribution>,
    ) -> (Vec<ToolId>, Vec<Diagnostic>) {
        let (mut ids, mut found) = (Vec::new(), Vec::new());
        for tool in tools {
            let (schema, findings) = self.checked(&tool);
            found.extend(findings.iter().cloned());
            let names = tool.names();
            let clashes = self.clashes(&tool, &names);
            let free = clashes.is_empty();
            found.extend(clashes);
            if let (true, Some(schema)) = (free, schema) {
                ids.push(self.add(tool, names, (schema, findings)));
            }
        }
        (ids, found)
    }

    /// Takes over what was checked and compiled for the same binding; the settings must be those of then.
    pub(super) fn known_from(mut self, previous: &ToolIndex) -> Self {
        self.known = previous.tools().iter().map(|t| (t.qualified.clone(), t.clone())).collect();
        self
    }

    /// Schema and findings of a tool: from the former index when it is the very same contribution.
    fn checked(&self, tool: &Contribution) -> (Option<Arc<super::InputSchema>>, Arc<[Diagnostic]>) {
        let name = tool.owner.qualify(&tool.local());
        match self.known.get(name.as_str()) {
            Some(old) if Arc::ptr_eq(&old.from.callable, &tool.callable) => {
                (Some(Arc::clone(&old.input)), Arc::clone(&old.findings))
            }
            _ => {
                let (schema, findings) = check_tool(tool, &self.settings.platforms);
                (schema.map(Arc::new), findings.into())
            }
        }
    }

    fn add(
        &mut self,
        from: Contribution,
        names: Vec<String>,
        (input, findings): (Arc<super::InputSchema>, Arc<[Diagnostic]>),
    ) -> ToolId {
        let at = self.tools.len();
        let qualified = names.first().cloned().unwrap_or_default();
        let wire = if is_plain(&qualified) { qualified.clone() } else { digest_form(&qualified) };
        for name in &names {
            self.names.insert(name.clone(), at);
        }
        let options = &from.def.options;
        let filter = &self.settings.filter;
        let always =
            options.always_loaded || filter.allows(&names) || names.iter().any(|n| self.settings.always.contains(n));
        self.tools.push(Tool {
            id: ToolId(at as u32),
            wire: wire.into(),
            local: from.local().into(),
            rules: Rules::of(&from.def),
            declared: self.settings.overrides.declared(&names, options.requires_approval),
            always,
            in_group: filter.lets_in(&options.group, &names),
            input,
            findings,
            qualified: qualified.into(),
            names,
            from,
        });
        ToolId(at as u32)
    }

    /// Names of this tool that are taken, by another, by itself, or by the host.
    fn clashes(&self, tool: &Contribution, names: &[String]) -> Vec<Diagnostic> {
        let mut out = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let pointer = if i == 0 { String::new() } else { format!("/aliases/{}", i - 1) };
            if is_reserved(name) && tool.source != Declarer::Builtin {
                let d = Diagnostic::error("tool::reserved-name", format!("`{name}` is a tool of the host"))
                    .help("choose another name; the host's names stay reserved while its tools are off");
                out.push(tool.diag(d, &pointer));
            } else if names[..i].contains(name) {
                let d = Diagnostic::error("tool::duplicate-name", format!("`{name}` is named twice by the same tool"));
                out.push(tool.diag(d.help("remove the alias"), &pointer));
            } else if let Some(other) = self.names.get(name).and_then(|at| self.tools.get(at)) {
                out.push(tool.diag(taken(name, tool, &other.from), &pointer));
            }
        }
        out
    }

    /// By qualified name or alias: a lookup, no permission.
    pub fn get(&self, name: &str) -> Result<&Tool, ToolNotFound> {
        let found = self.names.get(name).and_then(|at| self.tools.get(at));
        found.ok_or_else(|| ToolNotFound { name: name.into(), nearest: super::nearest::names(&self.tools, name, 3) })
    }

    /// What is registered so far.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// By position.
    pub fn by_id(&self, id: ToolId) -> Option<&Tool> {
        self.tools.get(id.0 as usize)
    }

    /// A view that borrows what is registered so far.
    pub fn view(&self, filter: ViewFilter) -> ToolView<'_> {
        ToolView::new(Source::Building { tools: &self.tools, names: &self.names }, filter)
    }

    /// The index. Cannot fail: what can be refused was refused at registration.
    pub fn seal(self) -> ToolIndex {
        self.seal_with(Vec::new())
    }

    /// The index, ranked together with skills and agents.
    pub fn seal_with(self, further: Vec<RankItem>) -> ToolIndex {
        ToolIndex::build(self.tools, self.names, further)
    }
}

/// One owner: declared twice. Two owners: their joined names collide.
fn taken(name: &str, tool: &Contribution, other: &Contribution) -> Diagnostic {
    let file = other.place.as_ref().map(|p| p.doc.file.clone());
    let d = if tool.owner == other.owner {
        Diagnostic::error("tool::duplicate-name", format!("`{name}` is declared twice by owner `{}`", tool.owner))
            .help("rename one of the two")
    } else {
        let message = format!(
            "`{name}` is `{}` of owner `{}` and `{}` of owner `{}`",
            other.local(),
            other.owner,
            tool.local(),
            tool.owner
        );
        Diagnostic::error("name::collision", message).help("rename a folder of one of the two")
    };
    match file {
        Some(file) => d.related(file, None, format!("the other `{name}`, owner `{}`", other.owner)),
        None => d,
    }
}
