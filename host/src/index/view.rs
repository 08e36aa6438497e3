//! Read-only views: what a program or a whole bot sees of a registry or an index.

use super::ranking::{ItemKind, Ranking};
use super::tool::Tool;
use super::tool_index::{Inner, Names};
use plugin_sdk::ToolError;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// A name that no tool has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool `{name}`{}", near(nearest))]
pub struct ToolNotFound {
    /// As asked.
    pub name: String,
    /// At most three.
    pub nearest: Vec<String>,
}

fn near(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        list => format!("; nearest: {}", list.join(", ")),
    }
}

/// What a view lets through; canonical names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ViewFilter {
    include_groups: Option<Vec<String>>,
    allow: Option<Vec<String>>,
    deny: Option<Vec<String>>,
}

fn texts(list: impl IntoIterator<Item = impl Into<String>>) -> Option<Vec<String>> {
    Some(list.into_iter().map(Into::into).collect())
}

impl ViewFilter {
    /// Only these groups (an empty list: none).
    #[must_use]
    pub fn include_groups(mut self, groups: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.include_groups = texts(groups);
        self
    }

    /// Lifts group and deferral for these names.
    #[must_use]
    pub fn allow(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allow = texts(names);
        self
    }

    /// Takes these names out.
    #[must_use]
    pub fn deny(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.deny = texts(names);
        self
    }

    /// Whether a tool is named in `allow`.
    pub(super) fn allows(&self, names: &[String]) -> bool {
        holds(self.allow.as_ref(), names)
    }

    /// Whether its group is in, or `allow` lifts that.
    pub(super) fn lets_in(&self, group: &str, names: &[String]) -> bool {
        self.include_groups.as_ref().is_none_or(|g| in_groups(group, g)) || self.allows(names)
    }

    fn shows(&self, tool: &Tool) -> bool {
        !holds(self.deny.as_ref(), &tool.names) && self.lets_in(&tool.def().options.group, &tool.names)
    }
}

fn holds(list: Option<&Vec<String>>, names: &[String]) -> bool {
    list.is_some_and(|l| names.iter().any(|n| l.contains(n)))
}

/// A group matches itself and the owner paths below it.
pub fn in_groups(group: &str, groups: &[String]) -> bool {
    groups.iter().any(|g| group == g || group.strip_prefix(g.as_str()).is_some_and(|r| r.starts_with('/')))
}

/// Narrowing of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchOptions {
    /// `None` = no narrowing, empty = no group at all.
    pub include_groups: Option<Vec<String>>,
    /// Most hits.
    pub limit: usize,
    /// `None` = all names.
    pub allowed_names: Option<Vec<String>>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { include_groups: None, limit: 10, allowed_names: None }
    }
}

/// A definition as a model would see it, provider-neutral.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Qualified name.
    pub name: String,
    /// With the deprecation note.
    pub description: String,
    /// Without presets.
    pub input_schema: Arc<Value>,
}

pub(super) enum Source<'a> {
    Building { tools: &'a [Tool], names: &'a Names },
    Sealed(Arc<Inner>),
}

/// A view of a registry (borrowed) or an index (shared).
pub struct ToolView<'a> {
    source: Source<'a>,
    filter: ViewFilter,
}

impl<'a> ToolView<'a> {
    pub(super) fn new(source: Source<'a>, filter: ViewFilter) -> Self {
        Self { source, filter }
    }

    fn tools(&self) -> &[Tool] {
        match &self.source {
            Source::Building { tools, .. } => tools,
            Source::Sealed(inner) => &inner.tools,
        }
    }

    fn names(&self) -> &Names {
        match &self.source {
            Source::Building { names, .. } => names,
            Source::Sealed(inner) => &inner.names,
        }
    }

    fn shown(&self) -> impl Iterator<Item = &Tool> {
        self.tools().iter().filter(|t| !t.def().options.hidden && self.filter.shows(t))
    }

    fn is_active(&self, tool: &Tool) -> bool {
        tool.always || self.filter.allows(&tool.names)
    }

    /// Everything the filter lets through, deferred tools included, hidden ones never.
    pub fn available_tools(&self) -> Vec<&Tool> {
        self.shown().collect()
    }

    /// The eager ones and those in `allow`.
    pub fn active_tools(&self) -> Vec<&Tool> {
        self.shown().filter(|t| self.is_active(t)).collect()
    }

    /// Definitions of the active tools, in registry order.
    pub fn active_specs(&self) -> Vec<ToolSpec> {
        self.active_tools().into_iter().map(spec).collect()
    }

    /// Definitions of these tools, in the order asked.
    pub fn specs_for<N: AsRef<str>>(&self, names: &[N]) -> Result<Vec<ToolSpec>, ToolNotFound> {
        names.iter().map(|n| self.get(n.as_ref()).map(spec)).collect()
    }

    /// By qualified name or alias, in the whole registry: a lookup, no permission.
    pub fn get(&self, name: &str) -> Result<&Tool, ToolNotFound> {
        let found = self.names().get(name).and_then(|id| self.tools().get(id));
        found.ok_or_else(|| ToolNotFound { name: name.into(), nearest: super::nearest::names(self.tools(), name, 3) })
    }

    /// The deferred tools that fit a query, best first.
    pub fn search_deferred(&self, query: &str, options: SearchOptions) -> Result<Vec<&Tool>, ToolError> {
        if query.trim().is_empty() {
            return Err(ToolError::new("VALIDATION_ERROR", "the query is blank").retryable());
        }
        let ranking = match &self.source {
            Source::Sealed(inner) => Cow::Borrowed(&*inner.ranking),
            Source::Building { tools, .. } => Cow::Owned(Ranking::new(super::tool_index::rank_items(tools))),
        };
        let tool_of = |name: &str| self.names().get(name).and_then(|id| self.tools().get(id));
        let wanted = |tool: &Tool| {
            !self.is_active(tool)
                && self.filter.shows(tool)
                && options.include_groups.as_ref().is_none_or(|g| in_groups(&tool.def().options.group, g))
                && options.allowed_names.as_ref().is_none_or(|l| holds(Some(l), &tool.names))
        };
        let hits = ranking.search(
            query,
            |id| {
                let item = ranking.item(id).filter(|i| i.kind == ItemKind::Tool);
                item.and_then(|i| tool_of(&i.qualified)).is_some_and(wanted)
            },
            options.limit,
        );
        Ok(hits.into_iter().filter_map(|(id, _)| tool_of(&ranking.item(id)?.qualified)).collect())
    }

    /// Filter entries that name nothing.
    pub fn unknown_names(&self) -> Vec<&str> {
        let lists = [&self.filter.allow, &self.filter.deny];
        lists.into_iter().flatten().flatten().map(String::as_str).filter(|n| self.names().get(n).is_none()).collect()
    }
}

fn spec(tool: &Tool) -> ToolSpec {
    ToolSpec {
        name: tool.qualified.to_string(),
        description: tool.description(),
        input_schema: tool.input.visible.clone(),
    }
}
