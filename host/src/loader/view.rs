//! A plugin's configuration: the bot's values over the manifest's defaults over the schema's.

use super::loading::Findings;
use super::rules::in_bot;
use super::source::{PluginManifest, PluginSource};
use crate::config::doc::Doc;
use crate::config::{BotConfig, take_types};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use plugin_sdk::Diagnostic;
use serde_json::{Map, Value};

/// What a masked value is shown as.
const MASK: &str = "…";

/// One broken rule of a schema.
struct Violation {
    /// JSON pointer of the value, or of the unknown key.
    pointer: String,
    message: String,
    rule: String,
}

fn compile(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options().offline().build(schema)
}

/// All violations; messages never hold a value.
fn violations(validator: &Validator, value: &Value) -> Vec<Violation> {
    let mut out: Vec<Violation> = Vec::new();
    for error in validator.iter_errors(value) {
        let at = error.instance_path().as_str().to_string();
        let rule = error.kind().keyword().to_string();
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                out.extend(unexpected.iter().map(|key| Violation {
                    pointer: format!("{at}/{}", escape(key)),
                    message: format!("`{key}` is no known property"),
                    rule: rule.clone(),
                }));
            }
            _ => out.push(Violation { pointer: at, message: error.masked().to_string(), rule }),
        }
    }
    out.sort_by(|a, b| (&a.pointer, &a.rule).cmp(&(&b.pointer, &b.rule)));
    out
}

/// One part of a JSON pointer.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Whether a configuration schema can be used; its faults are findings of `doc` below `pointer`.
pub(super) fn check_schema(schema: &Value, doc: &Doc, pointer: &str, findings: &mut Findings) -> bool {
    let before = findings.list.len();
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        let d = Diagnostic::error("schema::root", "the root of a configuration schema has the type `object`")
            .help("add `type = \"object\"`");
        findings.add(doc.diag(d, &format!("{pointer}/type")));
    }
    for reference in remote_refs(schema, String::new()) {
        let d = Diagnostic::error("schema::remote-ref", "only references inside the schema are followed")
            .help("write `#/$defs/NAME`");
        findings.add(doc.diag(d, &format!("{pointer}{reference}")));
    }
    if findings.list.len() == before
        && let Err(e) = compile(schema)
    {
        let code = match e.kind() {
            ValidationErrorKind::Referencing(_) => "schema::bad-ref",
            _ => "plugin::bad-value",
        };
        let d = Diagnostic::error(code, format!("the schema cannot be used: {}", e.masked()));
        findings.add(doc.diag(d, &format!("{pointer}{}", e.instance_path().as_str())));
    }
    findings.list.len() == before
}

/// Pointers of references that leave the schema.
fn remote_refs(schema: &Value, at: String) -> Vec<String> {
    match schema {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| {
                let here = format!("{at}/{}", escape(key));
                match value.as_str() {
                    Some(text) if matches!(key.as_str(), "$ref" | "$dynamicRef") && !text.starts_with('#') => {
                        vec![here]
                    }
                    _ => remote_refs(value, here),
                }
            })
            .collect(),
        Value::Array(list) => list.iter().enumerate().flat_map(|(n, v)| remote_refs(v, format!("{at}/{n}"))).collect(),
        _ => Vec::new(),
    }
}

/// Defaults of the manifest against its schema. What they leave out an admin may still give.
pub(super) fn check_defaults(manifest: &PluginManifest, doc: &Doc, findings: &mut Findings) {
    let defaults = Value::Object(manifest.config_defaults.clone());
    let Some(schema) = &manifest.config_schema else {
        if !manifest.config_defaults.is_empty() && doc.find("/config/schema").is_none() {
            let d = Diagnostic::error("plugin::bad-value", "defaults need a `schema` that allows them")
                .help("add `[config.schema]`");
            findings.add(doc.diag_key(d, "/config/defaults"));
        }
        return;
    };
    let Ok(validator) = compile(schema) else { return };
    for v in violations(&validator, &defaults).into_iter().filter(|v| v.rule != "required") {
        let message = format!("the default breaks the schema ({}): {}", v.rule, v.message);
        findings
            .add(doc.diag(Diagnostic::error("plugin::bad-value", message), &format!("/config/defaults{}", v.pointer)));
    }
}

