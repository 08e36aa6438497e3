//! Derives `src/facts.json` from a machine-readable description of the Bot API: names, types, what is required, and
//! the fixed values of `type` fields. Nothing else of the description is kept.
//!
//! `cargo run -p fake-telegram --example facts -- DESCRIPTION.json > tests/fake-telegram/src/facts.json`

use anyhow::{Context, bail};
use serde_json::{Map, Value};
use std::fmt::Write;

fn main() -> anyhow::Result<()> {
    let Some(path) = std::env::args().nth(1) else { bail!("name the description's file") };
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let api: Value = serde_json::from_str(&text).with_context(|| format!("{path} is no JSON"))?;
    print!("{}", facts(&api)?);
    Ok(())
}

fn facts(api: &Value) -> anyhow::Result<String> {
    let methods = api["methods"].as_object().context("no methods")?;
    let types = api["types"].as_object().context("no types")?;
    let mut out = String::from("{\n");
    writeln!(out, "\"version\": {},", api["version"])?;
    writeln!(out, "\"reactions\": {},", quoted(field(types, "ReactionTypeEmoji", "emoji")))?;
    writeln!(out, "\"entities\": {},", quoted(field(types, "MessageEntity", "type")))?;
    writeln!(out, "\"methods\": {{")?;
    let line = |(name, method): (&String, &Value)| {
        let returns = method["returns"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let returns = returns.collect::<Vec<_>>().join("|");
        format!("\"{name}\": {{\"returns\": {}, \"fields\": {}}}", Value::from(returns), fields(method))
    };
    writeln!(out, "{}\n}},", methods.iter().map(line).collect::<Vec<_>>().join(",\n"))?;
    writeln!(out, "\"types\": {{")?;
    let line = |(name, shape): (&String, &Value)| match &shape["subtypes"] {
        Value::Array(list) => format!("\"{name}\": {}", Value::from(list.clone())),
        _ => format!("\"{name}\": {}", fields(shape)),
    };
    writeln!(out, "{}\n}}\n}}", types.iter().map(line).collect::<Vec<_>>().join(",\n"))?;
    Ok(out)
}

/// `{"name": "Type|Type"}`; a required name ends with `!`, a fixed value follows its type after `=`.
fn fields(of: &Value) -> Value {
    let mut out = Map::new();
    for field in of["fields"].as_array().into_iter().flatten() {
        let name = field["name"].as_str().unwrap_or_default();
        let types: Vec<&str> = field["types"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut types = types.join("|");
        if let Some(fixed) = fixed(name, field["description"].as_str().unwrap_or_default()) {
            types.push('=');
            types.push_str(fixed);
        }
        let mark = if field["required"] == true { "!" } else { "" };
        out.insert(format!("{name}{mark}"), types.into());
    }
    Value::Object(out)
}

fn fixed<'a>(name: &str, description: &'a str) -> Option<&'a str> {
    if !matches!(name, "type" | "status" | "source") {
        return None;
    }
    let (_, rest) = description.split_once("always ").or_else(|| description.split_once("must be "))?;
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let rest = rest.trim_start_matches(['"', '\u{201c}']);
    let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
    rest.get(..end).filter(|value| !value.is_empty() && *value != "one")
}

fn field<'a>(types: &'a Map<String, Value>, of: &str, name: &str) -> &'a str {
    let list = types.get(of).and_then(|t| t["fields"].as_array()).into_iter().flatten();
    list.into_iter().find(|f| f["name"] == name).and_then(|f| f["description"].as_str()).unwrap_or_default()
}

fn quoted(description: &str) -> Value {
    description.split(['"', '\u{201c}', '\u{201d}']).skip(1).step_by(2).map(Value::from).collect()
}
