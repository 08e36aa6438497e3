//! The compiled input schema of a tool.

pub(super) mod check;
mod complete;
pub(super) mod preset;
mod sense;
mod violation;

pub use preset::is_secret_expression;
pub use violation::Violation;

use super::canonical::hash_json;
use jsonschema::{Draft, PatternOptions, Validator};
use plugin_sdk::{Approval, Capability, Severity};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Original schema, validator, the form a model sees, and hashes. Built by `InputSchema::compile`.
#[derive(Debug)]
pub struct InputSchema {
    /// As declared, `properties` and `required` filled.
    pub original: Arc<Value>,
    /// Without presets: what a model is sent and `list --schema` shows.
    pub visible: Arc<Value>,
    /// Validates against `original`.
    pub validator: Validator,
    /// SHA-256 of the canonical JSON of `{capabilities, input_schema, requires_approval}`.
    pub schema_hash: String,
    /// SHA-256 of the canonical JSON of the visible schema.
    pub visible_sha256: String,
}

/// A fault of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFault {
    /// `schema::*` or `tool::bad-value`.
    pub code: &'static str,
    /// Only `schema::provider` is a warning.
    pub severity: Severity,
    /// Pointer inside the schema.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

/// Bytes of one compiled pattern.
const PATTERN_SIZE: usize = 1 << 20;
/// Steps of one pattern on one text.
const PATTERN_STEPS: usize = 100_000;

impl InputSchema {
    /// Checks and compiles a schema; faults with a severity of `error` mean there is none.
    pub fn compile(
        declared: &Value,
        preset: &Map<String, Value>,
        capabilities: Option<&[Capability]>,
        approval: Approval,
    ) -> (Option<Self>, Vec<SchemaFault>) {
        let mut faults = check::check(declared);
        let broken = |faults: &[SchemaFault]| faults.iter().any(|f| f.severity == Severity::Error);
        if broken(&faults) {
            return (None, faults);
        }
        let validator = match build(declared) {
            Ok(v) => v,
            Err(fault) => {
                faults.push(fault);
                return (None, faults);
            }
        };
        let original = Arc::new(filled(declared));
        let visible = if preset.is_empty() { original.clone() } else { Arc::new(without(&original, preset)) };
        let schema_hash = hash_json(&json!({
            "capabilities": capabilities,
            "input_schema": &*original,
            "requires_approval": approval,
        }));
        let visible_sha256 = hash_json(&visible);
        (Some(Self { original, visible, validator, schema_hash, visible_sha256 }), faults)
    }
}

/// `tool_hash`: it changes with the code, the description or the schema, and ends a session's grants.
pub fn tool_hash(code: &str, description: &str, schema_hash: &str) -> String {
    hash_json(&json!({"code": code, "description": description, "schema_hash": schema_hash}))
}

/// The draft that `$schema` names; 2020-12 without it, `None` for one that is not known.
fn draft_of(schema: &Value) -> Option<Draft> {
    let Some(named) = schema.get("$schema") else { return Some(Draft::Draft202012) };
    let text = named.as_str()?.trim_end_matches('#');
    let path = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    match path.strip_prefix("json-schema.org/")? {
        "draft/2020-12/schema" => Some(Draft::Draft202012),
        "draft/2019-09/schema" => Some(Draft::Draft201909),
        "draft-07/schema" => Some(Draft::Draft7),
        "draft-06/schema" => Some(Draft::Draft6),
        "draft-04/schema" => Some(Draft::Draft4),
        _ => None,
    }
}

/// Compiles with its own draft; nothing outside the schema is ever read.
fn build(schema: &Value) -> Result<Validator, SchemaFault> {
    jsonschema::options()
        .with_draft(draft_of(schema).unwrap_or(Draft::Draft202012))
        .with_pattern_options(
            PatternOptions::fancy_regex()
                .backtrack_limit(PATTERN_STEPS)
                .size_limit(PATTERN_SIZE)
                .dfa_size_limit(PATTERN_SIZE),
        )
        .should_validate_formats(true)
        .offline()
        .build(schema)
        .map_err(|e| {
            let referencing = matches!(e.kind(), jsonschema::error::ValidationErrorKind::Referencing(_));
            SchemaFault {
                code: if referencing { "schema::bad-ref" } else { "tool::bad-value" },
                severity: Severity::Error,
                pointer: e.instance_path().to_string(),
                message: format!("the schema does not compile: {}", check::short(&e.to_string())),
                help: None,
            }
        })
}

fn filled(schema: &Value) -> Value {
    let mut out = schema.clone();
    if let Value::Object(map) = &mut out {
        map.entry("properties").or_insert_with(|| json!({}));
        map.entry("required").or_insert_with(|| json!([]));
    }
    out
}

fn without(schema: &Value, preset: &Map<String, Value>) -> Value {
    let mut out = schema.clone();
    if let Some(Value::Object(properties)) = out.get_mut("properties") {
        properties.retain(|name, _| !preset.contains_key(name));
    }
    if let Some(Value::Array(required)) = out.get_mut("required") {
        required.retain(|name| !name.as_str().is_some_and(|n| preset.contains_key(n)));
    }
    out
}
