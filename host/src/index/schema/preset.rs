//! Presets and examples judged against a schema.

use super::violation::violations;
use super::{Violation, build};
use serde_json::{Map, Value, json};

/// Exactly `${secret.NAME}`: resolved when the body runs, stored nowhere.
pub fn is_secret_expression(value: &Value) -> bool {
    value.as_str().is_some_and(|s| s.starts_with("${secret.") && s.ends_with('}'))
}

/// Whether a text is any host expression, so that it says nothing about the value's type.
fn is_expression(value: &Value) -> bool {
    is_secret_expression(value) || value.as_str().is_some_and(|s| s.starts_with("${config.") && s.ends_with('}'))
}

/// Violations of the preset values against their own properties; nothing else is required of the object.
pub(in crate::index) fn preset_faults(schema: &Value, preset: &Map<String, Value>) -> Vec<Violation> {
    let values: Map<String, Value> =
        preset.iter().filter(|(_, v)| !is_expression(v)).map(|(k, v)| (k.clone(), v.clone())).collect();
    if values.is_empty() {
        return Vec::new();
    }
    let kept = ["$schema", "$id", "$defs", "definitions", "properties"];
    let mut open: Map<String, Value> =
        kept.iter().filter_map(|k| Some(((*k).to_string(), schema.get(k)?.clone()))).collect();
    open.insert("type".into(), json!("object"));
    value_faults(&Value::Object(open), &Value::Object(values))
}

/// Violations of a value against a schema that was checked before.
pub(in crate::index) fn value_faults(schema: &Value, value: &Value) -> Vec<Violation> {
    match build(schema) {
        Ok(validator) => violations(&validator, value),
        // a faulty schema has its own finding
        Err(_) => Vec::new(),
    }
}
