//! Does this call ask: opinions A (declared), B (capability), C (dedicated), D (parent) and E (admin); the
//! strictest wins.

use super::pattern::{NamePattern, best};
use super::platforms::CONSOLE;
use super::predicate::effective_role;
use super::{Facts, LivePolicy};
use crate::config::{Mode, Table, ToolOverride};
use plugin_sdk::{Approval, Capability, Dedicated, Role, Scope};

/// One opinion; the order is strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Opinion {
    /// Runs.
    Allow,
    /// A person is asked.
    Ask,
    /// Refused.
    Deny,
}

impl Opinion {
    /// Contract name.
    pub fn as_str(self) -> &'static str {
        match self {
            Opinion::Allow => "allow",
            Opinion::Ask => "ask",
            Opinion::Deny => "deny",
        }
    }
}

/// Tools of the host that never ask by `on-risk`: they find, load, ask or read what the turn already has.
const HARMLESS_BUILTINS: [&str; 13] = [
    "discover",
    "load_tool",
    "load_skill",
    "tool_search",
    "ask_user",
    "subagent",
    "spawn_task",
    "context_read",
    "context_search",
    "memory_search",
    "memory_fetch",
    "get_goal",
    "report_goal",
];

/// What a tool declares about asking, after the admin's replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// In force.
    pub approval: Approval,
    /// `requires_approval` of the tool, or the key of `tools.override` that replaced it.
    pub source: String,
}

/// The compiled `requires_approval` keys of `[tools.override]`.
#[derive(Debug, Clone, Default)]
pub struct Overrides(Vec<(NamePattern, Approval)>);

impl Overrides {
    /// From the table; keys without `requires_approval` replace nothing.
    pub fn new(table: &Table<ToolOverride>) -> Self {
        let pairs = table.iter().filter_map(|(k, o)| Some((NamePattern::new(k), o.requires_approval?)));
        Self(pairs.collect())
    }

    /// What holds for a tool (qualified name first): the exact key, else the longest glob, else its own word.
    pub fn declared(&self, names: &[String], own: Approval) -> Declared {
        match best(&self.0, names) {
            Some((key, approval)) => {
                Declared { approval: *approval, source: format!("tools.override.\"{}\".requires_approval", key.text()) }
            }
            None => Declared { approval: own, source: "requires_approval".into() },
        }
    }
}

/// What the decision needs to know of a tool.
#[derive(Debug, Clone)]
pub struct Gated<'a> {
    /// Qualified name, then aliases.
    pub names: &'a [String],
    /// Opinion A's source.
    pub declared: &'a Declared,
    /// `None` = unknown.
    pub capabilities: Option<&'a [Capability]>,
    /// The host's own mark; no name, tag or label obtains it.
    pub builtin: bool,
}

impl<'a> Gated<'a> {
    /// The same when the way to the tool asks too, as a chat command may: the tool's own word holds where it asks
    /// already, the other's where it would not.
    #[must_use]
    pub fn reached_by(self, other: Option<&'a Declared>) -> Self {
        let Some(other) = other.filter(|o| o.approval != Approval::Never) else { return self };
        let own_allows = declared_opinion(&self, None).effect == Opinion::Allow;
        let reached = Self { declared: other, ..self.clone() };
        let asks = declared_opinion(&reached, None).effect == Opinion::Ask;
        if asks && (own_allows || other.approval == Approval::Always) { reached } else { self }
    }
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Because {
    /// The setting or declaration.
    pub source: String,
    /// Its value and what made it count.
    pub value: String,
    /// Its opinion.
    pub effect: Opinion,
}

/// The decision about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalDecision {
    /// The strictest opinion.
    pub decision: Opinion,
    /// Every opinion that was given, A first.
    pub because: Vec<Because>,
    /// Permits of who may answer.
    pub approvers: Vec<String>,
    /// `ask` became `allow` because a master asked for it.
    pub auto_master: bool,
    /// `ask` became `allow` because somebody allowed the tool for this session.
    pub granted: bool,
    /// Code of the error when a dedicated policy denies.
    pub code: Option<String>,
}

/// What is known of one concrete call beside its tool.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    /// Opinion C.
    pub dedicated: Option<Dedicated>,
    /// Opinion D: what the parent of a sub-agent may do.
    pub parent: Option<Because>,
    /// Somebody allowed this tool, as it is, for this session.
    pub granted: bool,
}

/// The reason of a dedicated policy, as a source.
const DEDICATED: &str = "policy";

impl ApprovalDecision {
    /// The opinions that carry the decision.
    pub fn deciding(&self) -> impl Iterator<Item = &Because> {
        let wanted = if self.auto_master { Opinion::Ask } else { self.decision };
        self.because.iter().filter(move |b| b.effect == wanted)
    }

    /// Whether the tool's own policy wants this concrete call looked at.
    pub fn asked_by_policy(&self) -> bool {
        self.because.iter().any(|b| b.source == DEDICATED && b.effect == Opinion::Ask)
    }
}

/// The five opinions for one call by the person of the facts.
pub fn approval(tool: &Gated<'_>, facts: &Facts, policy: &LivePolicy, extra: &Extra) -> ApprovalDecision {
    let without = opinions(tool, policy, extra, false);
    let asked = strictest(&without) == Opinion::Ask;
    let because = if asked && extra.granted { opinions(tool, policy, extra, true) } else { without };
    let strictest = strictest(&because);
    let auto_master = strictest == Opinion::Ask && auto_approves(facts, policy);
    let code = match &extra.dedicated {
        Some(Dedicated::Deny { code, .. }) => Some(code.clone()),
        _ => None,
    };
    ApprovalDecision {
        decision: if auto_master { Opinion::Allow } else { strictest },
        because,
        approvers: policy.input.approval.approvers.clone(),
        auto_master,
        granted: asked && strictest == Opinion::Allow,
        code,
    }
}

