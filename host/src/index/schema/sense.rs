//! Schemas that are sound by the book and still let nothing through, or never come to an end.

use super::check::{error, short};
use super::{SchemaFault, build, draft_of};
use jsonschema::Draft;
use serde_json::{Map, Value};

/// Lower and upper bounds of the same thing.
const BOUNDS: [(&str, &str); 5] = [
    ("minLength", "maxLength"),
    ("minimum", "maximum"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
];

/// What one schema of a tree says that no value can keep.
pub(super) fn nonsense(root: &Value, map: &Map<String, Value>, at: &str, out: &mut Vec<SchemaFault>) {
    for (least, most) in BOUNDS {
        let bound = |key: &str| map.get(key).and_then(Value::as_f64);
        if let (Some(low), Some(high)) = (bound(least), bound(most))
            && low > high
        {
            let message = format!("`{least}` is over `{most}`: no value fits");
            out.push(error("tool::bad-value", format!("{at}/{least}"), message).help("exchange the two"));
        }
    }
    if map.get("enum").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        let message = "an empty `enum` lets no value through";
        out.push(error("tool::bad-value", format!("{at}/enum"), message).help("list the values, or leave it out"));
    }
    if let Some(default) = map.get("default").filter(|d| is_refused(root, map, d)) {
        let message = format!("the default {} is none of the values this allows", short(&default.to_string()));
        out.push(error("tool::bad-value", format!("{at}/default"), message).help("give it the type it says"));
    }
}

/// Whether a schema refuses its own default; one that refers to another place is not judged.
fn is_refused(root: &Value, map: &Map<String, Value>, default: &Value) -> bool {
    let mut own = map.clone();
    own.remove("default");
    if own.values().any(refers) {
        return false;
    }
    if let Some(draft) = root.get("$schema").filter(|_| draft_of(root) != Some(Draft::Draft202012)) {
        own.insert("$schema".into(), draft.clone());
    }
    build(&Value::Object(own)).is_ok_and(|validator| !validator.is_valid(default))
}

fn refers(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(k, v)| k == "$ref" || k == "$dynamicRef" || refers(v)),
        Value::Array(list) => list.iter().any(refers),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => false,
    }
}

/// Whether a reference leads from reference to reference and back to one of them, with no schema on the way.
pub(super) fn is_circle(root: &Value, target: &str) -> bool {
    let mut seen = vec![target.to_string()];
    loop {
        let fragment = seen.last().and_then(|t| t.strip_prefix('#')).unwrap_or_default();
        let next = root.pointer(&super::check::decode(fragment)).and_then(|v| v.get("$ref")?.as_str());
        match next {
            Some(next) if seen.iter().any(|s| s == next) => return true,
            Some(next) if next.starts_with('#') => seen.push(next.to_string()),
            _ => return false,
        }
    }
}
