//! `LivePolicy`: who is let in, what is denied or switched off, right now.

use super::pattern::{NamePattern, fits_any};
use super::platforms::CONSOLE;
use crate::config::{AccessConfig, ApprovalConfig, BotConfig, OverrideApproval, PolicyConfig, Table};
use arc_swap::ArcSwap;
use plugin_sdk::{OwnerPath, Principal, Role, SenderKind};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// User ids that have a role on one endpoint only.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointRoles {
    /// `kind/name`.
    pub endpoint: String,
    /// User ids.
    pub masters: Vec<String>,
    /// User ids.
    pub trusted: Vec<String>,
}

/// What a policy is made of: the keys of class N.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolicyInput {
    /// `[access]`.
    pub access: AccessConfig,
    /// `[approval]`.
    pub approval: ApprovalConfig,
    /// `tools.deny`.
    pub deny: Vec<String>,
    /// `tools.disabled`.
    pub disabled: Vec<String>,
    /// Keys of `tools.override` that say `approval = "deny"`.
    pub denied_overrides: Vec<String>,
    /// `plugins.disabled`.
    pub plugins_disabled: Vec<String>,
    /// `adapters.*.*.masters` and `.trusted`.
    pub endpoint_roles: Vec<EndpointRoles>,
    /// Whether people can write to the bot elsewhere than on the console.
    pub has_endpoints: bool,
}

impl From<&PolicyConfig> for PolicyInput {
    fn from(keys: &PolicyConfig) -> Self {
        let denied = keys.override_approvals.iter().filter(|(_, a)| **a == OverrideApproval::Deny);
        Self {
            access: keys.access.clone(),
            approval: keys.approval.clone(),
            deny: keys.tools_deny.clone(),
            disabled: keys.tools_disabled.clone(),
            denied_overrides: denied.map(|(k, _)| k.clone()).collect(),
            plugins_disabled: keys.plugins_disabled.clone(),
            ..Self::default()
        }
    }
}

impl From<&BotConfig> for PolicyInput {
    fn from(bot: &BotConfig) -> Self {
        let denied = bot.tools.overrides.iter().filter(|(_, o)| o.approval == Some(OverrideApproval::Deny));
        Self {
            access: bot.access.clone(),
            approval: bot.approval.clone(),
            deny: bot.tools.deny.clone(),
            disabled: bot.tools.disabled.clone(),
            denied_overrides: denied.map(|(k, _)| k.clone()).collect(),
            plugins_disabled: bot.plugins.disabled.clone(),
            ..Self::default()
        }
        .with_endpoints(&bot.adapters)
    }
}

impl PolicyInput {
    /// Adds the roles that the endpoints' own tables give.
    #[must_use]
    pub fn with_endpoints(mut self, adapters: &Table<Table<Map<String, Value>>>) -> Self {
        let roles = adapters.iter().flat_map(|(kind, names)| {
            names.iter().map(move |(name, table)| EndpointRoles {
                endpoint: format!("{kind}/{name}"),
                masters: ids(table.get("masters")),
                trusted: ids(table.get("trusted")),
            })
        });
        self.endpoint_roles = roles.filter(|e| !e.masters.is_empty() || !e.trusted.is_empty()).collect();
        self.has_endpoints = adapters.keys().any(|kind| kind != CONSOLE);
        self
    }

    /// Whether somebody is master or trusted.
    pub(super) fn has_trusted(&self) -> bool {
        let a = &self.access;
        !a.masters.is_empty() || !a.trusted.is_empty() || !self.endpoint_roles.is_empty()
    }
}

/// User ids of a list; a number is taken as its digits.
fn ids(value: Option<&Value>) -> Vec<String> {
    let Some(Value::Array(list)) = value else { return Vec::new() };
    list.iter()
        .filter_map(|v| match v {
            Value::String(s) => Some(s.clone()),
            Value::Number(n) => Some(n.to_string()),
            _ => None,
        })
        .collect()
}

/// One small immutable value owned by the process, never by a generation.
#[derive(Debug, Clone, Default)]
pub struct LivePolicy {
    pub(super) input: PolicyInput,
    deny: BTreeSet<String>,
    disabled: BTreeSet<String>,
    denied_overrides: Vec<NamePattern>,
    plugins_disabled: Vec<OwnerPath>,
    /// People let in by a code.
    paired: Arc<BTreeSet<String>>,
}

