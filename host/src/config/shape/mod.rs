//! Structure of a document against the JSON Schema of the type it becomes: every fault at once, each at its place.

mod rules;
mod walk;

use super::doc::Doc;
use plugin_sdk::Diagnostic;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Checks `doc` against the schema of `T` and reads it. Faults are `KIND::unknown-key`, `KIND::missing-key`,
/// `KIND::wrong-type` and `KIND::bad-value`; `T` comes only without any.
pub fn check<T: JsonSchema + DeserializeOwned>(kind: &str, doc: &Doc) -> (Option<T>, Vec<Diagnostic>) {
    check_with(kind, doc, &schema_for::<T>())
}

/// The same for many documents of one type: `schema` is that of `T`, made once.
pub fn check_with<T: DeserializeOwned>(kind: &str, doc: &Doc, schema: &Value) -> (Option<T>, Vec<Diagnostic>) {
    let (value, mut faults) = check_value(kind, doc, schema);
    if !faults.is_empty() {
        return (None, faults);
    }
    match serde_json::from_value(value) {
        Ok(read) => (Some(read), faults),
        Err(error) => {
            let d = Diagnostic::error(format!("{kind}::bad-value"), error.to_string());
            faults.push(doc.at(d, doc.root.span));
            (None, faults)
        }
    }
}

/// The schema of a type as the checks read it.
pub fn schema_for<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// A fault and the path of what it is about.
pub(in crate::config) struct Fault {
    pub(in crate::config) path: Vec<String>,
    pub(in crate::config) diagnostic: Diagnostic,
}

/// The same against a schema in hand: the value with every scalar in the type its key wants, and the faults.
pub fn check_value(kind: &str, doc: &Doc, schema: &Value) -> (Value, Vec<Diagnostic>) {
    let (value, faults) = walk_value(kind, doc, schema);
    (value, faults.into_iter().map(|f| f.diagnostic).collect())
}

/// The same with the paths.
pub(in crate::config) fn walk_value(kind: &str, doc: &Doc, schema: &Value) -> (Value, Vec<Fault>) {
    let mut walk = walk::Walk::new(kind, doc, schema);
    let value = walk.root();
    let mut faults = walk.faults;
    faults.sort_by(|a, b| a.diagnostic.sort_key().cmp(&b.diagnostic.sort_key()));
    (value, faults)
}

/// A path as an author writes it.
pub fn dotted(path: &[String]) -> String {
    walk::dotted(path)
}

#[cfg(test)]
mod tests;
