//! `--as`, `--scope`, `--role`, `--perm` as facts.

use crate::admission::{CONSOLE, Facts, LivePolicy, Subject, parse_role};
use plugin_sdk::Role;
use serde::Deserialize;

/// The arguments as they are sent.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SubjectArgs {
    #[serde(rename = "as")]
    pub(super) subject: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) role: Option<String>,
    pub(super) perms: Vec<String>,
}

impl SubjectArgs {
    /// Whether anything was said.
    pub(super) fn is_given(&self) -> bool {
        self.subject.is_some() || self.role.is_some() || !self.perms.is_empty() || self.scope.is_some()
    }

    /// The facts; without a subject the person at the console, who is a master.
    pub(super) fn facts(&self, policy: &LivePolicy) -> Result<Facts, String> {
        let text = self.subject.as_deref().unwrap_or("local");
        let subject = Subject::parse(text, self.scope.as_deref()).map_err(|e| e.to_string())?;
        let given = self.role.as_deref().map(parse_role).transpose().map_err(|e| e.to_string())?;
        // Whoever types at the console holds the data folder; others are what the policy says.
        let console = subject.conversation.platform == CONSOLE;
        let role = given.or(console.then_some(Role::Master));
        let mut facts = subject.facts(policy, role, &self.perms);
        if subject.conversation.platform == CONSOLE && self.perms.is_empty() {
            facts.platform_permissions = Some(Ok(vec!["owner".into(), "admin".into()]));
        }
        Ok(facts)
    }
}
