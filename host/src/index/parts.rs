//! What the indexes are built from, and what they are.

use super::agents::Agent;
use super::hooks::Hook;
use super::ranking::Ranking;
use super::tool::{Contribution, ToolId};
use super::tool_index::ToolIndex;
use crate::admission::{Exposure, Guarded, Rules};
use crate::config::BotConfig;
use crate::config::doc::Doc;
use crate::loader::{AgentSource, CommandArgument, CommandSource, Placement, SectionSource, SkillSource};
use plugin_sdk::{Approval, OwnerPath};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything a candidate has gathered.
pub struct Parts<'a> {
    /// Tools of folders and of the host.
    pub contributions: Vec<Contribution>,
    /// Qualified names (aliases too) of tools that a condition left out: they count as present.
    pub left_out: Vec<String>,
    /// Owners that are disabled, broken or left out.
    pub inactive: Vec<OwnerPath>,
    /// Skills of folders and of the workspace.
    pub skills: Vec<SkillSource>,
    /// Prompt sections.
    pub sections: Vec<SectionSource>,
    /// Agents.
    pub agents: Vec<AgentSource>,
    /// Hooks with their code.
    pub hooks: Vec<Hook>,
    /// Chat commands of folders.
    pub commands: Vec<CommandSource>,
    /// `AGENTS.md` texts.
    pub agents_md: Vec<(OwnerPath, String)>,
    /// The configuration.
    pub bot: &'a BotConfig,
    /// Its document, for places.
    pub bot_doc: Option<Arc<Doc>>,
}

/// The immutable indexes of a generation.
#[derive(Debug, Clone)]
pub struct Indexes {
    /// Tools.
    pub tools: ToolIndex,
    /// Skills, by owner and name.
    pub skills: Vec<Skill>,
    /// Prompt sections, by owner and name.
    pub sections: Vec<Section>,
    /// Agents, by owner and name.
    pub agents: Vec<Agent>,
    /// The agent that answers a platform by itself: position in `agents`.
    pub platform_agents: BTreeMap<String, usize>,
    /// Hooks in the order they run.
    pub hooks: Vec<Hook>,
    /// `AGENTS.md` by owner, in preparation order.
    pub agents_md: Vec<(OwnerPath, String)>,
    /// Chat commands, by word.
    pub commands: Vec<CommandEntry>,
    /// Tools, skills and agents, ranked together.
    pub ranking: Arc<Ranking>,
}

impl Indexes {
    /// A skill by qualified name.
    pub fn skill(&self, qualified: &str) -> Option<&Skill> {
        self.skills.iter().find(|s| s.qualified == qualified)
    }

    /// Every skill with that folder name.
    pub fn skills_named(&self, name: &str) -> Vec<&Skill> {
        self.skills.iter().filter(|s| s.source.name == name).collect()
    }

    /// A chat command by its word or an alias, compared case-folded with `-` = `_`.
    pub fn command(&self, word: &str) -> Option<&CommandEntry> {
        let word = fold_word(word);
        self.commands.iter().find(|c| c.words().any(|w| fold_word(w) == word))
    }
}

/// How command words are compared; a space counts too, so that a menu can show two words as one.
pub fn fold_word(word: &str) -> String {
    word.to_lowercase().replace(['-', ' '], "_")
}

/// A sealed skill.
#[derive(Debug, Clone)]
pub struct Skill {
    /// Unique name.
    pub qualified: String,
    /// Owner.
    pub owner: OwnerPath,
    /// What the folder says.
    pub source: SkillSource,
    /// Admission fields.
    pub rules: Rules,
    /// Its private tools, then those it names, without repeats.
    pub unlocks: Vec<ToolId>,
    /// For the predicate: the qualified name alone.
    names: Vec<String>,
}

impl Skill {
    pub(super) fn new(source: SkillSource) -> Self {
        let owner = source.place.owner.clone();
        let qualified = owner.qualify(&skill_local(&source));
        let rules = Rules {
            platforms: source.audience.platforms.clone(),
            scopes: source.audience.scopes.clone(),
            permissions: source.audience.permissions.clone(),
        };
        Self { names: vec![qualified.clone()], qualified, owner, rules, unlocks: Vec::new(), source }
    }

    /// For the predicate.
    pub fn guarded(&self) -> Guarded<'_> {
        Guarded { rules: &self.rules, owner: &self.owner, names: &self.names, in_group: true }
    }

    /// Agent it belongs to.
    pub fn agent(&self) -> Option<&str> {
        match &self.source.placement {
            Placement::Agent(a) | Placement::AgentSkill(a, _) => Some(a),
            Placement::Plugin | Placement::Skill(_) => None,
        }
    }

    /// How it comes before a model.
    pub fn exposure(&self) -> Exposure {
        match self.agent() {
            Some(a) => Exposure::Private { agent: Some(a.to_string()), skill: None },
            None => Exposure::Listed,
        }
    }
}

/// Name inside the owner: `S`, or `agent__A__S`.
fn skill_local(source: &SkillSource) -> String {
    source.placement.local(&source.name)
}

/// A sealed prompt section.
#[derive(Debug, Clone)]
pub struct Section {
    /// Unique name.
    pub qualified: String,
    /// Owner.
    pub owner: OwnerPath,
    /// What the folder says.
    pub source: SectionSource,
    /// Admission fields: platforms only.
    pub rules: Rules,
    names: Vec<String>,
}

impl Section {
    pub(super) fn new(source: SectionSource) -> Self {
        let owner = source.place.owner.clone();
        let qualified = owner.qualify(&source.name);
        let rules = Rules { platforms: source.platforms.clone(), ..Rules::default() };
        Self { names: vec![qualified.clone()], qualified, owner, rules, source }
    }

    /// For the predicate.
    pub fn guarded(&self) -> Guarded<'_> {
        Guarded { rules: &self.rules, owner: &self.owner, names: &self.names, in_group: true }
    }
}

/// A chat command: one word or two that call a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandEntry {
    /// `weather`, or two words as in `todo add`.
    pub word: String,
    /// Further ones.
    pub aliases: Vec<String>,
    /// The tool; a command with a program of its own has a hidden one.
    pub tool: ToolId,
    /// Its qualified name.
    pub qualified: String,
    /// Owner of the command.
    pub owner: OwnerPath,
    /// Shown in help.
    pub description: String,
    /// Shown after the word.
    pub usage: Option<String>,
    /// How the rest of the line becomes arguments.
    pub input: CommandInput,
    /// Not in help.
    pub hidden: bool,
    /// What it asks for beside the tool's own gates.
    pub gate: CommandGate,
    /// Where it stands.
    pub file: Option<String>,
}

/// How the rest of a command line is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandInput {
    /// All of it is one property, or nothing is taken.
    Line(Option<String>),
    /// Typed arguments in order.
    Words(Vec<CommandArgument>),
}

/// What stands between a person and a command, beside the gates of its tool.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandGate {
    /// Admission fields.
    pub rules: Rules,
    /// When it asks.
    pub asks: Approval,
    /// Deadline.
    pub timeout_seconds: Option<f64>,
}

impl CommandEntry {
    /// For the predicate: its own fields, beside those of its tool.
    pub fn guarded(&self) -> Guarded<'_> {
        Guarded { rules: &self.gate.rules, owner: &self.owner, names: &[], in_group: true }
    }

    /// The word, then the aliases.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.word.as_str()).chain(self.aliases.iter().map(String::as_str))
    }
}
