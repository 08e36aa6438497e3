//! What each schema keyword holds, and who takes it.

use serde_json::Value;

/// What stands under a keyword.
pub(super) enum Shape {
    /// One schema.
    Schema,
    /// Schemas by name.
    Table,
    /// A list of schemas.
    List,
    /// Values that are no schemas.
    Data,
}

pub(super) fn shape_of(key: &str) -> Shape {
    match key {
        "items"
        | "additionalItems"
        | "unevaluatedItems"
        | "contains"
        | "additionalProperties"
        | "propertyNames"
        | "unevaluatedProperties"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contentSchema" => Shape::Schema,
        "properties" | "patternProperties" | "dependentSchemas" => Shape::Table,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Shape::List,
        _ => Shape::Data,
    }
}

/// Gone in every profile: references are inlined, and the rest is for readers of the original.
pub(super) fn never_sent(key: &str) -> bool {
    matches!(
        key,
        "$schema"
            | "$id"
            | "$comment"
            | "$defs"
            | "definitions"
            | "examples"
            | "$anchor"
            | "$dynamicAnchor"
            | "$dynamicRef"
            | "$vocabulary"
            | "$ref"
    )
}

/// Also gone in the smallest profile.
pub(super) fn not_minimal(key: &str) -> bool {
    matches!(key, "additionalProperties" | "pattern" | "patternProperties" | "default" | "not" | "if" | "then" | "else")
}

/// Formats a strict provider takes.
pub(super) fn known_format(value: &Value) -> bool {
    matches!(value.as_str(), Some("date-time" | "date" | "time" | "email" | "uuid"))
}

const NUMERIC: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const STRING: [&str; 4] = ["minLength", "maxLength", "pattern", "format"];
const ARRAY: [&str; 10] = [
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "minContains",
    "maxContains",
    "minItems",
    "maxItems",
    "uniqueItems",
];
const OBJECT: [&str; 10] = [
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
];

pub(super) fn is_numeric_limit(key: &str) -> bool {
    NUMERIC.contains(&key)
}

/// Whether a keyword speaks about values of one type (or, for `enum`, lists them).
pub(super) fn typed(key: &str) -> bool {
    key == "enum" || NUMERIC.contains(&key) || STRING.contains(&key) || ARRAY.contains(&key) || OBJECT.contains(&key)
}

pub(super) fn belongs_to(key: &str, kind: &str) -> bool {
    match kind {
        "integer" | "number" => NUMERIC.contains(&key),
        "string" => STRING.contains(&key),
        "array" => ARRAY.contains(&key),
        "object" => OBJECT.contains(&key),
        _ => false,
    }
}

pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

pub(super) fn is_of(value: &Value, kind: &str) -> bool {
    let own = type_name(value);
    own == kind || (kind == "number" && own == "integer")
}
