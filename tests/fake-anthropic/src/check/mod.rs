//! What the real server refuses. Each rule is a 400 that begins with the path of the part.

mod content;
mod messages;
mod tools;

use fake_model::{Asked, Refusal};
use serde_json::{Map, Value};

/// The beta that knows deferred tools and references to them.
pub const BETA: &str = "advanced-tool-use-2025-11-20";
const VERSION: &str = "2023-06-01";
const MAX_CACHED: usize = 4;
const MIN_BUDGET: u64 = 1024;
const BETAS: [&str; 6] = [
    BETA,
    "token-efficient-tools-2025-02-19",
    "fine-grained-tool-streaming-2025-05-14",
    "interleaved-thinking-2025-05-14",
    "context-management-2025-06-27",
    "output-128k-2025-02-19",
];
const KNOWN: [&str; 15] = [
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "metadata",
    "thinking",
    "service_tier",
    "container",
];

type Check = Result<(), Refusal>;

fn at(path: impl Into<String>, message: impl AsRef<str>) -> Refusal {
    let path = path.into();
    Refusal { status: 400, message: format!("{path}: {}", message.as_ref()), param: Some(path), code: None }
}

fn plain(message: impl Into<String>) -> Refusal {
    Refusal { status: 400, message: message.into(), param: None, code: None }
}

