//! Names and arguments of a history that a provider reads again.

use serde_json::Value;

const MAX_NAME: usize = 64;

/// A name the model invented may be one the provider refuses in a history.
pub(in crate::model) fn sendable_name(name: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = name.chars().take(MAX_NAME).map(clean).collect();
    if name.is_empty() { "unknown".into() } else { name }
}

/// Arguments that are no object stand as `{}`: some providers read them again.
pub(in crate::model) fn sendable_arguments(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => text.to_owned(),
        Ok(Value::String(inner)) if matches!(serde_json::from_str(&inner), Ok(Value::Object(_))) => inner,
        _ => "{}".into(),
    }
}
