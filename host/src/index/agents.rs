//! Agents: names, rules, what they add and remove, and which one answers a platform by itself.

use super::parts::Skill;
use super::registry::ToolRegistry;
use super::settings::Known;
use super::skills::{ToolNames, near_or};
use super::tool::{Tool, ToolId};
use crate::admission::{Guarded, Platforms, Rules, check_rules};
use crate::config::{BotConfig, nearest_help};
use crate::loader::{AgentSource, Place, Placement};
use plugin_sdk::{Diagnostic, OwnerPath};
use serde_json::Value;
use std::collections::BTreeMap;

/// Name and provider of the built-in model.
const OFFLINE: &str = "offline";

/// A sealed agent.
#[derive(Debug, Clone)]
pub struct Agent {
    /// Unique name.
    pub qualified: String,
    /// Owner.
    pub owner: OwnerPath,
    /// What the folder says.
    pub source: AgentSource,
    /// Admission fields; the platforms are those it answers.
    pub rules: Rules,
    /// Its private tools, then the public ones it adds, without repeats.
    pub tools: Vec<ToolId>,
    /// Tools that leave while it is chosen.
    pub disallowed: Vec<ToolId>,
    /// Positions of the public skills it adds.
    pub skills: Vec<usize>,
    /// A configured model; `None` = the bot's.
    pub model: Option<String>,
    names: Vec<String>,
}

impl Agent {
    fn new(source: AgentSource) -> Self {
        let owner = source.place.owner.clone();
        let qualified = owner.qualify(&source.name);
        let rules = Rules {
            platforms: source.platforms.clone(),
            scopes: source.audience.scopes.clone(),
            permissions: source.audience.permissions.clone(),
        };
        Self {
            names: vec![qualified.clone()],
            qualified,
            owner,
            rules,
            tools: Vec::new(),
            disallowed: Vec::new(),
            skills: Vec::new(),
            model: None,
            source,
        }
    }

    /// For the predicate.
    pub fn guarded(&self) -> Guarded<'_> {
        Guarded { rules: &self.rules, owner: &self.owner, names: &self.names, in_group: true }
    }

    /// `OWNER/NAME`, as `agent.platform_agents` names it.
    pub fn path(&self) -> String {
        format!("{}/{}", self.owner, self.source.name)
    }

    /// Whether a name means it: qualified, `OWNER/NAME`, or its folder's name; case does not count.
    pub fn answers_to(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        name == self.source.name || name == self.qualified.to_lowercase() || name == self.path().to_lowercase()
    }

    /// Whether something of this owner and placement is its own.
    pub fn holds(&self, owner: &OwnerPath, placement: &Placement) -> bool {
        *owner == self.owner
            && matches!(placement, Placement::Agent(a) | Placement::AgentSkill(a, _) if *a == self.source.name)
    }

    fn is_automatic_on(&self, platform: &str) -> bool {
        self.source.auto_select && self.source.platforms.iter().any(|p| p == platform)
    }
}

/// What agents are judged by.
pub(super) struct AgentGround<'a> {
    pub(super) tools: ToolNames<'a>,
    pub(super) skills: &'a [Skill],
    pub(super) platforms: &'a Platforms,
    pub(super) bot: &'a BotConfig,
}

/// The agents that stand, by owner and name.
pub(super) fn agents(mut sources: Vec<AgentSource>, ground: &AgentGround<'_>, out: &mut Vec<Diagnostic>) -> Vec<Agent> {
    sources.sort_by(|a, b| (&a.place.owner, &a.name).cmp(&(&b.place.owner, &b.name)));
    let mut list: Vec<Agent> = Vec::new();
    for source in sources {
        let mut agent = Agent::new(source);
        if let Some(other) = list.iter().find(|a| a.qualified == agent.qualified) {
            let message = format!(
                "`{}` is the agent `{}` of owner `{}` and `{}` of owner `{}`",
                agent.qualified, other.source.name, other.owner, agent.source.name, agent.owner
            );
            let d = Diagnostic::error("name::collision", message).help("rename a folder of one of the two").related(
                other.source.place.doc.file.clone(),
                None,
                "the other agent",
            );
            out.push(agent.source.place.diag(d, ""));
            continue;
        }
        let found = check(&mut agent, ground);
        out.extend(found);
        list.push(agent);
    }
    list
}

