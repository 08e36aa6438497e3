//! Answers without a script: search, load, call, then say what came back. Enough for a benchmark and for a
//! first look; it understands nothing.

use crate::script::{Call, Turn};
use serde_json::{Map, Value, json};

/// Tools of the host's own controller, never called for their own sake.
const META: [&str; 6] = ["ask_user", "discover", "load_tool", "load_skill", "tool_search", "spawn_task"];

/// The answer to a request.
pub(crate) fn auto(body: &Value) -> Turn {
    let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let user = messages.iter().rposition(|m| role(m) == "user");
    let said = user.and_then(|i| messages.get(i)).map(text_of).unwrap_or_default();
    let request = Request { body, said: said.trim() };
    match messages.last().filter(|m| role(m) == "tool") {
        None => request.first(),
        Some(result) => {
            let call = messages.iter().rev().find_map(|m| m.get("tool_calls")?.as_array()?.last().cloned());
            request.after(call.as_ref().unwrap_or(&Value::Null), &text_of(result))
        }
    }
}

struct Request<'a> {
    body: &'a Value,
    said: &'a str,
}

impl Request<'_> {
    fn first(&self) -> Turn {
        if self.has("discover") {
            return self.call("discover", json!({"query": self.said, "kind": "tool"}));
        }
        if self.has("tool_search") {
            return self.call("tool_search", json!({"queries": [self.said]}));
        }
        match self.names().find(|n| !META.contains(n)) {
            Some(name) => self.call(name, self.arguments(name)),
            None => Turn::text(format!("You said: {}", self.said)),
        }
    }

    fn after(&self, call: &Value, result: &str) -> Turn {
        let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
        match name {
            "discover" => match first_item(result) {
                Some(found) if self.has(&found) => self.call(&found, self.arguments(&found)),
                Some(found) if self.has("load_tool") => self.call("load_tool", json!({"name": found})),
                _ => Turn::text("There is no tool for that."),
            },
            "load_tool" | "tool_search" => match self.loaded(call, result) {
                Some(tool) => self.call(&tool, self.arguments(&tool)),
                None => Turn::text("There is no tool for that."),
            },
            _ => Turn::text(result),
        }
    }

    /// The tool a load has made callable: what was asked for, else the newest one.
    fn loaded(&self, call: &Value, result: &str) -> Option<String> {
        let arguments = call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
        let asked = serde_json::from_str::<Value>(arguments).ok();
        let asked = asked.as_ref().and_then(|a| a.get("name")).and_then(Value::as_str);
        let found = serde_json::from_str::<Value>(result).ok();
        let found = found.as_ref().and_then(|r| r.pointer("/tools/0/name")).and_then(Value::as_str);
        let named = asked.or(found).filter(|name| self.has(name));
        let newest = || self.names().filter(|n| !META.contains(n)).last();
        named.or_else(newest).map(str::to_owned)
    }

    fn call(&self, name: &str, arguments: Value) -> Turn {
        Turn::calls([Call::new(name, arguments)])
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let tools = self.body.get("tools").and_then(Value::as_array).into_iter().flatten();
        tools.filter_map(|t| t.pointer("/function/name")?.as_str())
    }

    fn has(&self, name: &str) -> bool {
        self.names().any(|n| n == name)
    }

    /// Something that fits each required property: the person's last word, a number, the first value.
    fn arguments(&self, name: &str) -> Value {
        let tools = self.body.get("tools").and_then(Value::as_array).into_iter().flatten();
        let mut named = tools.filter(|t| t.pointer("/function/name").and_then(Value::as_str) == Some(name));
        let schema = named.next().and_then(|t| t.pointer("/function/parameters")).unwrap_or(&Value::Null);
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let filled = required.filter_map(Value::as_str).map(|key| {
            let property = schema.pointer("/properties").and_then(|p| p.get(key)).unwrap_or(&Value::Null);
            (key.to_owned(), self.value(property))
        });
        Value::Object(filled.collect::<Map<_, _>>())
    }

    fn value(&self, property: &Value) -> Value {
        if let Some(first) = property.pointer("/enum/0") {
            return first.clone();
        }
        match property.get("type").and_then(Value::as_str) {
            Some("integer" | "number") => property.get("minimum").cloned().unwrap_or_else(|| json!(1)),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!(self.said.split_whitespace().last().unwrap_or("x")),
        }
    }
}

/// The name in the first line `- [tool] NAME: …`.
fn first_item(result: &str) -> Option<String> {
    let line = result.lines().find_map(|l| l.trim().strip_prefix("- [tool] "))?;
    Some(line.split([':', ' ']).next()?.to_owned())
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn text_of(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|p| p.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}
