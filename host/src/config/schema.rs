//! The JSON Schemas that `understudy schema KIND` prints and that this room can see. The loader has those of the
//! manifests; the program joins them.

use super::shape::schema_for;
use super::{BotConfig, Class};
use serde_json::{Map, Value, json};

/// Kinds of this room.
pub fn schema_kinds() -> Vec<&'static str> {
    vec!["bot", "message", "diagnostic"]
}

/// The schema of a kind; `None` for a kind of another room.
pub fn schema_of(kind: &str) -> Option<Value> {
    match kind {
        "bot" => Some(bot()),
        "message" => Some(schema_for::<plugin_sdk::Message>()),
        "diagnostic" => Some(schema_for::<plugin_sdk::Diagnostic>()),
        _ => None,
    }
}

/// `bot.toml`: with the `_file` twins of secret keys, and the class of each key as `x-class`.
fn bot() -> Value {
    let mut schema = schema_for::<BotConfig>();
    let definitions = schema.get("$defs").cloned().unwrap_or_default();
    classify(&mut schema, &definitions, &mut Vec::new());
    schema
}

/// Writes every reference out, so that one definition used at two places can carry two classes.
fn classify(schema: &mut Value, definitions: &Value, path: &mut Vec<String>) {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"))
        && let Some(Value::Object(target)) = definitions.get(name)
        && let Value::Object(own) = schema
    {
        own.remove("$ref");
        for (key, value) in target {
            own.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    let Value::Object(map) = schema else { return };
    map.remove("$defs");
    for list in ["anyOf", "oneOf"] {
        for branch in map.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            classify(branch, definitions, path);
        }
    }
    let table = map.contains_key("properties") || map.get("additionalProperties").is_some_and(Value::is_object);
    if !table && !path.is_empty() && !map.contains_key("x-class") {
        map.insert("x-class".into(), json!(Class::of(path).letter()));
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        for (name, child) in properties.iter_mut() {
            path.push(name.clone());
            classify(child, definitions, path);
            path.pop();
        }
        add_twins(properties);
    }
    if let Some(rest) = map.get_mut("additionalProperties").filter(|r| r.is_object()) {
        path.push("*".into());
        classify(rest, definitions, path);
        path.pop();
    }
}

/// `<key>_file` beside every secret key.
fn add_twins(properties: &mut Map<String, Value>) {
    let secret =
        |v: &Value| v.get("x-secret").is_some() || v.get("anyOf").is_some_and(|a| a.to_string().contains("x-secret"));
    let names: Vec<String> = properties.iter().filter(|(_, v)| secret(v)).map(|(k, _)| k.clone()).collect();
    for name in names {
        let description = format!("Path of a file that holds `{name}`.");
        properties
            .insert(format!("{name}_file"), json!({"type": "string", "description": description, "x-class": "L"}));
    }
}
