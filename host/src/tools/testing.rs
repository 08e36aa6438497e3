//! A generation for tests: a few tools and skills, the built-ins, no folders.

use crate::admission::{Facts, LivePolicy, PolicyInput};
use crate::catalog::{Admitted, CatalogInput, Controller};
use crate::config::BotConfig;
use crate::config::doc::Doc;
use crate::index::{Contribution, Indexes, Parts, Source, build};
use crate::loader::{Audience, Place, Placement, SectionSource, SkillSource};
use crate::session::LoadedSnapshot;
use async_trait::async_trait;
use plugin_sdk::{
    Approval, Callable, ConversationRef, OwnerPath, Principal, Role, Scope, ToolDef, ToolExecutionContext, ToolResult,
};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// Says its arguments.
struct Echo;

#[async_trait]
impl Callable for Echo {
    async fn call(&self, input: Map<String, Value>, cx: &ToolExecutionContext) -> ToolResult {
        ToolResult::text(format!("{}: {}", cx.tool_name, Value::Object(input)))
    }
}

/// Builds one.
pub(crate) struct World {
    pub(crate) bot: BotConfig,
    contributions: Vec<Contribution>,
    skills: Vec<SkillSource>,
    sections: Vec<SectionSource>,
    agents_md: Vec<(OwnerPath, String)>,
}

impl World {
    pub(crate) fn new() -> Self {
        let bot = BotConfig::default();
        Self { bot, contributions: Vec::new(), skills: Vec::new(), sections: Vec::new(), agents_md: Vec::new() }
    }

    /// A pure tool of an owner, with one free string property.
    pub(crate) fn tool(self, owner: &str, name: &str, about: &str) -> Self {
        self.shaped(owner, name, about, |_| {})
    }

    /// The same, its definition changed.
    pub(crate) fn shaped(self, owner: &str, name: &str, about: &str, change: impl FnOnce(&mut ToolDef)) -> Self {
        let mut def = ToolDef::new(about)
            .input_schema(json!({"type": "object", "properties": {"city": {"type": "string"}}}))
            .requires_approval(Approval::Never)
            .capabilities([]);
        change(&mut def);
        self.contribute(owner, name, Placement::Plugin, def, Arc::new(Echo))
    }

    /// A private tool of a skill.
    pub(crate) fn private(self, owner: &str, skill: &str, name: &str) -> Self {
        let def = ToolDef::new(format!("private {name}")).requires_approval(Approval::Never).capabilities([]);
        self.contribute(owner, name, Placement::Skill(skill.into()), def, Arc::new(Echo))
    }

    /// A tool with a body of its own.
    pub(crate) fn running(self, owner: &str, name: &str, def: ToolDef, body: Arc<dyn Callable>) -> Self {
        self.contribute(owner, name, Placement::Plugin, def, body)
    }

    fn contribute(
        mut self,
        owner: &str,
        name: &str,
        placement: Placement,
        def: ToolDef,
        callable: Arc<dyn Callable>,
    ) -> Self {
        self.contributions.push(Contribution {
            owner: OwnerPath::new(owner),
            name: name.into(),
            placement,
            source: Source::Folder,
            def,
            callable,
            runtime: "command",
            place: None,
            schema_pointer: String::new(),
            code_digest: String::new(),
            config: Arc::default(),
        });
        self
    }

    /// A skill that names `tools`.
    pub(crate) fn skill(self, owner: &str, name: &str, tools: &[&str], change: impl FnOnce(&mut SkillSource)) -> Self {
        let mut skill = SkillSource {
            name: name.into(),
            placement: Placement::Plugin,
            description: format!("how to {name}"),
            body: format!("Text of {name}."),
            tools: tools.iter().map(|t| t.to_string()).collect(),
            audience: Audience::default(),
            keywords: Vec::new(),
            tags: Vec::new(),
            always: false,
            metadata: Map::new(),
            place: place(owner, name),
            workspace: false,
        };
        change(&mut skill);
        let mut world = self;
        world.skills.push(skill);
        world
    }

    pub(crate) fn section(mut self, section: SectionSource) -> Self {
        self.sections.push(section);
        self
    }

    pub(crate) fn agents_md(mut self, owner: &str, text: &str) -> Self {
        self.agents_md.push((OwnerPath::new(owner), text.into()));
        self
    }

    pub(crate) fn configured(mut self, change: impl FnOnce(&mut BotConfig)) -> Self {
        change(&mut self.bot);
        self
    }

    pub(crate) fn build(&self) -> Arc<Indexes> {
        let mut contributions = self.contributions.clone();
        contributions.extend(super::builtins(&self.bot));
        let (indexes, found) = build(Parts {
            contributions,
            left_out: Vec::new(),
            inactive: Vec::new(),
            skills: self.skills.clone(),
            sections: self.sections.clone(),
            agents: Vec::new(),
            hooks: Vec::new(),
            commands: Vec::new(),
            agents_md: self.agents_md.clone(),
            bot: &self.bot,
            bot_doc: None,
        });
        Arc::new(indexes.unwrap_or_else(|| panic!("{found:#?}")))
    }

    /// The controller of a turn of `facts`.
    pub(crate) fn controller(&self, facts: &Facts, snapshot: &LoadedSnapshot) -> Arc<Controller> {
        self.controller_of(self.build(), facts, snapshot)
    }

    pub(crate) fn controller_of(
        &self,
        indexes: Arc<Indexes>,
        facts: &Facts,
        snapshot: &LoadedSnapshot,
    ) -> Arc<Controller> {
        let policy = LivePolicy::new(PolicyInput::from(&self.bot));
        Arc::new(Controller::new(CatalogInput {
            admitted: Admitted::judge(&indexes, facts, &policy),
            indexes,
            bot: &self.bot,
            snapshot,
            mentioned: HashSet::from(["old-tool".to_string()]),
            can_ask: true,
            agent: None,
            max_tools: usize::MAX,
        }))
    }
}

pub(crate) fn place(owner: &str, item: &str) -> Place {
    let doc = Doc::parse_toml("skill", &format!("{owner}/{item}"), "").unwrap();
    Place { owner: OwnerPath::new(owner), item: item.into(), doc: Arc::new(doc) }
}

/// A person in a group, or in private.
pub(crate) fn facts(id: &str, role: Role, scope: Scope) -> Facts {
    Facts {
        conversation: ConversationRef {
            platform: "telegram".into(),
            endpoint: "main".into(),
            scope,
            scene: "-100".into(),
            parent: None,
            thread: None,
        },
        principal: Principal::person("telegram", id, Some(role)),
        platform_permissions: None,
        attended: true,
    }
}

/// Somebody without rights, in private.
pub(crate) fn ann() -> Facts {
    facts("42", Role::User, Scope::Private)
}
