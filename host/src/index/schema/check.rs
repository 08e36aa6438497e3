//! The rules a schema must keep before it is compiled.

use super::sense::{is_circle, nonsense};
use super::{SchemaFault, draft_of};
use jsonschema::Draft;
use plugin_sdk::Severity;
use serde_json::{Map, Value};

/// Serialised bytes.
const MAX_BYTES: usize = 64 * 1024;
/// Levels of tables and lists.
const MAX_DEPTH: usize = 32;
/// Enum values every provider takes.
const MAX_ENUM: usize = 500;
/// Longest property name.
const MAX_NAME: usize = 64;
/// Faults of the meta-schema that are listed.
const MAX_META: usize = 20;

/// Keywords whose value is one schema.
const ONE: [&str; 14] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "extends",
    "disallow",
];
/// Keywords whose value is a list of schemas.
const MANY: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
/// Keywords whose value is a map of schemas.
const MAP: [&str; 6] = ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];
/// Keywords that some provider refuses; the wire form leaves them out.
const REFUSED: [&str; 12] = [
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "not",
    "patternProperties",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Every fault that can be seen without compiling.
pub(super) fn check(schema: &Value) -> Vec<SchemaFault> {
    let Value::Object(root) = schema else {
        return vec![error("schema::root", "", "a schema must be an object").help("start with `type = \"object\"`")];
    };
    let bytes = serde_json::to_vec(schema).map_or(0, |b| b.len());
    if bytes > MAX_BYTES {
        let message = format!("the schema has {bytes} bytes, at most {MAX_BYTES} are allowed");
        return vec![error("schema::too-big", "", message).help("move detail into the description of a free text")];
    }
    if depth(schema) > MAX_DEPTH {
        return vec![
            error("schema::too-big", "", format!("the schema is nested deeper than {MAX_DEPTH} levels"))
                .help("flatten it, or use a local `$ref`"),
        ];
    }
    let mut out = Vec::new();
    root_faults(root, &mut out);
    let mut walk = Walk { root: schema, out: &mut out };
    walk.schema(schema, "");
    meta_faults(schema, &mut out);
    out
}

fn root_faults(root: &Map<String, Value>, out: &mut Vec<SchemaFault>) {
    if root.get("type").and_then(Value::as_str) != Some("object") {
        out.push(error("schema::root", "/type", "the root of an input schema must have `type: object`"));
    }
    for key in ["oneOf", "anyOf", "allOf"].into_iter().filter(|k| root.contains_key(*k)) {
        let message = format!("`{key}` is not allowed at the root of an input schema");
        out.push(error("schema::root", format!("/{key}"), message).help("put the choice into a property"));
    }
}

/// What the draft's own meta-schema says; skipped when the draft is unknown.
fn meta_faults(schema: &Value, out: &mut Vec<SchemaFault>) {
    let Some(draft) = draft_of(schema) else {
        let message = format!("unknown `$schema` {}", schema.get("$schema").unwrap_or(&Value::Null));
        let help = "drafts 04, 06, 07, 2019-09 and 2020-12 are known; without `$schema` it is 2020-12";
        out.push(error("schema::draft", "/$schema", message).help(help));
        return;
    };
    let meta = match draft {
        Draft::Draft4 => jsonschema::draft4::meta::validator(),
        Draft::Draft6 => jsonschema::draft6::meta::validator(),
        Draft::Draft7 => jsonschema::draft7::meta::validator(),
        Draft::Draft201909 => jsonschema::draft201909::meta::validator(),
        _ => jsonschema::draft202012::meta::validator(),
    };
    for e in meta.iter_errors(schema).take(MAX_META) {
        let pointer = e.instance_path().to_string();
        // the root's own rules above say it better
        if !out.iter().any(|f| f.pointer == pointer) {
            out.push(error("tool::bad-value", pointer, format!("no valid schema: {}", short(&e.to_string()))));
        }
    }
}

struct Walk<'a> {
    root: &'a Value,
    out: &'a mut Vec<SchemaFault>,
}

