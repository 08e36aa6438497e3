//! Which blocks a turn has. The texts come from the sealed generation alone, so that turns without a change
//! of generation, person or platform share every byte.

use super::agent;
use super::budget::{Block, Prompt, PromptOverflow, fit};
use super::texts;
use crate::catalog::Controller;
use crate::config::DeferredForm;
use crate::index::{Agent, Indexes, Section, Skill};
use crate::loader::{Layer, Retention};
use plugin_sdk::OwnerPath;

/// Longest description of a skill's line.
const SKILL_LINE_MAX: usize = 120;
/// The whole block of summaries.
const SUMMARIES_MAX: usize = 4_000;

/// What a prompt is made of.
pub struct PromptInput<'a> {
    /// The turn's generation.
    pub indexes: &'a Indexes,
    /// The turn's catalog.
    pub catalog: &'a Controller,
    /// The bot's name.
    pub bot_name: &'a str,
    /// Platform of the conversation.
    pub platform: &'a str,
    /// `interactive` or `schedule`.
    pub profile: &'a str,
    /// How tools are found.
    pub form: DeferredForm,
    /// `agent.system_prompt_max_chars`.
    pub budget: usize,
}

/// The prompt of a turn, or the required blocks that do not fit.
pub fn build(input: &PromptInput<'_>) -> Result<Prompt, PromptOverflow> {
    let mut blocks = host_blocks(input);
    blocks.extend(agents_md(input));
    blocks.extend(input.catalog.chosen().into_iter().flat_map(agent::blocks));
    blocks.extend(always_skills(input));
    blocks.extend(sections(input));
    fit(blocks, input.budget)
}

fn host_block(id: &str, layer: Layer, order: i64, retention: Retention, title: &str, body: String) -> Block {
    Block {
        id: format!("host/{id}"),
        owner: "host".into(),
        layer,
        order,
        retention,
        title: title.into(),
        body,
        max_chars: None,
    }
}

fn host_blocks(input: &PromptInput<'_>) -> Vec<Block> {
    let how = match input.form {
        DeferredForm::Discover if input.catalog.offers("discover") => texts::DISCOVER,
        DeferredForm::ToolSearch if input.catalog.offers("tool_search") => texts::TOOL_SEARCH,
        _ => texts::PLAIN,
    };
    let required = Retention::Required;
    vec![
        host_block("identity", Layer::Role, 1000, required, "Identity", texts::identity(input.bot_name)),
        host_block("rules", Layer::Safety, 1000, required, "Rules", texts::RULES.into()),
        host_block("tools", Layer::Tools, 1000, required, "Tools", how.into()),
        host_block("summaries", Layer::Tools, 900, Retention::Preferred, "What can be loaded", summaries(input)),
    ]
}

/// Counts and one line per skill and agent, never lists of tools. What belongs to the chosen agent comes first, so
/// that the limit takes it last.
fn summaries(input: &PromptInput<'_>) -> String {
    let mut lines = Vec::new();
    let owners = input.catalog.deferred_by_owner();
    let owners = owners.iter().map(|(owner, n)| format!("- {}: {n}", owner_name(owner))).collect();
    listed(&mut lines, texts::SUMMARY_TOOLS, owners);
    let mut skills: Vec<(usize, &Skill)> = visible_skills(input).filter(|(_, s)| !s.source.always).collect();
    let chosen = input.catalog.chosen();
    let named = |position: usize| chosen.is_some_and(|a| a.skills.contains(&position));
    skills.sort_by_key(|(i, s)| !(input.catalog.is_agents_skill(s) || named(*i)));
    let skills = skills.iter().map(|(_, s)| format!("- {}: {}", s.qualified, one_line(&s.source.description)));
    listed(&mut lines, texts::SUMMARY_SKILLS, skills.collect());
    let line = |a: &Agent| format!("- {}: {}", input.catalog.mention(a), one_line(&a.source.about.description));
    listed(&mut lines, texts::SUMMARY_AGENTS, other_agents(input).map(line).collect());
    let finds = input.form == DeferredForm::Discover && input.catalog.offers("discover");
    bounded(&lines, finds)
}

/// Items below their heading; no items, no heading. `true`: an item.
fn listed(lines: &mut Vec<(bool, String)>, heading: &str, items: Vec<String>) {
    if !items.is_empty() {
        lines.push((false, heading.to_string()));
        lines.extend(items.into_iter().map(|item| (true, item)));
    }
}

