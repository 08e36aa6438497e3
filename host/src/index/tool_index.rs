//! The one immutable index of every tool of a generation.

use super::nearest;
use super::ranking::{ItemId, ItemKind, RankItem, Ranking, params_of};
use super::tool::{Tool, ToolId};
use super::view::{Source, ToolNotFound, ToolView, ViewFilter};
use crate::admission::CompiledRules;
use std::collections::HashMap;
use std::sync::Arc;

/// Names of any kind to the position of their tool.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(HashMap<String, usize>);

impl Names {
    pub(super) fn get(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }

    pub(super) fn insert(&mut self, name: String, at: usize) {
        self.0.insert(name, at);
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }
}

pub(super) struct Inner {
    pub(super) tools: Vec<Tool>,
    /// Qualified names and aliases.
    pub(super) names: Names,
    pub(super) wires: Names,
    pub(super) locals: HashMap<String, Vec<usize>>,
    pub(super) rules: CompiledRules,
    pub(super) ranking: Arc<Ranking>,
    /// The tools of the first ranked items, in the order of these; what follows are skills and agents.
    ranked: Vec<u32>,
}

/// The index; cheap to clone.
#[derive(Clone)]
pub struct ToolIndex(pub(super) Arc<Inner>);

/// A name that leads to no single tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing has it.
    #[error(transparent)]
    Unknown(#[from] ToolNotFound),
    /// A local name of several tools.
    #[error("`{name}` is the local name of {}", qualified.join(", "))]
    Ambiguous {
        /// As asked.
        name: String,
        /// Theirs.
        qualified: Vec<String>,
    },
}

impl ToolIndex {
    pub(super) fn build(mut tools: Vec<Tool>, names: Names, further: Vec<RankItem>) -> Self {
        let wires = super::names::wire_names(tools.iter().map(|t| &*t.qualified));
        let mut by_wire = Names::default();
        let mut locals: HashMap<String, Vec<usize>> = HashMap::new();
        for (i, (tool, wire)) in tools.iter_mut().zip(wires).enumerate() {
            by_wire.insert(wire.clone(), i);
            tool.wire = wire.into();
            locals.entry(tool.from.name.clone()).or_default().push(i);
            if *tool.local != *tool.from.name {
                locals.entry(tool.local.to_string()).or_default().push(i);
            }
        }
        let rules = CompiledRules::new(tools.iter().map(Tool::guarded));
        let mut items = rank_items(&tools);
        items.extend(further);
        let ranking = Arc::new(Ranking::new(items));
        let ranked = (0..).zip(&tools).filter(|(_, t)| is_ranked(t)).map(|(i, _)| i).collect();
        Self(Arc::new(Inner { tools, names, wires: by_wire, locals, rules, ranking, ranked }))
    }

    /// All tools, in order of their ids.
    pub fn tools(&self) -> &[Tool] {
        &self.0.tools
    }

    /// By qualified name, alias or wire name: a lookup, never a permission.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        let at = self.0.names.get(name).or_else(|| self.0.wires.get(name))?;
        self.0.tools.get(at)
    }

    /// By position.
    pub fn by_id(&self, id: ToolId) -> Option<&Tool> {
        self.0.tools.get(id.0 as usize)
    }

    /// Every tool with that local name, with or without its placement.
    pub fn resolve_local(&self, name: &str) -> Vec<&Tool> {
        self.0.locals.get(name).into_iter().flatten().filter_map(|i| self.0.tools.get(*i)).collect()
    }

    /// By qualified name, alias, wire name or unique local name.
    pub fn resolve(&self, name: &str) -> Result<&Tool, NameError> {
        if let Some(tool) = self.get(name) {
            return Ok(tool);
        }
        match self.resolve_local(name).as_slice() {
            [one] => Ok(one),
            [] => Err(ToolNotFound { name: name.into(), nearest: self.nearest(name, 3) }.into()),
            several => {
                let qualified = several.iter().map(|t| t.qualified.to_string()).collect();
                Err(NameError::Ambiguous { name: name.into(), qualified })
            }
        }
    }

    /// At most `n` qualified names near an unknown one, hidden tools never.
    pub fn nearest(&self, name: &str, n: usize) -> Vec<String> {
        self.nearest_where(name, n, |_| true)
    }

    /// The same among the tools that pass: close spellings, then what the words find.
    pub fn nearest_where(&self, name: &str, n: usize, pass: impl Fn(&Tool) -> bool) -> Vec<String> {
        let mut out = nearest::where_names(&self.0.tools, name, n, &pass);
        let fits = |id| self.ranked_tool(id).is_some_and(&pass);
        for (id, _) in self.0.ranking.search(name, fits, n) {
            let hit = self.ranked_tool(id).map(|t| t.qualified.to_string());
            out.extend(hit.filter(|h| out.len() < n && !out.contains(h)));
        }
        out
    }

    /// The tool of a ranked item; `None` for skills and agents.
    pub fn ranked_tool(&self, id: ItemId) -> Option<&Tool> {
        self.0.tools.get(*self.0.ranked.get(id.0 as usize)? as usize)
    }

    /// A view that shares the index.
    pub fn view(&self, filter: ViewFilter) -> ToolView<'static> {
        ToolView::new(Source::Sealed(self.0.clone()), filter)
    }

    /// The compiled rules; ids are positions of tools.
    pub fn rules(&self) -> &CompiledRules {
        &self.0.rules
    }

    /// The ranking over these tools and what was sealed with them.
    pub fn ranking(&self) -> &Arc<Ranking> {
        &self.0.ranking
    }
}

impl std::fmt::Debug for ToolIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ToolIndex").field(&self.0.tools).finish()
    }
}

/// Listed and private tools as ranked items.
/// Hidden tools are found by nobody.
fn is_ranked(tool: &Tool) -> bool {
    !tool.def().options.hidden
}

pub(super) fn rank_items(tools: &[Tool]) -> Vec<RankItem> {
    let found = tools.iter().filter(|t| is_ranked(t));
    found
        .map(|t| {
            let options = &t.def().options;
            RankItem {
                kind: ItemKind::Tool,
                name: t.from.name.clone(),
                qualified: t.qualified.to_string(),
                wire: t.wire.to_string(),
                tags: options.tags.iter().chain(&options.keywords).cloned().collect(),
                group: options.group.clone(),
                description: t.def().description.clone(),
                params: params_of(&t.input.visible),
            }
        })
        .collect()
}