/// The configuration a plugin sees, and what is wrong with it in `bot.toml`.
pub fn resolve_config(
    plugin: &PluginSource,
    bot: &BotConfig,
    bot_doc: Option<&Doc>,
) -> (Map<String, Value>, Vec<Diagnostic>) {
    let owner = plugin.owner.as_str();
    let given = bot.plugins.config.get(owner);
    let base = format!("/plugins/config/{}", escape(owner));
    let Some(schema) = &plugin.manifest.config_schema else {
        let mut found = Vec::new();
        // A schema that cannot be used has its own finding.
        if given.is_some_and(|g| !g.is_empty()) && !plugin.has_errors() {
            let d = Diagnostic::error("config::invalid", format!("the plugin `{owner}` takes no configuration"))
                .owner(owner)
                .help("remove the table, or give the plugin a `[config.schema]`");
            found.push(masked(in_bot(bot_doc, d, &base), true));
        }
        return (Map::new(), found);
    };
    let mut values = plugin.manifest.config_defaults.clone();
    let mut given = given.cloned().unwrap_or_default();
    // A text that was one `${…}` in the file is judged as the type that the schema names.
    if let Some((_, written)) = bot_doc.and_then(|d| d.find(&base)) {
        take_types(&mut given, written, schema);
    }
    let defaults = Value::Object(values.clone());
    let written = Value::Object(given.clone());
    merge(&mut values, given);
    fill_defaults(&mut values, schema);
    let Ok(validator) = compile(schema) else { return (values, Vec::new()) };
    let secret = has_secret(schema);
    let whole = Value::Object(values);
    // What the defaults break is a finding of the manifest, unless the value is the admin's own.
    let of_defaults = violations(&validator, &defaults);
    let is_default = |v: &Violation| {
        written.pointer(&v.pointer).is_none()
            && v.rule != "required"
            && of_defaults.iter().any(|d| d.pointer == v.pointer && d.rule == v.rule)
    };
    let found = violations(&validator, &whole).into_iter().filter(|v| !is_default(v)).map(|v| {
        let path = v.pointer.trim_start_matches('/').replace('/', ".");
        let at = if path.is_empty() { String::new() } else { format!("`{path}`: ") };
        let message = format!("{at}{} (rule `{}` of the plugin's schema)", v.message, v.rule);
        let d = Diagnostic::error("config::invalid", message)
            .owner(owner)
            .help(format!("correct `[plugins.config.\"{owner}\"]`; every other setting stays as it is"));
        let pointer = format!("{base}{}", v.pointer);
        let d = match bot_doc {
            Some(doc) if v.rule == "additionalProperties" => doc.diag_key(d, &pointer),
            _ => in_bot(bot_doc, d, &pointer),
        };
        masked(d, secret)
    });
    let found: Vec<Diagnostic> = found.collect();
    let values = match whole {
        Value::Object(values) => values,
        _ => Map::new(),
    };
    (values, found)
}

/// Keeps the key of a shown line and hides what follows, if the line may hold a secret.
fn masked(mut d: Diagnostic, secret: bool) -> Diagnostic {
    if secret && let Some(line) = &d.source_line {
        let key = line.split('=').next().unwrap_or("");
        d.source_line = Some(if key.len() == line.len() { line.clone() } else { format!("{key}= {MASK}") });
    }
    d
}

/// Tables merge, everything else is replaced.
fn merge(under: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Object(a)), Value::Object(b)) => merge(a, b),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

/// Defaults of the schema for properties without a value.
fn fill_defaults(values: &mut Map<String, Value>, schema: &Value) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (key, rule) in properties {
        if !values.contains_key(key)
            && let Some(default) = rule.get("default")
        {
            values.insert(key.clone(), default.clone());
        }
        if let Some(Value::Object(inner)) = values.get_mut(key) {
            fill_defaults(inner, rule);
        }
    }
}

fn is_secret(schema: &Value) -> bool {
    schema.get("x-secret").and_then(Value::as_bool) == Some(true)
}

fn has_secret(schema: &Value) -> bool {
    is_secret(schema)
        || match schema {
            Value::Object(map) => map.values().any(has_secret),
            Value::Array(list) => list.iter().any(has_secret),
            _ => false,
        }
}

/// A configuration for showing: every property marked `"x-secret": true` is masked.
pub fn mask_config(values: &Map<String, Value>, schema: Option<&Value>) -> Map<String, Value> {
    let properties = schema.and_then(|s| s.get("properties")).and_then(Value::as_object);
    let mut out = Map::new();
    for (key, value) in values {
        let rule = properties.and_then(|p| p.get(key));
        let shown = match (rule, value) {
            (Some(rule), _) if is_secret(rule) => Value::String(MASK.into()),
            (Some(rule), Value::Object(inner)) => Value::Object(mask_config(inner, Some(rule))),
            (Some(rule), Value::Array(list)) if rule.get("items").is_some_and(has_secret) => {
                Value::Array(list.iter().map(|_| Value::String(MASK.into())).collect())
            }
            (_, value) => value.clone(),
        };
        out.insert(key.clone(), shown);
    }
    out
}
