//! Why something is or is not offered: the same predicate, step by step, in words.

use super::approval::{ApprovalDecision, Extra, Gated, approval};
use super::predicate::{Guarded, effective_role, permit_step, platform_step, scope_step};
use super::{Denial, Facts, LivePolicy};
use serde_json::{Value, json};
use std::fmt;

/// How something comes before a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Exposure {
    /// In the public catalog.
    #[default]
    Listed,
    /// Hidden: by name only, never by a model.
    ByName,
    /// While that agent is chosen and that skill is loaded.
    Private {
        /// Agent of the placement.
        agent: Option<String>,
        /// Skill of the placement.
        skill: Option<String>,
    },
}

impl Exposure {
    /// Contract name.
    pub fn as_str(&self) -> &'static str {
        match self {
            Exposure::Listed => "listed",
            Exposure::ByName => "by_name",
            Exposure::Private { .. } => "private",
        }
    }
}

/// What is explained.
#[derive(Debug, Clone)]
pub struct ExplainInput<'a> {
    /// Rules and names; the first name is shown.
    pub guarded: Guarded<'a>,
    /// How it comes before a model.
    pub exposure: Exposure,
    /// Catalog group; `None` for what has none (skills, sections).
    pub group: Option<&'a str>,
    /// Sent from the first step.
    pub always: bool,
    /// `None` for what is never called (skills, sections).
    pub gated: Option<Gated<'a>>,
    /// File it stands in.
    pub file: Option<&'a str>,
    /// `None` when prepared from disk.
    pub generation: Option<u64>,
}

/// One line of an explanation.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// `exists deny disabled hidden access platforms scopes permission group placement`.
    pub check: &'static str,
    /// From 1, for `permission` only.
    pub index: Option<usize>,
    /// What was compared.
    pub value: Value,
    /// Whether it lets the person through.
    pub passed: bool,
    /// Why.
    pub detail: Option<String>,
}

/// Everything about one thing and one person.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Qualified name.
    pub name: String,
    /// Owner.
    pub owner: String,
    /// Generation asked.
    pub generation: Option<u64>,
    /// File.
    pub file: Option<String>,
    /// For whom.
    pub facts: Facts,
    /// In contract order.
    pub checks: Vec<Check>,
    /// The first failing step of the predicate.
    pub denial: Option<Denial>,
    /// How it comes before a model.
    pub exposure: Exposure,
    /// What a call would do.
    pub approval: Option<ApprovalDecision>,
}

/// Explains one thing for the person of the facts.
pub fn explain(input: &ExplainInput<'_>, facts: &Facts, policy: &LivePolicy) -> Explanation {
    let guarded = &input.guarded;
    Explanation {
        name: guarded.names.first().cloned().unwrap_or_default(),
        owner: guarded.owner.to_string(),
        generation: input.generation,
        file: input.file.map(str::to_string),
        facts: facts.clone(),
        checks: checks(input, facts, policy),
        denial: super::answered(facts, policy).and_then(|()| super::can_access_tool(guarded, facts, policy)).err(),
        exposure: input.exposure.clone(),
        approval: input.gated.as_ref().map(|g| approval(g, facts, policy, &Extra::default())),
    }
}

fn check(check: &'static str, value: impl Into<Value>, detail: Option<String>) -> Check {
    Check { check, index: None, value: value.into(), passed: detail.is_none(), detail }
}