impl LivePolicy {
    /// Compiles the keys.
    pub fn new(input: PolicyInput) -> Self {
        Self {
            deny: input.deny.iter().cloned().collect(),
            disabled: input.disabled.iter().cloned().collect(),
            denied_overrides: input.denied_overrides.iter().map(|p| NamePattern::new(p)).collect(),
            plugins_disabled: input.plugins_disabled.iter().map(|o| OwnerPath::new(o)).collect(),
            paired: Arc::default(),
            input,
        }
    }

    /// The same with people who were let in by a code.
    #[must_use]
    pub fn with_paired(mut self, paired: Arc<BTreeSet<String>>) -> Self {
        self.paired = paired;
        self
    }

    /// Whether a person, in text form, was let in by a code.
    pub(super) fn is_paired(&self, id: &str) -> bool {
        self.paired.contains(id)
    }

    /// What it was made of.
    pub fn input(&self) -> &PolicyInput {
        &self.input
    }

    /// The entry of `tools.deny` that hits one of these names.
    pub fn denied_by<'a>(&self, names: &'a [String]) -> Option<&'a str> {
        names.iter().find(|n| self.deny.contains(*n)).map(String::as_str)
    }

    /// Whether a tool or its owner is switched off.
    pub fn is_disabled(&self, names: &[String], owner: &OwnerPath) -> bool {
        self.disabled_by(names, owner).is_some()
    }

    /// The switch that is off, in words.
    pub(super) fn disabled_by(&self, names: &[String], owner: &OwnerPath) -> Option<String> {
        if let Some(n) = names.iter().find(|n| self.disabled.contains(*n)) {
            return Some(format!("tools.disabled has `{n}`"));
        }
        let off = self.plugins_disabled.iter().find(|o| !o.is_root() && owner.is_within(o));
        off.map(|o| format!("plugins.disabled has `{o}`"))
    }

    /// Step 1 of the predicate without groups.
    pub(super) fn switched_off(&self, names: &[String], owner: &OwnerPath) -> Option<String> {
        let denied = self.denied_by(names).map(|n| format!("tools.deny has `{n}`"));
        denied.or_else(|| self.disabled_by(names, owner))
    }

    /// Names that `deny` or `disabled` hold, and owners that are off.
    pub(super) fn switches(&self) -> (impl Iterator<Item = &str>, &[OwnerPath]) {
        (self.deny.iter().chain(&self.disabled).map(String::as_str), &self.plugins_disabled)
    }

    /// The key of `tools.override` with `approval = "deny"` that fits.
    pub(super) fn override_denies(&self, names: &[String]) -> Option<&str> {
        self.denied_overrides.iter().find(|p| fits_any(p, names)).map(NamePattern::text)
    }

    /// Host role of a sender on an endpoint (`kind/name`); `None` for whoever is no identified person.
    pub fn role_of(&self, who: &Principal, endpoint: &str) -> Option<Role> {
        if !who.is_identified() {
            return None;
        }
        if who.platform == CONSOLE {
            return Some(Role::Master);
        }
        let id = who.id();
        let own = self.input.endpoint_roles.iter().filter(|e| e.endpoint == endpoint);
        let here = |pick: fn(&EndpointRoles) -> &[String]| own.clone().any(|e| pick(e).contains(&who.user_id));
        let access = &self.input.access;
        Some(if access.masters.contains(&id) || here(|e| &e.masters) {
            Role::Master
        } else if access.trusted.contains(&id) || here(|e| &e.trusted) {
            Role::Trusted
        } else {
            Role::User
        })
    }
}

/// The process' one live value beside the published generation.
#[derive(Debug, Default)]
pub struct PolicyCell(ArcSwap<LivePolicy>);

impl PolicyCell {
    /// A cell that holds `policy`.
    pub fn new(policy: LivePolicy) -> Self {
        Self(ArcSwap::from_pointee(policy))
    }

    /// The policy of this moment: the one live read a turn makes.
    pub fn read(&self) -> Arc<LivePolicy> {
        self.0.load_full()
    }

    /// Exchanges it; the next check of every running turn obeys the new one.
    pub fn replace(&self, policy: LivePolicy) {
        // The people a code let in do not come from the configuration.
        self.0.rcu(|present| policy.clone().with_paired(Arc::clone(&present.paired)));
    }

    /// Sets the people who were let in by a code, at once and for every policy after this.
    pub fn pair(&self, people: BTreeSet<String>) {
        let people = Arc::new(people);
        self.0.rcu(|present| LivePolicy::clone(present).with_paired(Arc::clone(&people)));
    }
}

/// Whether a sender counts as a person who may be asked and may answer.
pub fn may_answer(who: &Principal) -> bool {
    who.sender == SenderKind::User && who.is_identified()
}