fn check(agent: &mut Agent, ground: &AgentGround<'_>) -> Vec<Diagnostic> {
    let place = agent.source.place.clone();
    let mut out: Vec<Diagnostic> =
        check_rules(&agent.rules, ground.platforms).into_iter().map(|(pointer, d)| place.diag(d, &pointer)).collect();
    let wants = agent.source.wants.clone();
    let mut tools = private_tools(agent, ground.tools.registry);
    for id in named_tools(agent, ("tools", &wants.tools), ground, &mut out) {
        if !tools.contains(&id) {
            tools.push(id);
        }
    }
    agent.tools = tools;
    agent.disallowed = named_tools(agent, ("disallowed_tools", &wants.disallowed_tools), ground, &mut out);
    agent.skills = named_skills(agent, ground, &mut out);
    agent.model = model(agent, ground.bot, &mut out);
    out
}

fn private_tools(agent: &Agent, registry: &ToolRegistry) -> Vec<ToolId> {
    let mine = |t: &&Tool| *t.owner() == agent.owner && t.from.placement == Placement::Agent(agent.source.name.clone());
    registry.tools().iter().filter(mine).map(|t| t.id).collect()
}

/// Tools by local name of the agent or its owner, else qualified.
fn named_tools(
    agent: &Agent,
    (key, names): (&str, &[String]),
    ground: &AgentGround<'_>,
    out: &mut Vec<Diagnostic>,
) -> Vec<ToolId> {
    let private = Placement::Agent(agent.source.name.clone());
    let mut ids = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let candidates = [agent.owner.qualify(&private.local(name)), agent.owner.qualify(name), name.clone()];
        if let Some(tool) = candidates.iter().find_map(|c| ground.tools.registry.get(c).ok()) {
            if !ids.contains(&tool.id) {
                ids.push(tool.id);
            }
        } else if !candidates.iter().any(|c| ground.tools.present.contains(c) || super::is_reserved(c)) {
            let known = ground.tools.present.iter().map(String::as_str);
            let hint = "write a local name of this owner or a qualified name";
            let d = Diagnostic::error("agent::unknown-tool", format!("there is no tool `{name}`"))
                .help(near_or(name, known, hint));
            out.push(agent.source.place.diag(d, &format!("/{key}/{i}")));
        }
    }
    ids
}

fn named_skills(agent: &Agent, ground: &AgentGround<'_>, out: &mut Vec<Diagnostic>) -> Vec<usize> {
    let public = || ground.skills.iter().enumerate().filter(|(_, s)| s.source.placement == Placement::Plugin);
    let mut positions = Vec::new();
    for (i, name) in agent.source.wants.skills.iter().enumerate() {
        let candidates = [agent.owner.qualify(name), name.clone()];
        match candidates.iter().find_map(|c| public().find(|(_, s)| s.qualified == *c)) {
            Some((at, _)) => positions.push(at),
            None => {
                let known = public().map(|(_, s)| s.qualified.as_str());
                let own = format!("agents/{}/skills/{name}", agent.source.name);
                let private =
                    ground.skills.iter().any(|s| agent.holds(&s.owner, &s.source.placement) && s.source.name == *name);
                let d = Diagnostic::error("agent::unknown-skill", format!("there is no public skill `{name}`"));
                let help = match private {
                    true => format!("`{own}` belongs to the agent anyway: remove the entry"),
                    false => near_or(name, known, "write a local name of this owner or a qualified name"),
                };
                out.push(agent.source.place.diag(d.help(help), &format!("/skills/{i}")));
            }
        }
    }
    positions
}

/// The configured model that the agent asks for, by name or by provider.
fn model(agent: &Agent, bot: &BotConfig, out: &mut Vec<Diagnostic>) -> Option<String> {
    let limits = &agent.source.limits;
    // the built-in model needs no configuration
    let provider_of = |name: &str| match bot.models.get(name) {
        None if name == OFFLINE => Some(OFFLINE.to_string()),
        found => found.map(|m| provider_name(m.provider)),
    };
    let place = &agent.source.place;
    if let Some(name) = &limits.model {
        let Some(has) = provider_of(name) else {
            let help = match bot.models.is_empty() {
                true => "the bot has no `[models.NAME]`: add one, or leave the key out".to_string(),
                false => nearest_help(name, bot.models.keys().map(String::as_str)),
            };
            let d = Diagnostic::error("agent::unknown-model", format!("no model is called `{name}`"));
            out.push(place.diag(d.help(help), "/model"));
            return None;
        };
        if let Some(wanted) = limits.provider.as_ref().filter(|p| **p != has) {
            let message = format!("the model `{name}` is of provider `{has}`, not `{wanted}`");
            let d = Diagnostic::error("agent::unknown-model", message).help("remove `provider`: the model says it");
            out.push(place.diag(d, "/provider"));
        }
        return Some(name.clone());
    }
    let wanted = limits.provider.as_ref()?;
    let main = bot.agent.model.as_deref().unwrap_or("default");
    let names = std::iter::once(main).chain(bot.models.keys().map(String::as_str)).chain([OFFLINE]);
    if let Some(name) = names.into_iter().find(|n| provider_of(n).as_deref() == Some(wanted.as_str())) {
        return Some(name.to_string());
    }
    let mut known: Vec<String> = bot.models.values().map(|m| provider_name(m.provider)).collect();
    known.sort();
    known.dedup();
    let d = Diagnostic::error("agent::unknown-model", format!("no model of the bot has the provider `{wanted}`"))
        .help(nearest_help(wanted, known.iter().map(String::as_str)));
    out.push(place.diag(d, "/provider"));
    None
}

