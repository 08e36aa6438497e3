//! The keywords of a schema, one function each; the walk decides where they apply.

use crate::config::doc::{Node, NodeKind};
use crate::config::nearest;
use serde_json::{Number, Value};

/// A broken rule: what is wrong, and what to do.
type Broken = Option<(String, Option<String>)>;

/// The alternatives of a schema.
pub(super) fn branches(schema: &Value) -> Option<&[Value]> {
    let list = schema.get("anyOf").or_else(|| schema.get("oneOf")).or_else(|| schema.get("allOf"))?;
    list.as_array().map(Vec::as_slice)
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ if schema.get("properties").is_some() => vec!["object"],
        _ => Vec::new(),
    }
}

/// All values of alternatives that are nothing but values.
pub(super) fn constants<'s>(list: &'s [Value], resolve: &dyn Fn(&'s Value) -> &'s Value) -> Option<Vec<&'s Value>> {
    let mut out = Vec::new();
    for branch in list {
        let branch = resolve(branch);
        match (branch.get("const"), branch.get("enum").and_then(Value::as_array), branches(branch)) {
            (Some(value), _, _) => out.push(value),
            (None, Some(values), _) => out.extend(values),
            (None, None, Some(inner)) => out.extend(constants(inner, resolve)?),
            _ if types(branch) == ["null"] => {}
            _ => return None,
        }
    }
    if out.is_empty() { None } else { Some(out) }
}

/// Whether the node has a type the schema takes; inside, the value of a scalar that takes another type by its key.
/// `Some(None)`: as it is.
pub(super) fn as_wanted(node: &Node, schema: &Value) -> Option<Option<Value>> {
    let types = types(schema);
    if types.is_empty() || types.iter().any(|t| is_type(node, t)) {
        return Some(None);
    }
    let plain = node.plain.as_deref()?;
    types.iter().find_map(|t| read_as(plain, t)).map(Some)
}

fn is_type(node: &Node, name: &str) -> bool {
    match &node.kind {
        NodeKind::Null => name == "null",
        NodeKind::Bool(_) => name == "boolean",
        NodeKind::Number(_, int) => name == "number" || (name == "integer" && int.is_some()),
        NodeKind::Str(_) => name == "string",
        NodeKind::Date(_) => false,
        NodeKind::Array(_) => name == "array",
        NodeKind::Table(_) => name == "object",
    }
}

fn read_as(plain: &str, name: &str) -> Option<Value> {
    match name {
        "string" => Some(Value::String(plain.into())),
        "boolean" => plain.parse().ok().map(Value::Bool),
        "integer" => plain.parse::<i64>().ok().map(Value::from),
        "number" => plain.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number),
        _ => None,
    }
}

/// `a text`, `a number or a list`.
pub(super) fn wanted(schema: &Value) -> String {
    if let Some(list) = branches(schema) {
        return list.iter().map(wanted).collect::<Vec<_>>().join(" or ");
    }
    let names: Vec<&str> = types(schema).iter().filter(|t| **t != "null").map(|t| noun(t)).collect();
    if names.is_empty() { "another type".into() } else { names.join(" or ") }
}

fn noun(name: &str) -> &str {
    match name {
        "string" => "a string",
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a table",
        "null" => "null",
        other => other,
    }
}

/// What a node is.
pub(super) fn found(node: &Node) -> &'static str {
    match &node.kind {
        NodeKind::Null => "null",
        NodeKind::Bool(_) => "a boolean",
        NodeKind::Number(_, Some(_)) => "an integer",
        NodeKind::Number(..) => "a number with a fraction",
        NodeKind::Str(_) => "a string",
        NodeKind::Date(_) => "a date or time",
        NodeKind::Array(_) => "a list",
        NodeKind::Table(_) => "a table",
    }
}

pub(super) fn same_type(a: &Value, b: &Value) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

pub(super) fn listed(allowed: &[&Value]) -> String {
    allowed.iter().map(|v| format!("`{}`", bare(v))).collect::<Vec<_>>().join(", ")
}

fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// A value outside a list.
pub(super) fn not_allowed(value: &Value, allowed: &[&Value]) -> (String, Option<String>) {
    let help = value
        .as_str()
        .and_then(|v| nearest(v, allowed.iter().filter_map(|a| a.as_str())))
        .map(|hit| format!("did you mean `{hit}`?"));
    (format!("must be one of {}", listed(allowed)), help)
}

/// The first rule that a scalar breaks.
pub(super) fn broken(value: &Value, schema: &Value) -> Broken {
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        return Some(not_allowed(value, &allowed.iter().filter(|a| !a.is_null()).collect::<Vec<_>>()));
    }
    if let Some(only) = schema.get("const")
        && only != value
    {
        return Some((format!("must be `{}`", bare(only)), None));
    }
    match value {
        Value::Number(n) => broken_number(n.as_f64().unwrap_or(0.0), schema),
        Value::String(s) => broken_text(s, schema),
        _ => None,
    }
}

fn broken_number(n: f64, schema: &Value) -> Broken {
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    let (min, max) = (limit("minimum"), limit("maximum"));
    let message = match (min, max) {
        (Some(a), Some(b)) if n < a || n > b => format!("must be between {a} and {b}"),
        (Some(a), _) if n < a => format!("must be at least {a}"),
        (_, Some(b)) if n > b => format!("must be at most {b}"),
        _ => match (limit("exclusiveMinimum"), limit("exclusiveMaximum")) {
            (Some(a), _) if n <= a => format!("must be more than {a}"),
            (_, Some(b)) if n >= b => format!("must be less than {b}"),
            _ => return None,
        },
    };
    Some((message, None))
}

fn broken_text(text: &str, schema: &Value) -> Broken {
    if let Some(found) = broken_size("characters", text.chars().count(), schema, "minLength", "maxLength") {
        return Some(found);
    }
    let pattern = schema.get("pattern").and_then(Value::as_str)?;
    if matches(pattern, text) {
        return None;
    }
    let help = schema.get("x-help").and_then(Value::as_str);
    Some((format!("must match `{pattern}`"), help.map(str::to_string)))
}

fn matches(pattern: &str, text: &str) -> bool {
    // "Not blank" is asked of nearly every manifest, and compiling a pattern costs more than the rest of a check.
    if pattern == r"\S" {
        return text.chars().any(|c| !c.is_whitespace());
    }
    regex::Regex::new(pattern).is_ok_and(|r| r.is_match(text))
}

/// A length outside its limits.
pub(super) fn broken_size(unit: &str, size: usize, schema: &Value, min: &str, max: &str) -> Broken {
    let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
    if let Some(least) = limit(min)
        && (size as u64) < least
    {
        let message =
            if least == 1 { "must not be empty".into() } else { format!("must have at least {least} {unit}") };
        return Some((message, None));
    }
    if let Some(most) = limit(max)
        && size as u64 > most
    {
        return Some((format!("must have at most {most} {unit}, not {size}"), None));
    }
    None
}

/// The schema of a key that a pattern names.
pub(super) fn by_pattern<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    let list = schema.get("patternProperties").and_then(Value::as_object)?;
    list.iter().find(|(pattern, _)| matches(pattern, name)).map(|(_, rule)| rule)
}

/// A key outside `propertyNames`.
pub(super) fn bad_name(name: &str, schema: &Value) -> Broken {
    broken(&Value::String(name.into()), schema.get("propertyNames")?)
}
