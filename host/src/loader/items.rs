//! The items of one plugin, each by the loader of its kind.

use super::agent::AgentSource;
use super::command::CommandSource;
use super::fileset::is_mcp;
use super::hook::HookSource;
use super::loading::{Findings, Loading};
use super::places::{Item, Kind};
use super::reader::TEXT_LIMIT;
use super::run::absent;
use super::source::{PluginSource, SectionSource, SkillSource, TestSource, ToolSource};
use super::walk::{Unstable, find};
use super::{agent, command, hook, scenarios, section, skills, strays, tool};
use plugin_sdk::Diagnostic;

/// Always-loaded tools of a tree before they crowd every request.
const MANY_ALWAYS_LOADED: usize = 20;

/// What a plugin's folders hold.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) tools: Vec<ToolSource>,
    pub(super) skills: Vec<SkillSource>,
    pub(super) sections: Vec<SectionSource>,
    pub(super) agents: Vec<AgentSource>,
    pub(super) hooks: Vec<HookSource>,
    pub(super) quiet_hooks: Vec<String>,
    pub(super) commands: Vec<CommandSource>,
    pub(super) agents_md: Option<String>,
    pub(super) tests: Vec<TestSource>,
}

/// Loads everything; what a finding refuses is left out.
pub(super) fn load(l: &mut Loading<'_, '_, '_>, listed: &[Item<'_>]) -> Result<Contents, Unstable> {
    let mut out = Contents::default();
    for item in listed {
        strays::report(l, item);
        match item.kind {
            Kind::Tool => out.tools.extend(tool::load(l, item)?),
            Kind::Skill => out.skills.extend(skills::load(l, item)?),
            Kind::Section => out.sections.extend(section::load(l, item)?),
            Kind::Agent => out.agents.extend(agent::load(l, item)?),
            Kind::Hook => match hook::load(l, item)? {
                hook::Read::Whole(hook) => out.hooks.push(*hook),
                hook::Read::Quiet(folder) => out.quiet_hooks.push(folder),
                hook::Read::Broken => {}
            },
            Kind::Command => out.commands.extend(command::load(l, item)?),
        }
    }
    for d in skills::crowded(&out.skills, &out.tools) {
        l.walk.diagnostics.push(d);
    }
    for entry in l.top.iter().filter(|e| is_mcp(&e.name)) {
        l.walk.report(absent("mcp"), &entry.rel);
    }
    out.agents_md = agents_md(l)?;
    out.tests = scenarios::load(l)?;
    Ok(out)
}

fn agents_md(l: &mut Loading<'_, '_, '_>) -> Result<Option<String>, Unstable> {
    let Some(entry) = find(l.top, "AGENTS.md") else { return Ok(None) };
    let mut findings = Findings::new("");
    let text = l.text(entry, TEXT_LIMIT, &mut findings)?;
    l.report(findings);
    Ok(text.filter(|t| !t.trim().is_empty()))
}

/// One warning for a tree that fills every request.
pub(super) fn many_always_loaded(plugins: &[PluginSource]) -> Option<Diagnostic> {
    let always: Vec<&ToolSource> =
        plugins.iter().flat_map(|p| &p.tools).filter(|t| t.def.options.always_loaded).collect();
    let first_over = always.get(MANY_ALWAYS_LOADED)?;
    let message = format!("{} tools are always loaded; over {MANY_ALWAYS_LOADED} crowd every request", always.len());
    let d = Diagnostic::warning("tool::many-always-loaded", message)
        .help("let the model find most of them: remove `always_loaded`");
    Some(first_over.place.diag(d, "/always_loaded"))
}
