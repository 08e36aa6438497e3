//! Checks of one tool that need no other tool.

use super::InputSchema;
use super::schema::check::escape;
use super::schema::preset::{preset_faults, value_faults};
use super::tool::Contribution;
use crate::admission::{Platforms, Rules, check_rules};
use crate::config::nearest_help;
use plugin_sdk::{Diagnostic, Severity};
use serde_json::{Map, Value};

/// The compiled schema unless it is faulty, and everything that is wrong.
pub(super) fn check_tool(tool: &Contribution, platforms: &Platforms) -> (Option<InputSchema>, Vec<Diagnostic>) {
    let mut out = Vec::new();
    for (pointer, d) in check_rules(&Rules::of(&tool.def), platforms) {
        out.push(tool.diag(d, &pointer));
    }
    let options = &tool.def.options;
    let (schema, faults) = InputSchema::compile(
        &tool.def.input_schema,
        &tool.def.preset,
        options.capabilities.as_deref(),
        options.requires_approval,
    );
    for fault in faults {
        // a schema in a file of its own has no document here: the sentence says where in it
        let message = match (tool.schema_pointer.as_str(), &tool.place) {
            ("", Some(_)) => format!("{} (at `{}` of the schema file)", fault.message, fault.pointer),
            _ => fault.message,
        };
        let d = match fault.severity {
            Severity::Error => Diagnostic::error(fault.code, message),
            _ => Diagnostic::warning(fault.code, message),
        };
        let d = fault.help.into_iter().fold(d, |d, h| d.help(h));
        let pointer = tool.schema_place(&fault.pointer);
        out.push(if fault.code == "schema::property-name" {
            tool.diag_key(d, &pointer)
        } else {
            tool.diag(d, &pointer)
        });
    }
    if let Some(schema) = &schema {
        presets(tool, schema, &mut out);
        examples(tool, schema, &mut out);
        command(tool, schema, &mut out);
    }
    (schema, out)
}

fn properties(schema: &Value) -> Map<String, Value> {
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

fn presets(tool: &Contribution, schema: &InputSchema, out: &mut Vec<Diagnostic>) {
    let known = properties(&schema.original);
    let mut judged = Map::new();
    for (key, value) in &tool.def.preset {
        if known.contains_key(key) {
            judged.insert(key.clone(), value.clone());
            continue;
        }
        let d = Diagnostic::error("tool::preset-unknown", format!("preset `{key}` is no property of the input"))
            .help(nearest_help(key, known.keys().map(String::as_str)));
        out.push(tool.diag_key(d, &format!("/preset/{}", escape(key))));
    }
    for v in preset_faults(&schema.original, &judged) {
        let message = format!("preset `{}` does not fit its property: {}", v.path.trim_start_matches('/'), v.message);
        let d = Diagnostic::error("tool::preset-invalid", message);
        out.push(tool.diag(d, &format!("/preset{}", v.path)));
    }
}

fn examples(tool: &Contribution, schema: &InputSchema, out: &mut Vec<Diagnostic>) {
    for (i, example) in tool.def.options.examples.iter().enumerate() {
        let input = Value::Object(example.input.clone());
        let violations = match tool.def.preset.is_empty() {
            true => schema.validate(&input),
            false => value_faults(&schema.visible, &input),
        };
        let bound = example.input.keys().filter(|k| tool.def.preset.contains_key(*k));
        let bound = bound.map(|k| (format!("/{}", escape(k)), "is set by the host".to_string()));
        let all = violations.into_iter().map(|v| (v.path, v.message)).chain(bound);
        for (path, message) in all {
            let name = path.trim_start_matches('/');
            let what = if name.is_empty() { message } else { format!("`{name}` {message}") };
            let d = Diagnostic::error("tool::bad-example", format!("example {}: {what}", i + 1));
            out.push(tool.diag(d, &format!("/examples/{i}/input{path}")));
        }
    }
}

/// A chat command can fill one string property; everything else must be optional or preset.
fn command(tool: &Contribution, schema: &InputSchema, out: &mut Vec<Diagnostic>) {
    let Some(command) = &tool.def.options.command else { return };
    let known = properties(&schema.visible);
    let code = "tool::command-arguments";
    if let Some(argument) = &command.argument {
        match known.get(argument) {
            None => {
                let d = Diagnostic::error(code, format!("`{argument}` is no property of the input"))
                    .help(nearest_help(argument, known.keys().map(String::as_str)));
                out.push(tool.diag(d, "/command/argument"));
            }
            Some(p) if !takes_text(p) => {
                let d = Diagnostic::error(code, format!("`{argument}` takes no text, so no rest of a line"));
                out.push(tool.diag(d.help("name a property of type `string`"), "/command/argument"));
            }
            Some(_) => {}
        }
    }
    let required = schema.visible.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str).filter(|n| command.argument.as_deref() != Some(n)) {
        let d = Diagnostic::error(code, format!("a chat command cannot fill the required property `{name}`"))
            .help(format!("name it in `command.argument`, preset it, or give it a default: `{name}`"));
        out.push(tool.diag_key(d, "/command"));
    }
}

fn takes_text(property: &Value) -> bool {
    match property.get("type") {
        None => true,
        Some(Value::String(t)) => t == "string",
        Some(Value::Array(list)) => list.iter().any(|t| t == "string"),
        Some(_) => false,
    }
}
