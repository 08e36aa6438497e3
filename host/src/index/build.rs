//! From everything a candidate has gathered to the immutable indexes, or to all that is wrong with it.

use super::agents::{Agent, AgentGround};
use super::parts::{Indexes, Parts, Skill};
use super::ranking::{ItemKind, RankItem};
use super::registry::{RegistrySettings, ToolRegistry};
use super::settings::{Known, always_loaded};
use super::skills::{ToolNames, required, skills};
use super::tool::Contribution;
use super::view::ViewFilter;
use super::{agents, commands, hooks, sections};
use crate::admission::{Overrides, Platforms, PolicyInput, check_policy};
use crate::config::BotConfig;
use plugin_sdk::Diagnostic;
use std::collections::BTreeSet;

/// Builds every index. `None` exactly when a finding refuses; the findings are sorted.
pub fn build(parts: Parts<'_>) -> (Option<Indexes>, Vec<Diagnostic>) {
    build_after(parts, None)
}

/// The same after `previous`: tools with the same binding keep their compiled schemas. Its bot must have had the
/// same adapters, since permits are judged by them.
pub fn build_after(parts: Parts<'_>, previous: Option<&Indexes>) -> (Option<Indexes>, Vec<Diagnostic>) {
    let mut out = Vec::new();
    let settings = settings_of(parts.bot);
    let platforms = settings.platforms.clone();
    let mut contributions = parts.contributions;
    // the order of folders on a disk never shows
    contributions.sort_by(|a, b| (&a.owner, a.local()).cmp(&(&b.owner, b.local())));
    let mut present: BTreeSet<String> = contributions.iter().flat_map(Contribution::names).collect();
    present.extend(parts.left_out);
    let mut registry = ToolRegistry::with_settings(settings);
    if let Some(previous) = previous {
        registry = registry.known_from(&previous.tools);
    }
    out.extend(registry.register_each(contributions).1);

    let offered: BTreeSet<String> = parts.skills.iter().filter(|s| s.workspace).map(|s| s.name.clone()).collect();
    let skills = skills(parts.skills, &ToolNames { registry: &registry, present: &present }, &platforms, &mut out);
    let sections = sections::sections(parts.sections, &platforms, &mut out);
    out.extend(sections::overflow(&sections, parts.bot));
    let ground = AgentGround {
        tools: ToolNames { registry: &registry, present: &present },
        skills: &skills,
        platforms: &platforms,
        bot: parts.bot,
    };
    let agents = agents::agents(parts.agents, &ground, &mut out);
    let hooks = hooks::hooks(parts.hooks, &present, &mut out);
    let names = ToolNames { registry: &registry, present: &present };
    let commands = commands::commands(&parts.commands, &names, &platforms, &mut out);
    let known = Known {
        bot: parts.bot,
        doc: parts.bot_doc.as_deref(),
        tools: registry.tools(),
        present: &present,
        inactive: &parts.inactive,
    };
    out.extend(known.check());
    let platform_agents = agents::automatic(&agents, &known, &mut out);
    let policy = check_policy(&PolicyInput::from(parts.bot), &platforms);
    out.extend(
        policy.into_iter().chain(required(&skills, &offered, parts.bot)).map(|(pointer, d)| known.at(d, &pointer)),
    );

    out.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    if out.iter().any(Diagnostic::is_error) {
        return (None, out);
    }
    let tools = registry.seal_with(skills.iter().map(rank_item).chain(agents.iter().map(rank_agent)).collect());
    let ranking = tools.ranking().clone();
    let agents_md = parts.agents_md;
    (Some(Indexes { tools, skills, sections, agents, platform_agents, hooks, agents_md, commands, ranking }), out)
}

fn settings_of(bot: &BotConfig) -> RegistrySettings {
    let mut filter = ViewFilter::default();
    if let Some(groups) = &bot.tools.include_groups {
        filter = filter.include_groups(groups.iter().cloned());
    }
    if let Some(allow) = &bot.tools.allow {
        filter = filter.allow(allow.iter().cloned());
    }
    RegistrySettings {
        platforms: Platforms::new(bot.adapters.keys().cloned()),
        overrides: Overrides::new(&bot.tools.overrides),
        filter,
        always: always_loaded(bot).into_iter().map(|(_, n)| n).collect(),
    }
}

fn rank_item(skill: &Skill) -> RankItem {
    RankItem {
        kind: ItemKind::Skill,
        name: skill.source.name.clone(),
        qualified: skill.qualified.clone(),
        wire: skill.qualified.clone(),
        tags: skill.source.tags.iter().chain(&skill.source.keywords).cloned().collect(),
        group: String::new(),
        description: skill.source.description.clone(),
        params: Vec::new(),
    }
}

fn rank_agent(agent: &Agent) -> RankItem {
    let about = &agent.source.about;
    RankItem {
        kind: ItemKind::Agent,
        name: agent.source.name.clone(),
        qualified: agent.qualified.clone(),
        wire: agent.qualified.clone(),
        tags: about.tags.iter().chain(&about.triggers.keywords).cloned().collect(),
        group: String::new(),
        description: about.description.clone(),
        params: Vec::new(),
    }
}
