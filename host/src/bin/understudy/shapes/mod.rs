//! The contract of `--json`: one JSON Schema for every object the commands print. Every key is required and no
//! other key is allowed; a command that could not do its work prints the same keys with `null`.

mod items;
mod records;
mod words;

use serde_json::{Map, Value, json};
use words::*;

/// A command's objects.
struct Shape {
    /// Command word.
    command: &'static str,
    /// Name of the definition.
    name: &'static str,
    /// Keys beside the envelope.
    keys: Keys,
}

fn shape(command: &'static str, keys: Keys) -> Shape {
    Shape { command, name: command, keys }
}

/// Every object, `list` once per kind.
fn shapes() -> Vec<Shape> {
    let mut all = vec![
        shape("new", keys([("created", list(text())), ("next", list(text()))])),
        shape("run", items::run_line()),
        shape("chat", items::chat_line()),
        shape("ask", items::ask()),
        shape("check", items::check()),
        shape("call", items::call()),
        shape("test", items::test()),
        shape("reload", keys([("record", opt(reference("ReloadRecord")))])),
        shape("generations", records::generations()),
        shape("status", records::status()),
        shape("diff", items::diff()),
        shape("doctor", items::doctor()),
        shape("schema", keys([("kinds", list(text()))])),
        shape("completions", keys([("script", text())])),
        Shape { command: "explain", name: "explain", keys: items::explain() },
        Shape { command: "explain", name: "explain-code", keys: items::code() },
    ];
    for (kind, name) in items::KINDS {
        all.push(Shape { command: "list", name, keys: items::list_of(kind) });
    }
    all
}

/// The envelope and the keys.
fn object(command: &str, keys: &Keys, ok: Value) -> Value {
    let mut properties = Map::new();
    properties.insert("schema".into(), json!({"const": format!("understudy.{command}/1")}));
    properties.insert("ok".into(), ok);
    properties.insert("diagnostics".into(), list(reference("Diagnostic")));
    properties.extend(keys.iter().map(|(k, v)| ((*k).to_string(), v.clone())));
    closed(properties)
}

/// The schema of all objects: `understudy schema cli`.
pub(crate) fn schema() -> Value {
    let mut definitions = records::definitions();
    let mut refusals: Vec<(String, Value)> = Vec::new();
    let mut any = Vec::new();
    for shape in shapes() {
        definitions.insert(shape.name.into(), object(shape.command, &shape.keys, json!({"type": "boolean"})));
        any.push(reference(shape.name));
        let nulls = shape.keys.iter().map(|(k, _)| (*k, json!({"type": "null"}))).collect();
        let name = format!("{}-refused", shape.command);
        let refused = object(shape.command, &nulls, json!({"const": false}));
        if !refusals.iter().any(|(n, _)| *n == name) && shape.command != "chat" {
            refusals.push((name, refused));
        }
    }
    refusals.push(("cli-refused".into(), object("cli", &Vec::new(), json!({"const": false}))));
    for (name, refused) in refusals {
        any.push(reference(&name));
        definitions.insert(name, refused);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Every object that a command prints with --json",
        "anyOf": any,
        "$defs": definitions,
    })
}

/// The keys of a command that did not get that far, each `null`.
pub(crate) fn nothing(command: &str) -> Value {
    let mut body = Value::Object(Map::new());
    complete(command, &mut body);
    body
}

/// Adds what is absent as `null`: nothing is omitted.
pub(crate) fn complete(command: &str, body: &mut Value) {
    let Value::Object(map) = body else { return };
    let code = map.contains_key("meaning");
    let shape = shapes().into_iter().find(|s| s.command == command && (s.name == "explain-code") == code);
    for (key, _) in shape.into_iter().flat_map(|s| s.keys) {
        map.entry(key).or_insert(Value::Null);
    }
}