impl Walk<'_> {
    fn schema(&mut self, value: &Value, at: &str) {
        let Value::Object(map) = value else { return };
        self.references(map, at);
        self.provider(map, at);
        nonsense(self.root, map, at, self.out);
        for (key, inner) in map {
            let here = format!("{at}/{}", escape(key));
            if key == "properties" {
                self.property_names(inner, &here);
            }
            match inner {
                Value::Object(_) if ONE.contains(&key.as_str()) => self.schema(inner, &here),
                Value::Object(inner) if MAP.contains(&key.as_str()) => {
                    inner.iter().for_each(|(k, v)| self.schema(v, &format!("{here}/{}", escape(k))));
                }
                Value::Array(list) if MANY.contains(&key.as_str()) => {
                    list.iter().enumerate().for_each(|(i, v)| self.schema(v, &format!("{here}/{i}")));
                }
                _ => {}
            }
        }
    }

    fn references(&mut self, map: &Map<String, Value>, at: &str) {
        for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(target) = map.get(key).and_then(Value::as_str) else { continue };
            let pointer = format!("{at}/{key}");
            let Some(fragment) = target.strip_prefix('#') else {
                let message = format!("`{target}` is outside the schema; nothing is ever fetched");
                self.out.push(error("schema::remote-ref", pointer, message).help("copy it into `$defs`"));
                continue;
            };
            let resolves = match fragment.is_empty() || fragment.starts_with('/') {
                true => self.root.pointer(&decode(fragment)).is_some_and(|v| v.is_object() || v.is_boolean()),
                false => has_anchor(self.root, fragment),
            };
            if !resolves {
                let message = format!("`{target}` points at nothing");
                self.out.push(error("schema::bad-ref", pointer, message).help("write `#/$defs/NAME` and define it"));
            } else if is_circle(self.root, target) {
                let message = format!("`{target}` only leads back to itself");
                self.out.push(error("schema::bad-ref", pointer, message).help("let one of them be a schema"));
            }
        }
    }

    fn property_names(&mut self, properties: &Value, at: &str) {
        let Value::Object(properties) = properties else { return };
        let legal = |n: &str| {
            !n.is_empty()
                && n.len() <= MAX_NAME
                && n.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
        };
        for name in properties.keys().filter(|n| !legal(n)) {
            let message = format!("property name `{}` is not allowed", short(name));
            let help = "1 to 64 characters of a–z, A–Z, 0–9, `_`, `.`, `-`";
            self.out.push(error("schema::property-name", format!("{at}/{}", escape(name)), message).help(help));
        }
    }

    fn provider(&mut self, map: &Map<String, Value>, at: &str) {
        let mut warn = |pointer: String, message: String| {
            let fault = SchemaFault { severity: Severity::Warning, ..error("schema::provider", pointer, message) };
            self.out.push(fault.help("the copy that is sent is adapted; the host validates with the original"));
        };
        let is_array = map.get("type").and_then(Value::as_str) == Some("array");
        // a root of the wrong type is an error already
        if is_array && !at.is_empty() && !map.contains_key("items") && !map.contains_key("prefixItems") {
            warn(format!("{at}/type"), "an array without `items` is refused by some providers".into());
        }
        if map.get("enum").and_then(Value::as_array).is_some_and(|e| e.len() > MAX_ENUM) {
            warn(format!("{at}/enum"), format!("an enum of more than {MAX_ENUM} values is refused by some providers"));
        }
        for key in REFUSED.into_iter().filter(|k| map.contains_key(*k)) {
            warn(format!("{at}/{key}"), format!("`{key}` is refused by some providers"));
        }
    }
}

fn has_anchor(value: &Value, anchor: &str) -> bool {
    match value {
        Value::Object(map) => {
            let own = ["$anchor", "$dynamicAnchor"].iter().any(|k| map.get(*k).and_then(Value::as_str) == Some(anchor))
                || ["$id", "id"]
                    .iter()
                    .any(|k| map.get(*k).and_then(Value::as_str).and_then(|i| i.strip_prefix('#')) == Some(anchor));
            own || map.values().any(|v| has_anchor(v, anchor))
        }
        Value::Array(list) => list.iter().any(|v| has_anchor(v, anchor)),
        _ => false,
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Percent-decodes a fragment; a broken escape stays as written.
pub(super) fn decode(fragment: &str) -> String {
    let bytes = fragment.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = fragment.get(i + 1..i + 3).and_then(|h| u8::from_str_radix(h, 16).ok());
        match hex {
            Some(b) if bytes[i] == b'%' => {
                out.push(b);
                i += 3;
            }
            _ => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// One part of a JSON pointer.
pub(in crate::index) fn escape(part: &str) -> String {
    part.replace('~', "~0").replace('/', "~1")
}

/// At most 200 characters.
pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

pub(super) fn error(code: &'static str, pointer: impl Into<String>, message: impl Into<String>) -> SchemaFault {
    SchemaFault { code, severity: Severity::Error, pointer: pointer.into(), message: message.into(), help: None }
}

impl SchemaFault {
    pub(super) fn help(mut self, help: &str) -> Self {
        self.help = Some(help.to_string());
        self
    }
}
