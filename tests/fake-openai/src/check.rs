//! What real servers refuse. Each rule is a 400 that names the part of the request.

use fake_model::Refusal;
use serde_json::{Map, Value};
use std::collections::HashSet;

const MAX_TOOLS: usize = 128;
const MAX_DESCRIPTION: usize = 1024;
const MAX_NAME: usize = 64;
const MAX_ID: usize = 40;
const KNOWN: [&str; 24] = [
    "model",
    "messages",
    "tools",
    "tool_choice",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "n",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "seed",
    "user",
    "response_format",
    "parallel_tool_calls",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "metadata",
    "store",
    "reasoning_effort",
];
const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

fn at(param: impl Into<String>, message: impl Into<String>) -> Refusal {
    let param = param.into();
    let message = format!("Invalid '{param}': {}", message.into());
    Refusal { status: 400, message, param: Some(param), code: None }
}

type Check = Result<(), Refusal>;

/// Checks a whole request.
pub(crate) fn check(body: &Value, models: &[String]) -> Check {
    let Some(map) = body.as_object() else { return Err(at("body", "must be a JSON object")) };
    if let Some(key) = map.keys().find(|k| !KNOWN.contains(&k.as_str())) {
        return Err(at(key, "unrecognized request argument"));
    }
    model(map, models)?;
    numbers(map)?;
    if let Some(list) = map.get("tools") {
        tools(list)?;
    } else if map.contains_key("tool_choice") {
        return Err(at("tool_choice", "only allowed together with 'tools'"));
    }
    messages(map.get("messages"))
}

fn model(map: &Map<String, Value>, models: &[String]) -> Check {
    let Some(model) = map.get("model").and_then(Value::as_str).filter(|m| !m.is_empty()) else {
        return Err(at("model", "you must provide a model"));
    };
    if models.is_empty() || models.iter().any(|m| m == model) {
        return Ok(());
    }
    let message = format!("The model '{model}' does not exist");
    Err(Refusal { status: 404, message, param: None, code: Some("model_not_found".into()) })
}

fn numbers(map: &Map<String, Value>) -> Check {
    if map.contains_key("max_tokens") && map.contains_key("max_completion_tokens") {
        return Err(at("max_tokens", "cannot stand beside 'max_completion_tokens'"));
    }
    for key in ["max_tokens", "max_completion_tokens"] {
        if map.get(key).is_some_and(|v| v.as_u64().is_none_or(|n| n == 0)) {
            return Err(at(key, "must be an integer of at least 1"));
        }
    }
    if map.get("temperature").is_some_and(|v| v.as_f64().is_none_or(|t| !(0.0..=2.0).contains(&t))) {
        return Err(at("temperature", "must be between 0 and 2"));
    }
    let streams = map.get("stream").and_then(Value::as_bool).unwrap_or(false);
    if map.contains_key("stream_options") && !streams {
        return Err(at("stream_options", "only allowed when 'stream' is true"));
    }
    Ok(())
}

fn tools(list: &Value) -> Check {
    let Some(list) = list.as_array() else { return Err(at("tools", "must be an array")) };
    if list.is_empty() {
        return Err(at("tools", "empty array, expected at least 1 item"));
    }
    if list.len() > MAX_TOOLS {
        let message = format!("array too long, expected at most {MAX_TOOLS} items but got {}", list.len());
        return Err(at("tools", message));
    }
    let mut names = HashSet::new();
    for (i, tool) in list.iter().enumerate() {
        if tool.get("type").and_then(Value::as_str) != Some("function") {
            return Err(at(format!("tools[{i}].type"), "must be 'function'"));
        }
        let function = tool.get("function").unwrap_or(&Value::Null);
        name(&format!("tools[{i}].function.name"), function.get("name"))?;
        let own = function.get("name").and_then(Value::as_str).unwrap_or_default();
        if !names.insert(own) {
            return Err(at(format!("tools[{i}].function.name"), "names must be unique"));
        }
        let long = |d: &Value| d.as_str().is_none_or(|d| d.chars().count() > MAX_DESCRIPTION);
        if function.get("description").is_some_and(long) {
            let message = format!("must be a string of at most {MAX_DESCRIPTION} characters");
            return Err(at(format!("tools[{i}].function.description"), message));
        }
        if let Some(schema) = function.get("parameters") {
            parameters(own, i, schema)?;
        }
    }
    Ok(())
}

