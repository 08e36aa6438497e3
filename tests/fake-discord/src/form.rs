//! Reads the fields of a request body and gathers what is wrong with them in Discord's nested form.

use crate::id::Id;
use crate::refusal::Refusal;
use serde_json::{Map, Value, json};

/// Errors by path.
#[derive(Debug, Default)]
pub(crate) struct FormErrors {
    tree: Map<String, Value>,
}

impl FormErrors {
    /// Adds an error at a path like `components.0.label`.
    pub(crate) fn add(&mut self, at: &str, code: &str, message: &str) {
        let mut node = &mut self.tree;
        for part in at.split('.').filter(|part| !part.is_empty()) {
            let next = node.entry(part).or_insert_with(|| json!({}));
            let Value::Object(map) = next else { return };
            node = map;
        }
        let list = node.entry("_errors").or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            list.push(json!({"code": code, "message": message}));
        }
    }

    pub(crate) fn required(&mut self, at: &str) {
        self.add(at, "BASE_TYPE_REQUIRED", "This field is required");
    }

    pub(crate) fn choices(&mut self, at: &str, allowed: &str) {
        self.add(at, "BASE_TYPE_CHOICES", &format!("Value must be one of {{{allowed}}}."));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    pub(crate) fn refusal(self) -> Refusal {
        let mut refusal = Refusal::new(400, 50035, "Invalid Form Body");
        refusal.errors = Some(Value::Object(self.tree));
        refusal
    }

    pub(crate) fn result(self) -> Result<(), Refusal> {
        if self.is_empty() { Ok(()) } else { Err(self.refusal()) }
    }
}

/// Joins a path.
pub(crate) fn under(at: &str, key: impl std::fmt::Display) -> String {
    if at.is_empty() { key.to_string() } else { format!("{at}.{key}") }
}

/// One object of a body with its place.
pub(crate) struct Fields<'a> {
    pub(crate) value: &'a Value,
    pub(crate) at: String,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(value: &'a Value, at: impl Into<String>) -> Self {
        Self { value, at: at.into() }
    }

    /// A field that is there and not null.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.value.get(key).filter(|v| !v.is_null())
    }

    pub(crate) fn path(&self, key: &str) -> String {
        under(&self.at, key)
    }

    /// Text of a length in characters; numbers are no text.
    pub(crate) fn text(&self, key: &str, (min, max): (usize, usize), errors: &mut FormErrors) -> Option<&'a str> {
        let value = self.get(key)?;
        let at = self.path(key);
        let Some(text) = value.as_str() else {
            errors.add(&at, "STRING_TYPE_CONVERT", &format!("Could not interpret \"{value}\" as string."));
            return None;
        };
        let length = text.chars().count();
        if length > max && min == 0 {
            errors.add(&at, "BASE_TYPE_MAX_LENGTH", &format!("Must be {max} or fewer in length."));
        } else if length > max || length < min {
            errors.add(&at, "BASE_TYPE_BAD_LENGTH", &format!("Must be between {min} and {max} in length."));
        }
        Some(text)
    }

    pub(crate) fn required_text(&self, key: &str, range: (usize, usize), errors: &mut FormErrors) -> Option<&'a str> {
        if self.get(key).is_none() {
            errors.required(&self.path(key));
        }
        self.text(key, range, errors)
    }

    pub(crate) fn number(&self, key: &str, errors: &mut FormErrors) -> Option<u64> {
        let value = self.get(key)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        if number.is_none() {
            let message = format!("Value \"{value}\" is not int.");
            errors.add(&self.path(key), "NUMBER_TYPE_COERCE", &message);
        }
        number
    }

    pub(crate) fn flag(&self, key: &str, errors: &mut FormErrors) -> Option<bool> {
        let value = self.get(key)?;
        if value.as_bool().is_none() {
            errors.add(&self.path(key), "BOOLEAN_TYPE_CONVERT", "Must be either true or false.");
        }
        value.as_bool()
    }

    pub(crate) fn id(&self, key: &str, errors: &mut FormErrors) -> Option<Id> {
        let value = self.get(key)?;
        let id = Id::of(value);
        if id.is_none() {
            errors.add(&self.path(key), "NUMBER_TYPE_COERCE", &format!("Value \"{value}\" is not snowflake."));
        }
        id
    }

    /// A list of at most so many.
    pub(crate) fn list(&self, key: &str, max: usize, errors: &mut FormErrors) -> &'a [Value] {
        let Some(value) = self.get(key) else { return &[] };
        let Some(list) = value.as_array() else {
            errors.add(&self.path(key), "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType");
            return &[];
        };
        if list.len() > max {
            errors.add(&self.path(key), "BASE_TYPE_MAX_LENGTH", &format!("Must be {max} or fewer in length."));
        }
        list
    }

    /// A list of ids.
    pub(crate) fn ids(&self, key: &str, max: usize, errors: &mut FormErrors) -> Vec<Id> {
        let list = self.list(key, max, errors);
        list.iter()
            .enumerate()
            .filter_map(|(i, value)| {
                let id = Id::of(value);
                if id.is_none() {
                    let at = under(&self.path(key), i);
                    errors.add(&at, "NUMBER_TYPE_COERCE", &format!("Value \"{value}\" is not snowflake."));
                }
                id
            })
            .collect()
    }
}
