//! What a property of a schema takes, as far as words can give it.

use serde_json::{Value, json};
use std::collections::HashSet;

/// Local references followed in a row.
const REF_HOPS: usize = 16;
const MIN_OPTIONS: usize = 2;
const MAX_OPTIONS: usize = 20;
const MAX_OPTION: usize = 500;

/// A property to be filled.
#[derive(Debug, Clone)]
pub(in crate::model::offline) struct Property {
    pub(in crate::model::offline) name: String,
    /// Its description, else its name.
    pub(in crate::model::offline) question: String,
    pub(super) required: bool,
    pub(super) has_default: bool,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    One(Single),
    Boolean,
    /// A list of such values, at most so many.
    Many(Single, usize),
    /// Objects and what else no word can say.
    Other,
}

#[derive(Debug, Clone)]
pub(super) enum Single {
    Choice(Vec<Value>),
    Number(Range),
    Format(Format),
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Uri,
    Email,
    Date,
    DateTime,
}

/// Which numbers are taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Range {
    pub(super) integer: bool,
    minimum: Option<f64>,
    maximum: Option<f64>,
    above: Option<f64>,
    below: Option<f64>,
    step: Option<f64>,
}

impl Range {
    fn of(schema: &Value, integer: bool) -> Self {
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        Self {
            integer,
            minimum: number("minimum"),
            maximum: number("maximum"),
            above: number("exclusiveMinimum"),
            below: number("exclusiveMaximum"),
            step: number("multipleOf").filter(|s| *s > 0.0),
        }
    }

    pub(super) fn takes(&self, value: f64) -> bool {
        self.minimum.is_none_or(|m| value >= m)
            && self.maximum.is_none_or(|m| value <= m)
            && self.above.is_none_or(|m| value > m)
            && self.below.is_none_or(|m| value < m)
            && self.step.is_none_or(|s| ((value / s).round() * s - value).abs() < 1e-9)
    }
}

impl Property {
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::One(Single::Text))
    }

    /// Options of a question, when there are as many as one can have.
    pub(in crate::model::offline) fn options(&self) -> Option<Vec<String>> {
        let Kind::One(Single::Choice(values)) = &self.kind else { return None };
        let options: Vec<String> = values.iter().map(|v| text_of(v).trim().to_owned()).collect();
        let good = |o: &String| !o.is_empty() && o.chars().count() <= MAX_OPTION;
        let distinct = options.iter().collect::<HashSet<_>>().len() == options.len();
        let fine = (MIN_OPTIONS..=MAX_OPTIONS).contains(&options.len()) && distinct && options.iter().all(good);
        fine.then_some(options)
    }

    /// Type of a question without options.
    pub(in crate::model::offline) fn question_type(&self) -> &'static str {
        match self.kind {
            Kind::Boolean => "confirm",
            Kind::One(Single::Number(_)) => "number",
            _ => "text",
        }
    }

    /// An answer as it stands, when no rule found a value in it.
    pub(super) fn plain_answer(&self, text: &str) -> Option<Value> {
        let text = text.trim();
        match &self.kind {
            _ if text.is_empty() => None,
            Kind::One(Single::Text) => Some(json!(text)),
            Kind::Boolean => truth(text).map(Value::Bool),
            Kind::Many(Single::Text, limit) => {
                let parts = text.split([',', '，', '、', ';', '；', '\n']).map(str::trim).filter(|p| !p.is_empty());
                Some(parts.take(*limit).map(|p| json!(p)).collect())
            }
            _ => None,
        }
    }
}

/// Yes or no in words.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "true" | "yes" | "y" | "on" | "1" | "是" | "好" | "确认" => Some(true),
        "false" | "no" | "n" | "off" | "0" | "否" | "不" | "不是" => Some(false),
        _ => None,
    }
}

/// A value as a person would write it.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The root properties in schema order.
pub(super) fn properties(schema: &Value) -> Vec<Property> {
    let Some(Value::Object(table)) = schema.get("properties") else { return Vec::new() };
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    table
        .iter()
        .map(|(name, declared)| {
            let plain = effective(schema, declared);
            let text = |v: &Value| v.get("description").and_then(Value::as_str).map(|d| d.trim().to_owned());
            let question = text(declared).or_else(|| text(&plain)).filter(|d| !d.is_empty());
            Property {
                name: name.clone(),
                question: question.unwrap_or_else(|| name.clone()),
                required: required.contains(&name.as_str()),
                has_default: declared.get("default").or_else(|| plain.get("default")).is_some(),
                kind: kind(schema, &plain),
            }
        })
        .collect()
}

/// The schema behind references and behind "or nothing".
fn effective(root: &Value, schema: &Value) -> Value {
    let mut at = schema;
    for _ in 0..REF_HOPS {
        let target = at.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#'));
        let branches = ["anyOf", "oneOf", "allOf"].iter().find_map(|k| at.get(k)).and_then(Value::as_array);
        let mut real = branches.into_iter().flatten().filter(|b| type_of(b) != Some("null"));
        if let Some(next) = target.and_then(|t| root.pointer(t)) {
            at = next;
        } else if let (Some(only), None) = (real.next(), real.next()) {
            at = only;
        } else {
            break;
        }
    }
    at.clone()
}

fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => Some(name),
        Some(Value::Array(names)) => {
            let mut real = names.iter().filter_map(Value::as_str).filter(|n| *n != "null");
            real.next()
        }
        _ => None,
    }
}

fn kind(root: &Value, schema: &Value) -> Kind {
    if let Some(values) = choices(schema) {
        return Kind::One(Single::Choice(values));
    }
    match type_of(schema) {
        Some("boolean") => Kind::Boolean,
        Some("array") => {
            let item = schema.get("items").map(|i| effective(root, i)).unwrap_or_default();
            let limit = schema.get("maxItems").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
            match kind(root, &item) {
                Kind::One(single) => Kind::Many(single, limit.unwrap_or(usize::MAX)),
                _ => Kind::Other,
            }
        }
        Some("integer") => Kind::One(Single::Number(Range::of(schema, true))),
        Some("number") => Kind::One(Single::Number(Range::of(schema, false))),
        Some("string") => Kind::One(match schema.get("format").and_then(Value::as_str) {
            Some("uri") => Single::Format(Format::Uri),
            Some("email") => Single::Format(Format::Email),
            Some("date") => Single::Format(Format::Date),
            Some("date-time") => Single::Format(Format::DateTime),
            _ => Single::Text,
        }),
        _ => Kind::Other,
    }
}

/// The values of an `enum`, a `const`, or of branches that are all constants.
fn choices(schema: &Value) -> Option<Vec<Value>> {
    let sayable = |v: &Value| matches!(v, Value::String(_) | Value::Number(_));
    if let Some(Value::Array(values)) = schema.get("enum") {
        return Some(values.iter().filter(|v| sayable(v)).cloned().collect()).filter(|v: &Vec<Value>| !v.is_empty());
    }
    if let Some(value) = schema.get("const").filter(|v| sayable(v)) {
        return Some(vec![value.clone()]);
    }
    let branches = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    let real = branches.iter().filter(|b| type_of(b) != Some("null"));
    let values: Option<Vec<Value>> = real.map(|b| b.get("const").filter(|v| sayable(v)).cloned()).collect();
    values.filter(|v| !v.is_empty())
}