fn parameters(name: &str, i: usize, schema: &Value) -> Check {
    let bad = |what: &str| Refusal {
        status: 400,
        message: format!("Invalid schema for function '{name}': {what}"),
        param: Some(format!("tools[{i}].function.parameters")),
        code: Some("invalid_function_parameters".into()),
    };
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(bad("the root must have type 'object'"));
    }
    if !schema.get("properties").is_none_or(Value::is_object) {
        return Err(bad("'properties' must be an object"));
    }
    let root = schema;
    walk(schema, &mut |node| {
        if let Some(target) = node.get("$ref").and_then(Value::as_str)
            && target.strip_prefix('#').and_then(|p| root.pointer(p)).is_none()
        {
            return Err(bad("a reference cannot be resolved"));
        }
        if node.get("type").and_then(Value::as_str) == Some("array") && node.get("items").is_none() {
            return Err(bad("array schema missing items"));
        }
        if let Some(text) = node.get("description").and_then(Value::as_str)
            && text.chars().count() > MAX_DESCRIPTION
        {
            return Err(bad("a description is too long"));
        }
        Ok(())
    })
}

/// Visits the schemas inside a schema; names of properties are not keywords.
fn walk(node: &Value, visit: &mut dyn FnMut(&Value) -> Check) -> Check {
    visit(node)?;
    let Some(map) = node.as_object() else { return Ok(()) };
    for (key, value) in map {
        match (key.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(table)) => {
                table.values().try_for_each(|v| walk(v, visit))?;
            }
            ("items" | "additionalProperties" | "not" | "if" | "then" | "else", v) => walk(v, visit)?,
            ("anyOf" | "allOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
                list.iter().try_for_each(|v| walk(v, visit))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn name(param: &str, value: Option<&Value>) -> Check {
    let Some(text) = value.and_then(Value::as_str) else { return Err(at(param, "must be a string")) };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if text.is_empty() || text.len() > MAX_NAME || !text.chars().all(plain) {
        let message = format!("expected a name of 1 to {MAX_NAME} letters, digits, '_' and '-', got '{text}'");
        return Err(at(param, message));
    }
    Ok(())
}

fn messages(list: Option<&Value>) -> Check {
    let Some(list) = list.and_then(Value::as_array).filter(|l| !l.is_empty()) else {
        return Err(at("messages", "must be an array of at least 1 message"));
    };
    let mut open: Vec<String> = Vec::new();
    for (i, message) in list.iter().enumerate() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        if !ROLES.contains(&role) {
            return Err(at(format!("messages[{i}].role"), format!("'{role}' is none of {ROLES:?}")));
        }
        if role == "tool" {
            answer(i, message, &mut open)?;
            continue;
        }
        if !open.is_empty() {
            let message = format!("calls without a result before this message: {}", open.join(", "));
            return Err(at(format!("messages[{i}]"), message));
        }
        if role == "assistant" && message.get("tool_calls").is_some() {
            open = calls(i, message)?;
        } else {
            content(i, message)?;
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    Err(at("messages", format!("calls without a result: {}", open.join(", "))))
}

fn answer(i: usize, message: &Value, open: &mut Vec<String>) -> Check {
    content(i, message)?;
    let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
    let Some(at) = open.iter().position(|o| o == id) else {
        let param = format!("messages[{i}].tool_call_id");
        return Err(at(param, format!("'{id}' answers no call of the message before")));
    };
    open.remove(at);
    Ok(())
}

fn calls(i: usize, message: &Value) -> Result<Vec<String>, Refusal> {
    let place = |rest: &str| format!("messages[{i}].tool_calls{rest}");
    let list = message.get("tool_calls").and_then(Value::as_array).filter(|l| !l.is_empty());
    let Some(list) = list else { return Err(at(place(""), "must be an array of at least 1 call")) };
    match message.get("content") {
        None | Some(Value::Null) => {}
        Some(_) => content(i, message)?,
    }
    let mut ids = Vec::new();
    for (n, call) in list.iter().enumerate() {
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        if id.is_empty() || id.len() > MAX_ID || ids.iter().any(|other| other == id) {
            let message = format!("must be a text of 1 to {MAX_ID} characters, once in its message");
            return Err(at(place(&format!("[{n}].id")), message));
        }
        if call.get("type").and_then(Value::as_str) != Some("function") {
            return Err(at(place(&format!("[{n}].type")), "must be 'function'"));
        }
        name(&place(&format!("[{n}].function.name")), call.pointer("/function/name"))?;
        let arguments = call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
        if !matches!(serde_json::from_str(arguments), Ok(Value::Object(_))) {
            let param = place(&format!("[{n}].function.arguments"));
            return Err(at(param, "must be the text of one JSON object"));
        }
        ids.push(id.to_owned());
    }
    Ok(ids)
}

/// A text that says something, or a list of parts of which each does.
fn content(i: usize, message: &Value) -> Check {
    let says = |v: Option<&Value>| v.and_then(Value::as_str).is_some_and(|t| !t.trim().is_empty());
    let part = |p: &Value| match p.get("type").and_then(Value::as_str) {
        Some("text") => says(p.get("text")),
        Some("image_url") => says(p.pointer("/image_url/url")),
        _ => false,
    };
    let good = match message.get("content") {
        Some(Value::Array(parts)) => !parts.is_empty() && parts.iter().all(part),
        other => says(other),
    };
    if good { Ok(()) } else { Err(at(format!("messages[{i}].content"), "must not be blank")) }
}
