//! Answers without a script: search, load, call, then say what came back. Enough for a benchmark and for a
//! first look; it understands nothing.

use crate::script::Turn;
use crate::wire::{Called, Seen};
use serde_json::{Map, Value, json};

/// Tools of the host's own controller, never called for their own sake.
const META: [&str; 6] = ["ask_user", "discover", "load_tool", "load_skill", "tool_search", "spawn_task"];

/// The answer to a request.
pub(crate) fn auto(seen: &Seen) -> Turn {
    match &seen.answered {
        None => first(seen),
        Some(called) => after(seen, called),
    }
}

fn first(seen: &Seen) -> Turn {
    let said = seen.said.trim();
    if ready(seen, "discover") {
        return Turn::call("discover", json!({"query": said, "kind": "tool"}));
    }
    if ready(seen, "tool_search") {
        return Turn::call("tool_search", json!({"queries": [said]}));
    }
    match names(seen).find(|n| !META.contains(n)) {
        Some(name) => Turn::call(name, arguments(seen, name)),
        None => Turn::text(format!("You said: {said}")),
    }
}

fn after(seen: &Seen, called: &Called) -> Turn {
    let none = || Turn::text("There is no tool for that.");
    match called.name.as_str() {
        "discover" => match first_item(&called.result) {
            Some(found) if ready(seen, &found) => Turn::call(&found, arguments(seen, &found)),
            Some(found) if ready(seen, "load_tool") => Turn::call("load_tool", json!({"name": found})),
            _ => none(),
        },
        "load_tool" | "tool_search" => match loaded(seen, called) {
            Some(tool) => Turn::call(&tool, arguments(seen, &tool)),
            None => none(),
        },
        _ => Turn::text(&called.result),
    }
}

/// The tool a load has made callable: what was asked for, else the newest one.
fn loaded(seen: &Seen, called: &Called) -> Option<String> {
    let asked = called.arguments.get("name").and_then(Value::as_str);
    let found = serde_json::from_str::<Value>(&called.result).ok();
    let found = found.as_ref().and_then(|r| r.pointer("/tools/0/name")).and_then(Value::as_str);
    let named = asked.or(found).filter(|name| ready(seen, name));
    let newest = || names(seen).filter(|n| !META.contains(n)).last();
    named.or_else(newest).map(str::to_owned)
}

fn names(seen: &Seen) -> impl Iterator<Item = &str> {
    seen.tools.iter().filter(|t| t.ready).map(|t| t.name.as_str())
}

fn ready(seen: &Seen, name: &str) -> bool {
    names(seen).any(|n| n == name)
}

/// Something that fits each required property: the person's last word, a number, the first value.
fn arguments(seen: &Seen, name: &str) -> Value {
    let schema = seen.tools.iter().find(|t| t.name == name).map_or(&Value::Null, |t| &t.schema);
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let filled = required.filter_map(Value::as_str).map(|key| {
        let property = schema.pointer("/properties").and_then(|p| p.get(key)).unwrap_or(&Value::Null);
        (key.to_owned(), value(seen, property))
    });
    Value::Object(filled.collect::<Map<_, _>>())
}

fn value(seen: &Seen, property: &Value) -> Value {
    if let Some(first) = property.pointer("/enum/0") {
        return first.clone();
    }
    match property.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => property.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!(seen.said.split_whitespace().last().unwrap_or("x")),
    }
}

/// The name in the first line `- [tool] NAME: …`.
fn first_item(result: &str) -> Option<String> {
    let line = result.lines().find_map(|l| l.trim().strip_prefix("- [tool] "))?;
    Some(line.split([':', ' ']).next()?.to_owned())
}
