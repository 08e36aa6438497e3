//! The keys that act as soon as they are valid, whatever becomes of the rest of the file.

use crate::config::shape::Fault;
use crate::config::{AccessConfig, ApprovalConfig, OverrideApproval, Table, nearest};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The live part of the configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolicyConfig {
    /// Who is let in.
    pub access: AccessConfig,
    /// When a person is asked.
    pub approval: ApprovalConfig,
    /// `tools.deny`.
    pub tools_deny: Vec<String>,
    /// `tools.disabled`.
    pub tools_disabled: Vec<String>,
    /// `approval` of `tools.override`, by qualified name or glob.
    pub override_approvals: Table<OverrideApproval>,
    /// `plugins.disabled`.
    pub plugins_disabled: Vec<String>,
}

/// One override, read for its `approval` only.
#[derive(Deserialize, Default)]
struct Approval {
    #[serde(default)]
    approval: Option<OverrideApproval>,
}

/// `None` as soon as a finding touches one of these keys, or looks like a misspelt one: the former policy stays whole.
pub(super) fn extract(value: &Value, faults: &[Fault]) -> Option<PolicyConfig> {
    if faults.iter().any(|f| f.diagnostic.is_error() && touches(f)) {
        return None;
    }
    let overrides: Table<Approval> = read(value, "/tools/override")?;
    Some(PolicyConfig {
        access: read(value, "/access")?,
        approval: read(value, "/approval")?,
        tools_deny: read(value, "/tools/deny")?,
        tools_disabled: read(value, "/tools/disabled")?,
        override_approvals: overrides.into_iter().filter_map(|(k, o)| o.approval.map(|a| (k, a))).collect(),
        plugins_disabled: read(value, "/plugins/disabled")?,
    })
}

fn read<T: DeserializeOwned + Default>(value: &Value, pointer: &str) -> Option<T> {
    match value.pointer(pointer) {
        Some(found) => T::deserialize(found).ok(),
        None => Some(T::default()),
    }
}

fn touches(fault: &Fault) -> bool {
    let path: Vec<&str> = fault.path.iter().map(String::as_str).collect();
    let unknown = fault.diagnostic.code == "bot::unknown-key";
    let near = |word: &str, known: &[&str]| unknown && nearest(word, known.iter().copied()).is_some();
    match path.as_slice() {
        ["access" | "approval", ..] | ["tools", "deny" | "disabled", ..] | ["plugins", "disabled", ..] => true,
        ["tools"] | ["plugins"] | ["tools", "override"] | ["tools", "override", _] => true,
        ["tools", "override", _, key, ..] => *key == "approval" || near(key, &["approval"]),
        ["tools", key] => near(key, &["deny", "disabled", "override"]),
        ["plugins", key] => near(key, &["disabled"]),
        [key] => near(key, &["access", "approval", "tools", "plugins"]),
        _ => false,
    }
}
