//! Which agent answers a message: the one it names at its start, else the platform's own, else none.

use crate::admission::{Facts, LivePolicy, can_access_tool};
use crate::index::{Agent, Indexes};

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentChoice {
    /// No agent: the bot itself.
    Main,
    /// An agent, by its position in `Indexes::agents`.
    Chosen {
        /// Position.
        agent: usize,
        /// The text without the name; `None` when nobody named it.
        rest: Option<String>,
    },
    /// Several agents have the name.
    Ambiguous {
        /// As written.
        name: String,
        /// Their qualified names.
        qualified: Vec<String>,
    },
    /// The person may not use it here.
    Denied {
        /// As written.
        name: String,
    },
}

/// Chooses for this message alone. A name that nobody has is text like any other.
pub fn choose_agent(indexes: &Indexes, facts: &Facts, policy: &LivePolicy, text: &str) -> AgentChoice {
    let admitted = |agent: &Agent| can_access_tool(&agent.guarded(), facts, policy).is_ok();
    if let Some((name, rest)) = named(text) {
        let found = meant(&indexes.agents, name);
        let open: Vec<usize> = found.iter().copied().filter(|i| admitted(&indexes.agents[*i])).collect();
        match (open.as_slice(), found.is_empty()) {
            (_, true) => {}
            ([], false) => return AgentChoice::Denied { name: name.to_string() },
            ([one], false) => return AgentChoice::Chosen { agent: *one, rest: Some(rest.to_string()) },
            (several, false) => {
                let qualified = several.iter().map(|i| indexes.agents[*i].qualified.clone()).collect();
                return AgentChoice::Ambiguous { name: name.to_string(), qualified };
            }
        }
    }
    let own = indexes.platform_agents.get(&facts.conversation.platform);
    match own.and_then(|i| Some((*i, indexes.agents.get(*i)?))) {
        Some((agent, found)) if admitted(found) => AgentChoice::Chosen { agent, rest: None },
        _ => AgentChoice::Main,
    }
}

/// A qualified name or path means one agent, as everywhere; else a folder's name, which several may have.
fn meant(agents: &[Agent], name: &str) -> Vec<usize> {
    let name = name.to_lowercase();
    let exact = positions(agents, |a| a.qualified.to_lowercase() == name || a.path().to_lowercase() == name);
    if exact.is_empty() { positions(agents, |a| a.source.name == name) } else { exact }
}

fn positions(agents: &[Agent], fits: impl Fn(&Agent) -> bool) -> Vec<usize> {
    agents.iter().enumerate().filter(|(_, a)| fits(a)).map(|(i, _)| i).collect()
}

/// `@name`, `@name:` or `@name：` at the start, and what follows.
fn named(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start().strip_prefix('@')?;
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '.');
    let end = text.find(|c: char| !inside(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let separated = rest.is_empty() || rest.starts_with([':', '：']) || rest.starts_with(char::is_whitespace);
    if name.is_empty() || !separated {
        return None;
    }
    let rest = rest.trim_start();
    Some((name, rest.strip_prefix([':', '：']).unwrap_or(rest).trim_start()))
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_name_stands_at_the_start_and_ends_cleanly() {
        for (text, expected) in [
            ("@reviewer check this", Some(("reviewer", "check this"))),
            ("  @Reviewer: check", Some(("Reviewer", "check"))),
            ("@reviewer：看看", Some(("reviewer", "看看"))),
            ("@reviewer :check", Some(("reviewer", "check"))),
            ("@reviewer\ncheck", Some(("reviewer", "check"))),
            ("@maps/guide where", Some(("maps/guide", "where"))),
            ("@reviewer", Some(("reviewer", ""))),
            ("@reviewer, check", None),
            ("@ reviewer", None),
            ("ask @reviewer", None),
            ("a@b.example", None),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
    }
}