fn checks(input: &ExplainInput<'_>, facts: &Facts, policy: &LivePolicy) -> Vec<Check> {
    let guarded = &input.guarded;
    let place = &facts.conversation;
    let hidden = input.exposure == Exposure::ByName;
    let scopes: Vec<&str> = guarded.rules.scopes.iter().map(|s| s.as_str()).collect();
    let denied = policy.denied_by(guarded.names).map(|n| format!("tools.deny has `{n}`"));
    let mut out = vec![
        check("exists", true, None),
        check("deny", denied.is_some(), denied),
        disabled(guarded, policy),
        Check { passed: true, ..check("hidden", hidden, hidden.then(|| "by name only, never by a model".into())) },
        check("access", mode(policy), detail(super::answered(facts, policy))),
        check("platforms", guarded.rules.platforms.clone(), detail(platform_step(&guarded.rules.platforms, place))),
        check("scopes", json!(scopes), detail(scope_step(&guarded.rules.scopes, place))),
    ];
    for (i, entry) in guarded.rules.permissions.iter().enumerate() {
        let why = detail(permit_step(entry, facts)).map(|d| without_entry(d, entry));
        out.push(Check { index: Some(i + 1), ..check("permission", entry.clone(), why) });
    }
    if guarded.rules.permissions.is_empty() {
        out.push(check("permission", Value::Null, None));
    }
    let outside = (!guarded.in_group).then(|| "not in tools.include_groups".to_string());
    out.push(check("group", json!(input.group), outside));
    out.push(check("placement", placement(input), None));
    out
}

fn mode(policy: &LivePolicy) -> Value {
    serde_json::to_value(policy.input.access.mode).unwrap_or_default()
}

fn disabled(guarded: &Guarded<'_>, policy: &LivePolicy) -> Check {
    let off = policy.disabled_by(guarded.names, guarded.owner);
    check("disabled", off.is_some(), off)
}

fn detail(step: Result<(), Denial>) -> Option<String> {
    step.err().map(|d| d.detail)
}

fn without_entry(detail: String, entry: &str) -> String {
    detail.strip_prefix(entry).and_then(|r| r.strip_prefix(": ")).map(str::to_string).unwrap_or(detail)
}

fn placement(input: &ExplainInput<'_>) -> String {
    let loaded = if input.always { "always loaded" } else { "deferred" };
    match &input.exposure {
        Exposure::Listed => format!("public, {loaded}"),
        Exposure::ByName => "hidden, by name only".into(),
        Exposure::Private { agent, skill } => {
            let agent = agent.as_ref().map(|a| format!("agent {a} is chosen"));
            let skill = skill.as_ref().map(|s| format!("skill {s} is loaded"));
            let when: Vec<String> = agent.into_iter().chain(skill).collect();
            format!("private, while {}", when.join(" and "))
        }
    }
}

impl Explanation {
    /// Whether the person is admitted.
    pub fn admitted(&self) -> bool {
        self.denial.is_none()
    }

    /// The keys of `explain --json` beside the envelope.
    pub fn to_json(&self) -> Value {
        let place = &self.facts.conversation;
        let checks = self.checks.iter().map(
            |c| json!({"check": c.check, "index": c.index, "value": c.value, "passed": c.passed, "detail": c.detail}),
        );
        let unlock = match &self.exposure {
            Exposure::Private { agent, skill } => json!({"agent": agent, "skill": skill}),
            _ => Value::Null,
        };
        json!({
            "tool": self.name,
            "owner": self.owner,
            "generation": self.generation,
            "file": self.file,
            "subject": {
                "platform": place.platform,
                "endpoint": place.endpoint,
                "scope": place.scope,
                "scene": place.scene,
                "thread": place.thread,
                "user_id": self.facts.principal.user_id,
                "role": effective_role(&self.facts).map(|r| r.as_str()),
                "platform_roles": self.platform_roles(),
            },
            "checks": checks.collect::<Vec<_>>(),
            "admitted": self.admitted(),
            "reason": self.denial.as_ref().map(|d| d.reason),
            "exposure": self.exposure.as_str(),
            "unlock": unlock,
            "approval": self.approval.as_ref().map(approval_json),
        })
    }

    fn platform_roles(&self) -> Vec<String> {
        self.facts.platform_permissions.clone().and_then(Result::ok).unwrap_or_default()
    }
}

fn approval_json(a: &ApprovalDecision) -> Value {
    let because = a.because.iter().map(|b| json!({"source": b.source, "value": b.value, "effect": b.effect.as_str()}));
    json!({
        "decision": a.decision.as_str(),
        "because": because.collect::<Vec<_>>(),
        "approvers": a.approvers,
    })
}

/// The text form.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::explanation_text(&self.to_json()))
    }
}
