//! `schema`: the JSON Schema of every format this program reads or prints.

use crate::cli::Schema;
use crate::out::{Failure, Out};
use crate::shapes;
use host::config::{nearest_help, schema_kinds, schema_of};
use host::scenario::ScenarioFile;
use serde_json::{Value, json};

/// Kinds of the loader, in the order they are shown.
const MANIFESTS: [&str; 7] = ["plugin", "tool", "hook", "command", "skill", "section", "agent"];

fn kinds() -> Vec<&'static str> {
    let mut all = schema_kinds();
    all.extend(MANIFESTS);
    all.extend(["scenario", "cli"]);
    all
}

fn find(kind: &str) -> Option<Value> {
    match kind {
        "cli" => Some(shapes::schema()),
        "scenario" => Some(schemars::schema_for!(ScenarioFile).to_value()),
        _ => schema_of(kind).or_else(|| host::loader::schema_of(kind)),
    }
}

pub(crate) fn run(args: &Schema, out: &Out) -> Result<u8, Failure> {
    let kind = match &args.kind {
        Some(kind) if !args.list => kind,
        _ => {
            let text = kinds().iter().map(|k| format!("{k}\n")).collect::<String>();
            return out.finish("schema", json!({"kinds": kinds()}), &[], &text);
        }
    };
    let Some(schema) = find(kind) else {
        let help = nearest_help(kind, kinds());
        return Err(Failure::usage_with(format!("there is no format `{kind}`"), help));
    };
    let text = if out.json { schema.to_string() } else { serde_json::to_string_pretty(&schema).unwrap_or_default() };
    out.stdout(&format!("{text}\n"))?;
    Ok(crate::out::OK)
}