fn strictest(because: &[Because]) -> Opinion {
    because.iter().map(|b| b.effect).max().unwrap_or(Opinion::Ask)
}

/// Every opinion that is given. A grant answers A and a `confirm` of B, nothing else.
fn opinions(tool: &Gated<'_>, policy: &LivePolicy, extra: &Extra, granted: bool) -> Vec<Because> {
    let mut because = vec![declared_opinion(tool, extra.dedicated.as_ref())];
    because.extend(capability_opinions(tool, policy));
    let remembered = granted && tool.declared.approval != Approval::Always;
    for b in because.iter_mut().filter(|b| remembered && b.effect == Opinion::Ask) {
        b.value.push_str(", allowed for this session");
        b.effect = Opinion::Allow;
    }
    because.extend(extra.dedicated.as_ref().map(dedicated_opinion));
    if let Some(parent) = &extra.parent {
        // First of equals: on a tie the parent's reason is the one that is told.
        because.insert(0, parent.clone());
    }
    if let Some(key) = policy.override_denies(tool.names) {
        because.push(Because {
            source: format!("tools.override.\"{key}\".approval"),
            value: "deny".into(),
            effect: Opinion::Deny,
        });
    }
    because
}

fn dedicated_opinion(said: &Dedicated) -> Because {
    let (value, effect) = match said {
        Dedicated::Verified => ("verified".to_string(), Opinion::Allow),
        Dedicated::Ask(reason) => (reason.clone(), Opinion::Ask),
        Dedicated::Deny { reason, .. } => (reason.clone(), Opinion::Deny),
    };
    Because { source: DEDICATED.into(), value, effect }
}

/// Whether a yes may be remembered for the session: for `once`, and for a master's `on-risk` call that is asked
/// about only because nobody declared what the tool can do. A grant would not answer any other reason.
pub fn may_remember(tool: &Gated<'_>, decision: &ApprovalDecision, facts: &Facts) -> bool {
    let asks = |b: &&Because| b.effect == Opinion::Ask;
    let own = |b: &Because| b.source == tool.declared.source;
    let mode = |b: &Because| b.source.starts_with("approval.");
    match tool.declared.approval {
        Approval::Once => decision.because.iter().filter(asks).all(|b| own(b) || mode(b)),
        Approval::OnRisk => {
            effective_role(facts) == Some(Role::Master)
                && tool.capabilities.is_none()
                && decision.because.iter().filter(asks).all(own)
        }
        Approval::Never | Approval::Always => false,
    }
}

fn auto_approves(facts: &Facts, policy: &LivePolicy) -> bool {
    let place = &facts.conversation;
    policy.input.approval.auto_approve_master
        && effective_role(facts) == Some(Role::Master)
        && (place.scope == Scope::Private || place.platform == CONSOLE)
}

fn declared_opinion(tool: &Gated<'_>, dedicated: Option<&Dedicated>) -> Because {
    let (value, effect) = match tool.declared.approval {
        Approval::Never => ("never".to_string(), Opinion::Allow),
        Approval::Always => ("always".to_string(), Opinion::Ask),
        Approval::Once => ("once".to_string(), Opinion::Ask),
        Approval::OnRisk => on_risk(tool, dedicated),
    };
    Because { source: tool.declared.source.clone(), value, effect }
}

fn on_risk(tool: &Gated<'_>, dedicated: Option<&Dedicated>) -> (String, Opinion) {
    let name = tool.names.first().map_or("", String::as_str);
    if tool.builtin && dedicated == Some(&Dedicated::Verified) {
        return ("on-risk: this operation was verified".into(), Opinion::Allow);
    }
    if tool.builtin && HARMLESS_BUILTINS.contains(&name) {
        return ("on-risk: a tool of the host without risk".into(), Opinion::Allow);
    }
    match tool.capabilities {
        None => ("on-risk: capabilities not declared".into(), Opinion::Ask),
        Some([]) => ("on-risk: declared pure".into(), Opinion::Allow),
        Some(list) if list.iter().all(|c| *c == Capability::Read) => ("on-risk: only reads".into(), Opinion::Allow),
        Some(list) => {
            let risky: Vec<&str> = list.iter().filter(|c| **c != Capability::Read).map(|c| capability(*c)).collect();
            (format!("on-risk: {}", risky.join(", ")), Opinion::Ask)
        }
    }
}

fn capability(c: Capability) -> &'static str {
    match c {
        Capability::Read => "read",
        Capability::Write => "write",
        Capability::Execute => "execute",
        Capability::Network => "network",
        Capability::Mcp => "mcp",
        Capability::Agent => "agent",
    }
}

fn capability_opinions(tool: &Gated<'_>, policy: &LivePolicy) -> impl Iterator<Item = Because> {
    let has = |c| tool.capabilities.is_some_and(|list| list.contains(&c));
    let config = &policy.input.approval;
    let rows = [
        (has(Capability::Execute), "approval.execute_mode", config.execute_mode),
        (has(Capability::Write), "approval.write_mode", config.write_mode),
    ];
    rows.into_iter().filter(|(applies, ..)| *applies).map(|(_, source, mode)| {
        let (value, effect) = match mode {
            Mode::Confirm => ("confirm", Opinion::Ask),
            Mode::Allow => ("allow", Opinion::Allow),
            Mode::Deny => ("deny", Opinion::Deny),
        };
        Because { source: source.into(), value: value.into(), effect }
    })
}
