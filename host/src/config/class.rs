//! When a changed key of `bot.toml` acts, and which keys differ between two configurations.

use super::BotConfig;
use super::shape::dotted;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Class of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Class {
    /// Now: part of `LivePolicy`.
    N,
    /// With the next generation or turn.
    L,
    /// Only that endpoint or listener restarts.
    E,
    /// With the next start of the process.
    P,
}

impl Class {
    /// Class of a key by its path.
    pub fn of(path: &[String]) -> Self {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["access" | "approval", ..] | ["tools", "deny" | "disabled", ..] | ["plugins", "disabled", ..] => Self::N,
            ["tools", "override", _, "approval"] => Self::N,
            ["adapters", _, _, "masters" | "trusted", ..] => Self::N,
            ["adapters", _, _, key, ..] if ENDPOINT_LIVE.contains(key) => Self::L,
            ["adapters", ..] => Self::E,
            ["bot", "data_dir"] | ["store", "flush_every_ms" | "cache_mb"] => Self::P,
            _ => Self::L,
        }
    }

    /// The letter of the contract.
    pub fn letter(self) -> &'static str {
        match self {
            Self::N => "N",
            Self::L => "L",
            Self::E => "E",
            Self::P => "P",
        }
    }
}

/// Keys of an endpoint that need no new connection.
const ENDPOINT_LIVE: [&str; 12] = [
    "required",
    "trigger",
    "stream",
    "typing",
    "progress",
    "context_messages",
    "bots",
    "bot_turns_max",
    "link_previews",
    "protect_content",
    "language",
    "greeting",
];

/// A key that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Change {
    /// Dotted path.
    pub key: String,
    /// When it acts.
    pub class: Class,
    /// Former value; `null` when absent; secrets redacted.
    pub from: Value,
    /// New value.
    pub to: Value,
}

/// Keys whose values differ, in order of their paths.
pub fn changes(from: &BotConfig, to: &BotConfig) -> Vec<Change> {
    let (old, new) = (leaves_of(from), leaves_of(to));
    let mut paths: Vec<&Vec<String>> = old.keys().chain(new.keys()).collect();
    paths.sort();
    paths.dedup();
    let mut out = Vec::new();
    for path in paths {
        let pair = (old.get(path), new.get(path));
        if pair.0 == pair.1 {
            continue;
        }
        let shown = |leaf: Option<&Leaf>| leaf.map_or(Value::Null, |l| l.shown.clone());
        out.push(Change { key: dotted(path), class: Class::of(path), from: shown(pair.0), to: shown(pair.1) });
    }
    out
}

/// Every setting by its dotted path: when a change acts, its value with secrets redacted, and for a secret a mark
/// that differs when the secret does.
pub fn settings(config: &BotConfig) -> Value {
    let leaves = leaves_of(config).into_iter();
    let setting = |(path, leaf): (Vec<String>, Leaf)| {
        let mark = leaf.secret.map(|s| mark_of(&s));
        let value = json!({"class": Class::of(&path).letter(), "value": leaf.shown, "mark": mark});
        (dotted(&path), value)
    };
    Value::Object(leaves.map(setting).collect())
}

/// Tells two secrets apart and says no more about them.
fn mark_of(secret: &str) -> String {
    let digest = Sha256::new().chain_update("understudy setting\0").chain_update(secret).finalize();
    digest.iter().take(8).map(|b| format!("{b:02x}")).collect()
}

/// A value that is no table; a secret is compared by its text and shown redacted.
#[derive(PartialEq)]
struct Leaf {
    shown: Value,
    secret: Option<String>,
}

fn leaves_of(config: &BotConfig) -> BTreeMap<Vec<String>, Leaf> {
    let mut out = BTreeMap::new();
    let plain = serde_json::to_value(config).unwrap_or_default();
    collect(&plain, &mut Vec::new(), &mut out);
    let mut secret = |path: &[&str], text: &str| {
        if let Some(leaf) = out.get_mut(&path.iter().map(|p| (*p).to_string()).collect::<Vec<_>>()) {
            leaf.secret = Some(text.to_string());
        }
    };
    for (name, value) in &config.secrets {
        secret(&["secrets", name], value.expose());
    }
    for (name, model) in &config.models {
        if let Some(key) = &model.api_key {
            secret(&["models", name, "api_key"], key.expose());
        }
        for (header, value) in &model.headers {
            secret(&["models", name, "headers", header], value.expose());
        }
    }
    out
}

fn collect(value: &Value, path: &mut Vec<String>, out: &mut BTreeMap<Vec<String>, Leaf>) {
    match value {
        Value::Object(map) => {
            for (key, child) in map {
                path.push(key.clone());
                collect(child, path, out);
                path.pop();
            }
        }
        Value::Null => {}
        other => {
            out.insert(path.clone(), Leaf { shown: other.clone(), secret: None });
        }
    }
}