/// Refuses every key that is none of these.
fn only(path: &str, map: &Map<String, Value>, known: &[&str]) -> Check {
    match map.keys().find(|k| !known.contains(&k.as_str())) {
        None => Ok(()),
        Some(key) => Err(at(join(path, key), "Extra inputs are not permitted")),
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A name in the letters the format allows.
fn named(text: &str, longest: usize) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !text.is_empty() && text.len() <= longest && text.chars().all(allowed)
}

/// Checks a whole request.
pub(crate) fn check(asked: &Asked<'_>) -> Check {
    let Some(map) = asked.body.as_object() else { return Err(plain("The request body is not valid JSON")) };
    let betas = headers(asked)?;
    only("", map, &KNOWN)?;
    model(map, asked.models)?;
    numbers(map)?;
    system(map.get("system"))?;
    let deferral = betas.iter().any(|b| b == BETA);
    let offered = tools::check(map, deferral)?;
    messages::check(map.get("messages"), deferral.then_some(&offered))?;
    cached(asked.body)
}

fn headers(asked: &Asked<'_>) -> Result<Vec<String>, Refusal> {
    match asked.headers.get("anthropic-version").map(|v| v.to_str()) {
        Some(Ok(VERSION)) => {}
        Some(Ok(other)) => return Err(plain(format!("anthropic-version: \"{other}\" is not a valid version"))),
        _ => return Err(at("anthropic-version", "header is required")),
    }
    let values = asked.headers.get_all("anthropic-beta").iter();
    let text = values.filter_map(|v| v.to_str().ok()).collect::<Vec<_>>().join(",");
    let betas: Vec<String> = text.split(',').map(str::trim).filter(|b| !b.is_empty()).map(str::to_owned).collect();
    match betas.iter().find(|b| !BETAS.contains(&b.as_str())) {
        Some(beta) => Err(plain(format!("Unexpected value(s) `{beta}` for the `anthropic-beta` header"))),
        None => Ok(betas),
    }
}

fn model(map: &Map<String, Value>, models: &[String]) -> Check {
    let Some(model) = map.get("model").and_then(Value::as_str).filter(|m| !m.is_empty()) else {
        return Err(at("model", "Field required"));
    };
    if models.is_empty() || models.iter().any(|m| m == model) {
        return Ok(());
    }
    Err(Refusal { status: 404, message: format!("model: {model}"), param: None, code: None })
}

fn numbers(map: &Map<String, Value>) -> Check {
    let Some(max) = map.get("max_tokens") else { return Err(at("max_tokens", "Field required")) };
    let Some(max) = max.as_u64().filter(|n| *n >= 1) else {
        return Err(at("max_tokens", "Input should be a whole number of at least 1"));
    };
    let thinks = thinking(map.get("thinking"), max)?;
    if let Some(temperature) = map.get("temperature") {
        let good = temperature.as_f64().is_some_and(|t| (0.0..=1.0).contains(&t) && (!thinks || t == 1.0));
        if !good {
            return Err(at("temperature", "range: 0..1, and 1 while thinking is enabled"));
        }
    }
    if map.get("top_p").is_some_and(|v| v.as_f64().is_none_or(|p| !(0.0..=1.0).contains(&p))) {
        return Err(at("top_p", "range: 0..1"));
    }
    if map.get("stop_sequences").is_some_and(|v| !v.as_array().is_some_and(|l| l.iter().all(Value::is_string))) {
        return Err(at("stop_sequences", "Input should be a list of texts"));
    }
    Ok(())
}

fn thinking(value: Option<&Value>, max: u64) -> Result<bool, Refusal> {
    let Some(value) = value else { return Ok(false) };
    match value.get("type").and_then(Value::as_str) {
        Some("disabled") => Ok(false),
        Some("adaptive") => Ok(true),
        Some("enabled") => match value.get("budget_tokens").and_then(Value::as_u64) {
            Some(budget) if (MIN_BUDGET..max).contains(&budget) => Ok(true),
            Some(_) => Err(at("thinking.enabled.budget_tokens", "must be at least 1024 and less than `max_tokens`")),
            None => Err(at("thinking.enabled.budget_tokens", "Field required")),
        },
        _ => Err(at("thinking", "Input tag must be 'adaptive', 'disabled' or 'enabled'")),
    }
}

fn system(value: Option<&Value>) -> Check {
    match value {
        None => Ok(()),
        Some(Value::String(_)) => Ok(()),
        Some(Value::Array(parts)) => parts.iter().enumerate().try_for_each(|(i, part)| {
            let path = format!("system.{i}");
            let Some(map) = part.as_object().filter(|m| m.get("type").is_some_and(|t| t == "text")) else {
                return Err(at(path, "Input should be a text block"));
            };
            only(&path, map, &["type", "text", "cache_control", "citations"])?;
            content::says(map.get("text"))
                .then_some(())
                .ok_or_else(|| at("system", "text content blocks must be non-empty"))
        }),
        Some(_) => Err(at("system", "Input should be a text or a list of text blocks")),
    }
}

/// Marks of the cache, anywhere in the request: their shape and their number.
fn cached(body: &Value) -> Check {
    let mut found = 0;
    for part in ["tools", "system", "messages"] {
        if let Some(value) = body.get(part) {
            marks(part, value, &mut found)?;
        }
    }
    if found > MAX_CACHED {
        return Err(plain(format!(
            "A maximum of {MAX_CACHED} blocks with cache_control may be provided. Found {found}."
        )));
    }
    Ok(())
}

fn marks(path: &str, value: &Value, found: &mut usize) -> Check {
    match value {
        Value::Array(list) => {
            list.iter().enumerate().try_for_each(|(i, v)| marks(&join(path, &i.to_string()), v, found))
        }
        Value::Object(map) => map.iter().try_for_each(|(key, value)| match key.as_str() {
            // what people wrote and what a call holds is no part of the format
            "input" | "input_schema" | "text" => Ok(()),
            "cache_control" => {
                *found += 1;
                let kind = value.get("type").and_then(Value::as_str);
                let ttl = value.get("ttl").is_none_or(|t| t == "5m" || t == "1h");
                let good = kind == Some("ephemeral") && ttl;
                good.then_some(()).ok_or_else(|| at(join(path, key), "Input should be {\"type\": \"ephemeral\"}"))
            }
            _ => marks(&join(path, key), value, found),
        }),
        _ => Ok(()),
    }
}
