//! Everything that `--json` prints is what `understudy schema cli` says.

use harness::{Ran, TestBot};
use serde_json::{Value, json};
use std::sync::OnceLock;

/// The printed schema.
fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| TestBot::new().run(&["schema", "cli", "--json"]).exits(0).json())
}

/// Asserts that a value is the object of a definition: the command's word, `list-KIND`, `explain-code`,
/// or `COMMAND-refused`.
#[track_caller]
pub(crate) fn is(definition: &str, value: &Value) {
    let defs = &schema()["$defs"];
    assert!(defs[definition].is_object(), "there is no shape {definition}");
    let one = json!({"$ref": format!("#/$defs/{definition}"), "$defs": defs});
    let validator = jsonschema::validator_for(&one).expect("a valid schema");
    let faults: Vec<String> = validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(faults.is_empty(), "{definition}\n{}\n{value:#}", faults.join("\n"));
    assert!(any().is_valid(value), "{definition} is not reachable from the schema's root");
}

fn any() -> &'static jsonschema::Validator {
    static ANY: OnceLock<jsonschema::Validator> = OnceLock::new();
    ANY.get_or_init(|| jsonschema::validator_for(schema()).expect("a valid schema"))
}

/// Runs with `--json`, asserts exit code and shape, gives the object.
#[track_caller]
pub(crate) fn ran(bot: &TestBot, args: &[&str], exit: i32, definition: &str) -> Value {
    let mut all = vec!["--json"];
    all.extend(args);
    shaped(bot.run(&all), exit, definition)
}

/// Asserts exit code and shape of a finished command.
#[track_caller]
pub(crate) fn shaped(ran: Ran, exit: i32, definition: &str) -> Value {
    let value = ran.exits(exit).json();
    is(definition, &value);
    assert_eq!(value["ok"], exit == 0, "{value:#}");
    value
}

#[test]
fn every_object_is_closed_and_complete() {
    fn walk(at: &str, schema: &Value) {
        match schema {
            Value::Object(map) => {
                if let Some(Value::Object(properties)) = map.get("properties") {
                    let alternatives = ["oneOf", "anyOf", "allOf"].iter().any(|k| map.contains_key(*k));
                    let required = map["required"].as_array().expect("required").len();
                    if !alternatives {
                        assert_eq!(required, properties.len(), "{at} does not require every key");
                        assert_eq!(map["additionalProperties"], false, "{at} is open");
                    }
                }
                for (key, inner) in map {
                    walk(&format!("{at}/{key}"), inner);
                }
            }
            Value::Array(list) => list.iter().for_each(|inner| walk(at, inner)),
            _ => {}
        }
    }
    walk("", schema());
}

#[test]
fn every_format_has_a_schema() {
    let bot = TestBot::new();
    let kinds = ran(&bot, &["schema", "--list"], 0, "schema");
    for kind in kinds["kinds"].as_array().expect("kinds") {
        let kind = kind.as_str().expect("a word");
        let schema = bot.run(&["schema", kind, "--json"]).exits(0).json();
        jsonschema::meta::validate(&schema).unwrap_or_else(|e| panic!("{kind}: {e}"));
        let text = bot.run(&["schema", kind]).exits(0).out;
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), schema, "{kind}");
    }
    let unknown = ran(&bot, &["schema", "toool"], 2, "schema-refused");
    assert_eq!(unknown["diagnostics"][0]["help"], "did you mean `tool`?");
}
