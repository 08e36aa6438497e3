//! Prompt sections: names, admission fields, and whether the required ones fit together.

use super::parts::Section;
use crate::admission::{Platforms, check_rules};
use crate::config::BotConfig;
use crate::loader::{Retention, SectionSource};
use plugin_sdk::{Diagnostic, OwnerPath};
use std::collections::{BTreeMap, BTreeSet};

/// Two line breaks between blocks.
const SEPARATOR: usize = 2;

/// The sections that stand, by owner and name.
pub(super) fn sections(
    mut sources: Vec<SectionSource>,
    platforms: &Platforms,
    out: &mut Vec<Diagnostic>,
) -> Vec<Section> {
    sources.sort_by(|a, b| (&a.place.owner, &a.name).cmp(&(&b.place.owner, &b.name)));
    let mut owners: BTreeMap<String, OwnerPath> = BTreeMap::new();
    let mut list = Vec::new();
    for source in sources {
        let section = Section::new(source);
        let place = &section.source.place;
        if let Some(other) = owners.get(&section.qualified) {
            let code = if *other == section.owner { "section::duplicate-name" } else { "name::collision" };
            let message =
                format!("the section `{}` is one of `{other}` and one of `{}`", section.qualified, section.owner);
            out.push(place.diag(Diagnostic::error(code, message).help("rename one of the two"), ""));
            continue;
        }
        out.extend(check_rules(&section.rules, platforms).into_iter().map(|(pointer, d)| place.diag(d, &pointer)));
        owners.insert(section.qualified.clone(), section.owner.clone());
        list.push(section);
    }
    list
}

/// Characters of a block: `## title`, a line break, the text.
fn length(source: &SectionSource) -> usize {
    "## ".len() + source.title.chars().count() + 1 + source.body.trim_end().chars().count()
}

/// Required sections that no turn of some profile and platform can hold.
pub(super) fn overflow(sections: &[Section], bot: &BotConfig) -> Vec<Diagnostic> {
    let budget = bot.agent.system_prompt_max_chars;
    let required: Vec<&Section> = sections.iter().filter(|s| s.source.retention == Retention::Required).collect();
    let named: BTreeSet<&str> = required.iter().flat_map(|s| s.source.platforms.iter().map(String::as_str)).collect();
    // the empty name is any platform that no section names
    let platforms = named.into_iter().chain([""]);
    let mut out = Vec::new();
    let mut told = BTreeSet::new();
    for (platform, profile) in platforms.flat_map(|p| [(p, "interactive"), (p, "schedule")]) {
        let here: Vec<&&Section> = required
            .iter()
            .filter(|s| s.source.platforms.is_empty() || s.source.platforms.iter().any(|p| p == platform))
            .filter(|s| s.source.profiles.iter().any(|p| p == profile))
            .collect();
        let total: usize = here.iter().map(|s| length(&s.source) + SEPARATOR).sum::<usize>().saturating_sub(SEPARATOR);
        let Some(largest) = here.iter().max_by_key(|s| length(&s.source)).filter(|_| total > budget) else { continue };
        if told.insert((profile, total)) {
            let on = if platform.is_empty() { String::new() } else { format!(" on {platform}") };
            let message = format!(
                "required sections of profile {profile}{on} have {total} characters, \
                 `agent.system_prompt_max_chars` is {budget}: such a turn fails"
            );
            let d = Diagnostic::warning("section::required-overflow", message)
                .help("shorten the largest, this one, or say `retention: preferred`");
            out.push(largest.source.place.diag(d, "/retention"));
        }
    }
    out
}
