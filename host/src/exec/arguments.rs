//! Phases 2 and 3: what a caller sent becomes the frozen arguments of a call.

use crate::index::{Tool, Violation, canonical_json, sha256_hex};
use plugin_sdk::{ToolError, ToolUse};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Violations named in the sentence a model reads; all are in the details.
const SHOWN: usize = 20;

/// Validated, complete, never changed again.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frozen {
    /// What is shown, hashed and journaled. A `${secret.NAME}` is still a text.
    pub(super) arguments: Map<String, Value>,
    /// SHA-256 of its canonical JSON.
    pub(super) args_hash: String,
}

impl Frozen {
    fn new(arguments: Map<String, Value>) -> Self {
        let value = Value::Object(arguments);
        let args_hash = hash(&value);
        let arguments = if let Value::Object(map) = value { map } else { Map::new() };
        Self { arguments, args_hash }
    }

    /// Whether the arguments are still those that were hashed.
    pub(super) fn is_intact(&self) -> bool {
        hash(&Value::Object(self.arguments.clone())) == self.args_hash
    }
}

fn hash(value: &Value) -> String {
    sha256_hex(canonical_json(value))
}

/// Stands for the arguments of a call that never got as far as being frozen.
pub(super) fn raw_hash(call: &ToolUse) -> String {
    match &call.arguments {
        Ok(value) => hash(value),
        Err(text) => sha256_hex(text),
    }
}

/// The arguments for a report when they never ran.
pub(super) fn as_sent(call: &ToolUse) -> Value {
    match &call.arguments {
        Ok(value) => value.clone(),
        Err(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
    }
}

/// Phase 2: one JSON object. Empty text is `{}`; an object that was encoded twice is decoded once.
pub(super) fn parse(call: &ToolUse) -> Result<Map<String, Value>, ToolError> {
    let value = match &call.arguments {
        Ok(value) => value.clone(),
        Err(text) if text.trim().is_empty() => return Ok(Map::new()),
        Err(text) => parse_text(text)?,
    };
    match value {
        Value::Object(map) => Ok(map),
        Value::String(inner) if inner.trim_start().starts_with('{') => match parse_text(&inner)? {
            Value::Object(map) => Ok(map),
            other => Err(not_an_object(&other)),
        },
        other => Err(not_an_object(&other)),
    }
}

fn parse_text(text: &str) -> Result<Value, ToolError> {
    let value: Value = serde_json::from_str(text).map_err(|e| malformed(&e.to_string()))?;
    if let Some(number) = wide_integer(text) {
        // Reading it as a float would silently run another number than the one sent.
        let message = format!("the integer {number} does not fit into 64 bits");
        return Err(invalid(vec![Violation { path: String::new(), keyword: "integer".into(), message }]));
    }
    Ok(value)
}

fn malformed(why: &str) -> ToolError {
    let mut error = ToolError::new("MALFORMED_ARGUMENTS", format!("the arguments are not one JSON object: {why}"));
    error.retryable = true;
    error.help("send one JSON object that fits the tool's schema")
}

fn not_an_object(value: &Value) -> ToolError {
    malformed(match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object in an object",
    })
}

/// The first integer of a valid JSON text that neither `i64` nor `u64` holds.
fn wide_integer(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut in_string = false;
    while let Some(&b) = bytes.get(at) {
        match b {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'-' | b'0'..=b'9' if !in_string => {
                let end = bytes[at..]
                    .iter()
                    .position(|c| !matches!(c, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))
                    .map_or(bytes.len(), |n| at + n);
                let number = &text[at..end];
                let integer = number.bytes().all(|c| c == b'-' || c.is_ascii_digit());
                if integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
                    return Some(number);
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Phase 3: presets and defaults in, everything judged against the sealed original schema, then frozen.
pub(super) fn validate(tool: &Tool, mut arguments: Map<String, Value>) -> Result<Frozen, ToolError> {
    let mut violations: Vec<Violation> = Vec::new();
    for (name, value) in &tool.def().preset {
        if arguments.insert(name.clone(), value.clone()).is_some() {
            let message = "is set by the host and cannot be sent".to_string();
            violations.push(Violation { path: pointer(name), keyword: "preset".into(), message });
        }
    }
    fill_defaults(&tool.input.original, &mut arguments);
    let value = Value::Object(arguments);
    violations.extend(broken_rules(tool, &value));
    match value {
        Value::Object(map) if violations.is_empty() => Ok(Frozen::new(map)),
        _ => Err(invalid(violations)),
    }
}

/// The value of a preset was checked in prepare; a secret among them is not known here at all.
fn broken_rules(tool: &Tool, value: &Value) -> impl Iterator<Item = Violation> {
    let presets: Vec<String> = tool.def().preset.keys().map(|k| pointer(k)).collect();
    tool.input.validate(value).into_iter().filter(move |v| {
        !presets.iter().any(|p| v.path.strip_prefix(p.as_str()).is_some_and(|r| r.is_empty() || r.starts_with('/')))
    })
}

fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn invalid(violations: Vec<Violation>) -> ToolError {
    let mut message = violations.iter().take(SHOWN).map(Violation::to_string).collect::<Vec<_>>().join("; ");
    if violations.len() > SHOWN {
        message.push_str(&format!("; and {} more", violations.len() - SHOWN));
    }
    let all: Vec<Value> =
        violations.iter().map(|v| json!({ "path": v.path, "keyword": v.keyword, "message": v.message })).collect();
    ToolError::new("VALIDATION_ERROR", message).retryable().detail("violations", all)
}

/// Puts in the `default` of every absent property, also in objects that are there.
fn fill_defaults(schema: &Value, object: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    for (name, rule) in properties {
        match (object.get_mut(name), rule.get("default")) {
            (Some(Value::Object(inner)), _) => fill_defaults(rule, inner),
            (None, Some(default)) => {
                object.insert(name.clone(), default.clone());
            }
            _ => {}
        }
    }
}

/// Replaces every preset that is exactly `${secret.NAME}`. Only the body sees the outcome.
pub(super) fn with_secrets(
    tool: &Tool,
    arguments: &Map<String, Value>,
    secrets: &BTreeMap<String, crate::config::Secret>,
) -> Result<Map<String, Value>, ToolError> {
    let mut out = arguments.clone();
    for name in tool.def().preset.keys() {
        if let Some(value) = out.get_mut(name) {
            resolve_secret(value, secrets)?;
        }
    }
    Ok(out)
}

fn resolve_secret(value: &mut Value, secrets: &BTreeMap<String, crate::config::Secret>) -> Result<(), ToolError> {
    match value {
        Value::String(text) => {
            if let Some(name) = text.strip_prefix("${secret.").and_then(|t| t.strip_suffix('}')) {
                let Some(secret) = secrets.get(name) else {
                    let message = format!("the secret `{name}` of this tool is not configured");
                    return Err(ToolError::new("EXECUTION_ERROR", message));
                };
                *text = secret.expose().to_string();
            }
            Ok(())
        }
        Value::Array(list) => list.iter_mut().try_for_each(|v| resolve_secret(v, secrets)),
        Value::Object(map) => map.values_mut().try_for_each(|v| resolve_secret(v, secrets)),
        _ => Ok(()),
    }
}
