//! The tools of a request and the choice between them.

use super::{Check, at, join, named, only, plain};
use fake_model::Refusal;
use serde_json::{Map, Value};
use std::collections::HashSet;

const MAX_NAME: usize = 64;
const MAX_TOOLS: usize = 10_000;
const KNOWN: [&str; 9] = [
    "type",
    "name",
    "description",
    "input_schema",
    "cache_control",
    "defer_loading",
    "allowed_callers",
    "input_examples",
    "strict",
];
/// Keys only the beta knows.
const BETA_KEYS: [&str; 3] = ["defer_loading", "allowed_callers", "input_examples"];

/// Checks the tools; gives their names.
pub(super) fn check(map: &Map<String, Value>, deferral: bool) -> Result<HashSet<String>, Refusal> {
    let mut names = HashSet::new();
    let Some(list) = map.get("tools") else {
        return match map.get("tool_choice") {
            Some(_) => Err(plain("tool_choice may only be specified while providing tools")),
            None => Ok(names),
        };
    };
    let Some(list) = list.as_array() else { return Err(at("tools", "Input should be a list")) };
    if list.len() > MAX_TOOLS {
        return Err(at("tools", format!("at most {MAX_TOOLS} tools")));
    }
    let mut deferred = 0;
    for (i, tool) in list.iter().enumerate() {
        let path = format!("tools.{i}.custom");
        let Some(tool) = tool.as_object() else { return Err(at(path, "Input should be an object")) };
        if one(&path, tool, deferral)? {
            deferred += 1;
        }
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        if !names.insert(name.to_owned()) {
            return Err(at("tools", "Tool names must be unique."));
        }
    }
    if deferred > 0 && deferred == list.len() {
        return Err(plain("At least one tool must have defer_loading=false. All tools cannot be deferred."));
    }
    choice(map.get("tool_choice"), &names)?;
    Ok(names)
}

/// Checks a tool; gives whether it is deferred.
fn one(path: &str, tool: &Map<String, Value>, deferral: bool) -> Result<bool, Refusal> {
    only(path, tool, &KNOWN)?;
    if let Some(key) = tool.keys().find(|k| !deferral && BETA_KEYS.contains(&k.as_str())) {
        return Err(at(join(path, key), "Extra inputs are not permitted"));
    }
    if tool.get("type").is_some_and(|t| t != "custom") {
        return Err(at(join(path, "type"), "Input should be 'custom'"));
    }
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    if !named(name, MAX_NAME) {
        return Err(at(join(path, "name"), "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"));
    }
    if tool.get("description").is_some_and(|d| !d.is_string()) {
        return Err(at(join(path, "description"), "Input should be a valid string"));
    }
    schema(&join(path, "input_schema"), tool.get("input_schema"))?;
    let deferred = match tool.get("defer_loading") {
        None => false,
        Some(Value::Bool(flag)) => *flag,
        Some(_) => return Err(at(join(path, "defer_loading"), "Input should be a valid boolean")),
    };
    if deferred && tool.contains_key("cache_control") {
        let why = "cannot have both defer_loading=true and cache_control set";
        return Err(plain(format!("Tool '{name}' {why}. Tools with defer_loading cannot use prompt caching.")));
    }
    Ok(deferred)
}

fn schema(path: &str, schema: Option<&Value>) -> Check {
    let Some(schema) = schema else { return Err(at(path, "Field required")) };
    let Some(map) = schema.as_object() else { return Err(at(path, "Input should be an object")) };
    if map.get("type").and_then(Value::as_str) != Some("object") {
        return Err(at(join(path, "type"), "Input should be 'object'"));
    }
    if map.keys().any(|k| matches!(k.as_str(), "anyOf" | "oneOf" | "allOf")) {
        return Err(at(path, "input_schema does not support oneOf, allOf, or anyOf at the top level"));
    }
    if let Some(properties) = map.get("properties").and_then(Value::as_object) {
        let odd = |k: &&String| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            k.is_empty() || k.len() > MAX_NAME || !k.chars().all(allowed)
        };
        if properties.keys().find(odd).is_some() {
            let message = "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'";
            return Err(at(join(path, "properties"), message));
        }
    }
    valid(schema, schema).map_err(|()| at(path, "JSON schema is invalid. It must match JSON Schema draft 2020-12"))
}

/// The shape of the commonest keywords and the targets of references.
fn valid(root: &Value, node: &Value) -> Result<(), ()> {
    let Some(map) = node.as_object() else { return if node.is_boolean() { Ok(()) } else { Err(()) } };
    for (key, value) in map {
        let good = match key.as_str() {
            "properties" | "patternProperties" | "$defs" => match value.as_object() {
                Some(table) => table.values().all(|v| valid(root, v).is_ok()),
                None => false,
            },
            "items" | "additionalProperties" | "not" | "if" | "then" | "else" => valid(root, value).is_ok(),
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                value.as_array().is_some_and(|l| !l.is_empty() && l.iter().all(|v| valid(root, v).is_ok()))
            }
            "required" => value.as_array().is_some_and(|l| l.iter().all(Value::is_string)),
            "enum" => value.is_array(),
            "type" => value.is_string() || value.is_array(),
            "$ref" => {
                let target = value.as_str().and_then(|t| t.strip_prefix('#'));
                target.is_some_and(|pointer| root.pointer(pointer).is_some())
            }
            "minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems" => value.is_number(),
            _ => true,
        };
        if !good {
            return Err(());
        }
    }
    Ok(())
}

fn choice(choice: Option<&Value>, names: &HashSet<String>) -> Check {
    let Some(choice) = choice else { return Ok(()) };
    let Some(map) = choice.as_object() else { return Err(at("tool_choice", "Input should be an object")) };
    only("tool_choice", map, &["type", "name", "disable_parallel_tool_use"])?;
    match map.get("type").and_then(Value::as_str) {
        Some("auto" | "any" | "none") => Ok(()),
        Some("tool") => {
            let name = map.get("name").and_then(Value::as_str).unwrap_or_default();
            let known = names.contains(name);
            known.then_some(()).ok_or_else(|| plain(format!("Tool '{name}' not found in provided tools")))
        }
        _ => Err(at("tool_choice", "Input tag must be 'auto', 'any', 'tool' or 'none'")),
    }
}
