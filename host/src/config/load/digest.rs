//! One number for the whole configuration.

use crate::config::BotConfig;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// SHA-256 of the configuration with defaults filled in; each secret stands for its own hash.
pub(super) fn digest(config: &BotConfig) -> String {
    let mut secrets = Map::new();
    for (name, secret) in &config.secrets {
        secrets.insert(format!("secrets/{name}"), Value::String(hash(secret.expose())));
    }
    for (name, model) in &config.models {
        if let Some(key) = &model.api_key {
            secrets.insert(format!("models/{name}"), Value::String(hash(key.expose())));
        }
        for (header, value) in &model.headers {
            secrets.insert(format!("models/{name}/{header}"), Value::String(hash(value.expose())));
        }
        if model.unavailable.is_some() {
            secrets.insert(format!("models/{name}/unavailable"), Value::Bool(true));
        }
    }
    let plain = serde_json::to_value(config).unwrap_or_default();
    hash(&sorted(&Value::Array(vec![plain, Value::Object(secrets)])).to_string())
}

/// The same value with the keys of every table in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            Value::Object(keys.into_iter().map(|k| (k.clone(), sorted(&map[k]))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}