fn provider_name(provider: crate::config::Provider) -> String {
    match serde_json::to_value(provider) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

/// The agent that answers each platform by itself; two for one are refused unless the bot has chosen.
pub(super) fn automatic(agents: &[Agent], known: &Known<'_>, out: &mut Vec<Diagnostic>) -> BTreeMap<String, usize> {
    let mut chosen = BTreeMap::new();
    let by_bot = &known.bot.agent.platform_agents;
    for (platform, name) in by_bot {
        match by_path(agents, name) {
            Some(at) if agents.get(at).is_some_and(|a| admits(a, platform)) => {
                chosen.insert(platform.clone(), at);
            }
            found => out.push(wrong_choice(agents, found, (platform, name), known)),
        }
    }
    let mut platforms: Vec<&String> = agents.iter().flat_map(|a| &a.source.platforms).collect();
    platforms.sort();
    platforms.dedup();
    for platform in platforms.into_iter().filter(|p| !by_bot.contains_key(*p)) {
        let mut here = agents.iter().enumerate().filter(|(_, a)| a.is_automatic_on(platform));
        let Some((at, first)) = here.next() else { continue };
        chosen.insert(platform.clone(), at);
        for (_, other) in here {
            out.push(conflict(platform, first, other));
        }
    }
    chosen
}

fn admits(agent: &Agent, platform: &str) -> bool {
    agent.rules.platforms.is_empty() || agent.rules.platforms.iter().any(|p| p == platform)
}

/// `OWNER/NAME`; of the root also the name alone.
fn by_path(agents: &[Agent], name: &str) -> Option<usize> {
    agents.iter().position(|a| a.path() == name || (a.owner.is_root() && a.source.name == name))
}

fn wrong_choice(
    agents: &[Agent],
    found: Option<usize>,
    (platform, name): (&str, &str),
    known: &Known<'_>,
) -> Diagnostic {
    let d = match found {
        Some(_) => Diagnostic::error("bot::bad-value", format!("the agent `{name}` is not for `{platform}`"))
            .help(format!("add `{platform}` to its `platforms`")),
        None => {
            let paths: Vec<String> = agents.iter().map(Agent::path).collect();
            let help = match paths.is_empty() {
                true => "the tree has no agents".to_string(),
                false => nearest_help(name, paths.iter().map(String::as_str)),
            };
            Diagnostic::error("bot::bad-value", format!("there is no agent `{name}`")).help(help)
        }
    };
    known.at(d, &format!("/agent/platform_agents/{}", super::schema::check::escape(platform)))
}

fn conflict(platform: &str, first: &Agent, other: &Agent) -> Diagnostic {
    let file = |a: &Agent| a.source.place.doc.file.clone();
    let message = format!(
        "`{}` and `{}` would both answer `{platform}` by themselves ({} and {})",
        first.path(),
        other.path(),
        file(first),
        file(other)
    );
    let help = format!(
        "merge them, write `\"auto_select\": false` in one of them, or choose in bot.toml: \
         `[agent.platform_agents] {platform} = \"{}\"`",
        first.path()
    );
    let d = Diagnostic::error("agent::platform-conflict", message).help(help);
    place_of_platform(&other.source.place, d.related(file(first), None, "the other agent"))
}

/// At the list when it is written; the folder's own name has no place.
fn place_of_platform(place: &Place, d: Diagnostic) -> Diagnostic {
    match place.doc.find("/platforms") {
        Some(_) => place.diag(d, "/platforms"),
        None => place.diag(d, ""),
    }
}
