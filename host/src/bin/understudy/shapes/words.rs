//! The few words the shapes are written with.

use serde_json::{Map, Value, json};

/// Keys in the order they are printed.
pub(super) type Keys = Vec<(&'static str, Value)>;

pub(super) fn keys<const N: usize>(list: [(&'static str, Value); N]) -> Keys {
    list.into()
}

pub(super) fn text() -> Value {
    json!({"type": "string"})
}

pub(super) fn flag() -> Value {
    json!({"type": "boolean"})
}

/// A whole number from 0.
pub(super) fn count() -> Value {
    json!({"type": "integer", "minimum": 0})
}

pub(super) fn number() -> Value {
    json!({"type": "number"})
}

pub(super) fn time() -> Value {
    json!({"type": "string", "format": "date-time"})
}

pub(super) fn anything() -> Value {
    json!(true)
}

/// A JSON object with any keys.
pub(super) fn map() -> Value {
    json!({"type": "object"})
}

pub(super) fn opt(inner: Value) -> Value {
    json!({"anyOf": [inner, {"type": "null"}]})
}

pub(super) fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

/// A JSON object whose values are alike.
pub(super) fn map_of(values: Value) -> Value {
    json!({"type": "object", "additionalProperties": values})
}

pub(super) fn one_of<const N: usize>(words: [&str; N]) -> Value {
    json!({"enum": words.as_slice()})
}

pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

/// An object with exactly these keys.
pub(super) fn table<const N: usize>(list: [(&'static str, Value); N]) -> Value {
    closed(list.into_iter().map(|(k, v)| (k.to_string(), v)).collect())
}

/// An object with exactly these properties.
pub(super) fn closed(properties: Map<String, Value>) -> Value {
    let required: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "required": required, "additionalProperties": false, "properties": properties})
}
