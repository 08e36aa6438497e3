//! Desired and active: what is on disk, and how it differs from what answers.

use super::record::ReloadRecord;
use crate::candidate::Report;
use crate::config::BotConfig;
use serde::Serialize;
use serde_json::Value;

/// `desired` of `status`.
// SHAPE: 08 §2
#[derive(Debug, Clone, Default, Serialize)]
pub struct DesiredState {
    /// Digest of the input on disk, as it was last read.
    pub digest: Option<String>,
    /// Whether something else answers.
    pub differs: bool,
    /// Keys of `bot.toml` that differ.
    pub keys: Vec<String>,
    /// Endpoints that keep their old configuration.
    pub endpoints_needing_restart: Vec<String>,
    /// Process keys that wait for a restart.
    pub restart_keys: Vec<String>,
    /// The last verdict.
    pub last_reload: Option<ReloadRecord>,
}

/// The part that one reload finds out.
#[derive(Debug, Clone, Default)]
pub(super) struct Desired {
    pub(super) digest: Option<String>,
    pub(super) differs: bool,
    pub(super) keys: Vec<String>,
    pub(super) restart_keys: Vec<String>,
}

impl Desired {
    /// After a verdict that left nothing waiting but process keys.
    pub(super) fn passed(report: &Report, active: &BotConfig, digest: &str) -> Self {
        Self {
            digest: Some(digest.to_owned()),
            differs: !report.restart_keys.is_empty(),
            keys: keys(report, active),
            restart_keys: report.restart_keys.clone(),
        }
    }

    /// After a refusal: the disk says something that does not answer.
    pub(super) fn refused(report: &Report, active: Option<&BotConfig>) -> Self {
        Self {
            digest: Some(report.digest.clone()).filter(|d| !d.is_empty()),
            differs: true,
            keys: active.map(|a| keys(report, a)).unwrap_or_default(),
            restart_keys: report.restart_keys.clone(),
        }
    }

    pub(super) fn state(&self, last: Option<ReloadRecord>) -> DesiredState {
        DesiredState {
            digest: self.digest.clone(),
            differs: self.differs,
            keys: self.keys.clone(),
            endpoints_needing_restart: Vec::new(),
            restart_keys: self.restart_keys.clone(),
            last_reload: last,
        }
    }
}

/// Keys whose values differ, by dotted path; no value is shown.
fn keys(report: &Report, active: &BotConfig) -> Vec<String> {
    let Some(desired) = &report.desired else { return Vec::new() };
    let mut out = Vec::new();
    if let (Ok(a), Ok(b)) = (serde_json::to_value(active), serde_json::to_value(&**desired)) {
        differences(&a, &b, String::new(), &mut out);
    }
    // Secrets show as one word in both: they are compared by value and named by key.
    let names = active.secrets.keys().chain(desired.secrets.keys());
    out.extend(names.filter(|n| active.secrets.get(*n) != desired.secrets.get(*n)).map(|n| format!("secrets.{n}")));
    for (name, model) in &desired.models {
        if active.models.get(name).is_some_and(|old| old.api_key != model.api_key) {
            out.push(format!("models.{name}.api_key"));
        }
    }
    out.sort();
    out.dedup();
    out
}

fn differences(a: &Value, b: &Value, path: String, out: &mut Vec<String>) {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            for (key, value) in x {
                differences(value, y.get(key).unwrap_or(&Value::Null), below(key), out);
            }
            for (key, value) in y.iter().filter(|(k, _)| !x.contains_key(*k)) {
                differences(&Value::Null, value, below(key), out);
            }
        }
        _ if a != b => out.push(path),
        _ => {}
    }
}
