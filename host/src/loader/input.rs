//! `[input]`: the short form of an input schema.

use super::loading::Findings;
use crate::config::doc::{Doc, Key, Node, NodeKind};
use crate::config::nearest_help;
use plugin_sdk::Diagnostic;
use serde_json::{Map, Value, json};

/// Keywords of a property; others are typing mistakes, because a rule must not vanish by one.
const KEYWORDS: [&str; 50] = [
    "type",
    "description",
    "title",
    "default",
    "enum",
    "const",
    "examples",
    "required",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "items",
    "prefixItems",
    "contains",
    "minContains",
    "maxContains",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedItems",
    "unevaluatedProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "$ref",
    "$comment",
];

const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

/// The JSON Schema of `/input`; `None` after a finding.
pub(super) fn expand(doc: &Doc, findings: &mut Findings) -> Option<Value> {
    // Another type than a table is the structural check's finding.
    let Some(NodeKind::Table(entries)) = doc.find("/input").map(|(_, n)| &n.kind) else { return None };
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut whole = true;
    for (key, node) in entries {
        for unknown in unknown_keywords(node) {
            whole = false;
            let d = Diagnostic::error("tool::unknown-key", format!("unknown JSON Schema keyword `{}`", unknown.name));
            let help = match key.name.as_str() {
                "properties" => {
                    "`[input]` takes the properties themselves; a whole schema goes under `input_schema`".into()
                }
                _ => nearest_help(&unknown.name, KEYWORDS),
            };
            findings.add(doc.at(d.help(help), unknown.span));
        }
        match property(node) {
            Ok((schema, needed)) => {
                if needed {
                    required.push(Value::String(key.name.clone()));
                }
                properties.insert(key.name.clone(), schema);
            }
            Err(d) => {
                whole = false;
                findings.add(doc.at(*d, node.span));
            }
        }
    }
    whole.then(|| {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    })
}

/// Keys of a property that are no keyword; `x-` keys are anybody's.
fn unknown_keywords(node: &Node) -> Vec<Key> {
    let NodeKind::Table(entries) = &node.kind else { return Vec::new() };
    let known = |k: &&Key| !KEYWORDS.contains(&k.name.as_str()) && !k.name.starts_with("x-");
    entries.iter().map(|(k, _)| k).filter(known).cloned().collect()
}

/// Schema of one property, and whether it must be given.
fn property(node: &Node) -> Result<(Value, bool), Box<Diagnostic>> {
    match &node.kind {
        NodeKind::Str(name) => {
            named(name)?;
            Ok((json!({ "type": name }), true))
        }
        NodeKind::Table(_) => {
            let Value::Object(mut schema) = node.value() else { return Ok((Value::Bool(true), true)) };
            if let Some(name) = schema.get("type").and_then(Value::as_str) {
                named(name)?;
            }
            let needed = match schema.get("required") {
                Some(Value::Bool(needed)) => {
                    let needed = *needed;
                    schema.shift_remove("required");
                    needed
                }
                // A list is the keyword of an object's own schema.
                _ => !schema.contains_key("default"),
            };
            Ok((Value::Object(schema), needed))
        }
        _ => Err(Box::new(
            Diagnostic::error("tool::wrong-type", "a property of `[input]` is a type name or a table of JSON Schema keywords")
                .help("write `name = \"string\"`, or `name = { type = \"string\", … }`; a key of the tool itself stands above `[input]`"),
        )),
    }
}

fn named(name: &str) -> Result<(), Box<Diagnostic>> {
    if TYPES.contains(&name) {
        return Ok(());
    }
    let d = Diagnostic::error("tool::bad-value", format!("`{name}` is no type name"));
    Err(Box::new(d.help(nearest_help(name, TYPES))))
}
