//! Plugin configuration: a value that was exactly one expression takes the type its plugin's schema names.

use crate::config::doc::{Node, NodeKind};
use serde_json::{Map, Number, Value};

/// Gives every text in `given` that was written as one `${…}` the type that `schema` wants, if it reads as such.
pub fn take_types(given: &mut Map<String, Value>, written: &Node, schema: &Value) {
    for (key, value) in given.iter_mut() {
        let Some((_, node)) = written.get(key) else { continue };
        let rule = schema.get("properties").and_then(|p| p.get(key)).or_else(|| schema.get("additionalProperties"));
        let Some(rule) = rule else { continue };
        match value {
            Value::Object(inner) => take_types(inner, node, rule),
            Value::String(text) if is_expression(node) => {
                if let Some(typed) = read(text, rule) {
                    *value = typed;
                }
            }
            _ => {}
        }
    }
}

fn is_expression(node: &Node) -> bool {
    matches!(&node.kind, NodeKind::Str(s) if s.starts_with("${") && s.find('}') == Some(s.len() - 1))
}

fn read(text: &str, rule: &Value) -> Option<Value> {
    match rule.get("type").and_then(Value::as_str)? {
        "integer" => text.parse::<i64>().ok().map(Value::from),
        "number" => text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number),
        "boolean" => text.parse::<bool>().ok().map(Value::Bool),
        _ => None,
    }
}
