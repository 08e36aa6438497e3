//! Arguments of a call made complete: presets merged, defaults filled, validated.

use super::check::escape;
use super::preset::is_secret_expression;
use super::{InputSchema, Violation};
use serde_json::{Map, Value};

/// Local references followed in a row.
const REF_HOPS: usize = 16;

impl InputSchema {
    /// The frozen arguments of a call: what the caller sent, the host's presets, the schema's defaults.
    /// A preset that is a `${secret.…}` text stays one; it is resolved when the body runs.
    pub fn complete(
        &self,
        sent: Map<String, Value>,
        preset: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Vec<Violation>> {
        let mut wrong: Vec<Violation> = sent.keys().filter(|k| preset.contains_key(*k)).map(|k| bound(k)).collect();
        let mut args = sent;
        for (k, v) in preset {
            args.insert(k.clone(), v.clone());
        }
        fill(&self.original, &self.original, &mut args);
        let value = Value::Object(args);
        oversized(&value, "", &mut wrong);
        let secret: Vec<String> =
            preset.iter().filter(|(_, v)| is_secret_expression(v)).map(|(k, _)| format!("/{}", escape(k))).collect();
        wrong.extend(self.validate(&value).into_iter().filter(|v| !secret.contains(&v.path)));
        match (wrong.is_empty(), value) {
            (true, Value::Object(args)) => Ok(args),
            _ => Err(wrong),
        }
    }
}

fn bound(name: &str) -> Violation {
    Violation { path: format!("/{}", escape(name)), keyword: "preset".into(), message: "is set by the host".into() }
}

/// An integer that no longer has all its digits cannot be what was meant.
fn oversized(value: &Value, at: &str, out: &mut Vec<Violation>) {
    match value {
        Value::Number(n) if n.is_f64() => {
            let f = n.as_f64().unwrap_or_default();
            if f.fract() == 0.0 && f.abs() >= u64::MAX as f64 {
                let message = "an integer of more than 64 bits; send it as text".to_string();
                out.push(Violation { path: at.to_string(), keyword: "integer".into(), message });
            }
        }
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| oversized(v, &format!("{at}/{i}"), out)),
        Value::Object(map) => map.iter().for_each(|(k, v)| oversized(v, &format!("{at}/{}", escape(k)), out)),
        _ => {}
    }
}

/// Puts the defaults of absent properties in, also inside objects and lists that are present.
/// What a default brings is complete as it stands: it is not filled again, so recursion ends.
fn fill(root: &Value, schema: &Value, object: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = resolve(root, schema).get("properties") else { return };
    for (name, property) in properties {
        match object.get_mut(name) {
            Some(present) => descend(root, property, present),
            None => {
                let own = property.get("default").or_else(|| resolve(root, property).get("default"));
                if let Some(default) = own {
                    object.insert(name.clone(), default.clone());
                }
            }
        }
    }
}

fn descend(root: &Value, schema: &Value, value: &mut Value) {
    match value {
        Value::Object(map) => fill(root, schema, map),
        Value::Array(list) => {
            if let Some(items) = resolve(root, schema).get("items") {
                list.iter_mut().for_each(|v| descend(root, items, v));
            }
        }
        _ => {}
    }
}

fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut at = schema;
    for _ in 0..REF_HOPS {
        let target = at.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#'));
        match target.and_then(|t| root.pointer(t)) {
            Some(next) => at = next,
            None => break,
        }
    }
    at
}