fn owner_name(owner: &str) -> &str {
    if owner == "." { "this bot" } else { owner }
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SKILL_LINE_MAX {
        return line;
    }
    let mut cut: String = line.chars().take(SKILL_LINE_MAX - 1).collect();
    cut.push('…');
    cut
}

/// As many lines as fit, the rest of the items as a number; `finds`: they can be looked for.
fn bounded(lines: &[(bool, String)], finds: bool) -> String {
    let whole = lines.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n");
    if whole.chars().count() <= SUMMARIES_MAX {
        return whole;
    }
    let items = lines.iter().filter(|(item, _)| *item).count();
    let hint = if finds { "; use discover" } else { "" };
    let reserve = format!("and {items} more{hint}").chars().count() + 1;
    let mut shown: Vec<&(bool, String)> = Vec::new();
    let mut used = 0;
    for line in lines {
        used += line.1.chars().count() + 1;
        if used + reserve > SUMMARIES_MAX {
            break;
        }
        shown.push(line);
    }
    // a heading without an item below it says nothing
    while shown.pop_if(|(item, _)| !*item).is_some() {}
    let left = items - shown.iter().filter(|(item, _)| *item).count();
    let mut out: Vec<String> = shown.into_iter().map(|(_, line)| line.clone()).collect();
    out.push(format!("and {left} more{hint}"));
    out.join("\n")
}

fn visible_skills<'a>(input: &'a PromptInput<'_>) -> impl Iterator<Item = (usize, &'a Skill)> {
    input.indexes.skills.iter().enumerate().filter(|(i, _)| input.catalog.skill_visible(*i))
}

/// Agents the person could name instead of the present one.
fn other_agents<'a>(input: &'a PromptInput<'_>) -> impl Iterator<Item = &'a Agent> {
    let all = input.indexes.agents.iter().enumerate().filter(|(i, _)| input.catalog.agent_visible(*i));
    let chosen = input.catalog.chosen().map(|a| a.qualified.as_str());
    all.map(|(_, a)| a).filter(move |a| Some(a.qualified.as_str()) != chosen)
}

fn agents_md(input: &PromptInput<'_>) -> Vec<Block> {
    let mut out = Vec::new();
    for (owner, text) in &input.indexes.agents_md {
        let root = owner.is_root();
        if !root && !serves(input, owner) {
            continue;
        }
        out.push(Block {
            id: format!("{owner}/AGENTS.md"),
            owner: owner.to_string(),
            layer: if root { Layer::Role } else { Layer::Context },
            order: if root { 900 } else { 500 },
            retention: if root { Retention::Required } else { Retention::Preferred },
            title: if root { "Instructions".into() } else { format!("About {owner}") },
            body: text.clone(),
            max_chars: None,
        });
    }
    out
}

/// Whether this turn admits anything of the owner.
fn serves(input: &PromptInput<'_>, owner: &OwnerPath) -> bool {
    let admitted = input.catalog.admitted();
    let tools = input.indexes.tools.tools().iter();
    tools.into_iter().any(|t| t.owner() == owner && admitted.tool(t.id) && !t.def().options.hidden)
        || visible_skills(input).any(|(_, s)| s.owner == *owner)
        || input.indexes.agents.iter().enumerate().any(|(i, a)| a.owner == *owner && input.catalog.agent_visible(i))
}

fn always_skills(input: &PromptInput<'_>) -> Vec<Block> {
    let positions = input.catalog.always_skills();
    let skills = positions.iter().filter_map(|i| input.indexes.skills.get(*i));
    skills
        .map(|s| Block {
            id: s.qualified.to_string(),
            owner: s.owner.to_string(),
            layer: Layer::Context,
            order: 450,
            retention: Retention::Preferred,
            title: format!("Skill {}", s.qualified),
            body: s.source.body.clone(),
            max_chars: None,
        })
        .collect()
}

fn sections(input: &PromptInput<'_>) -> Vec<Block> {
    let fits = |s: &&Section| {
        let from = &s.source;
        from.profiles.iter().any(|p| p == input.profile)
            && (from.platforms.is_empty() || from.platforms.iter().any(|p| p == input.platform))
    };
    let chosen = input.indexes.sections.iter().filter(fits);
    chosen
        .map(|s| Block {
            id: s.qualified.to_string(),
            owner: s.owner.to_string(),
            layer: s.source.layer,
            order: s.source.order,
            retention: s.source.retention,
            title: s.source.title.clone(),
            body: s.source.body.clone(),
            max_chars: s.source.max_chars,
        })
        .collect()
}
