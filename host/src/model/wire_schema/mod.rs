//! The copy of an input schema a provider is sent. The host validates with the original, so a copy may say
//! less, never something else.

mod keywords;
mod refs;

use crate::config::SchemaProfile;
use keywords::{Shape, shape_of};
use refs::Refs;
use serde_json::{Map, Value, json};

/// Longest description on the wire, in characters.
pub const MAX_DESCRIPTION: usize = 1024;
const MAX_ENUM: usize = 200;
const ENUM_SHOWN: usize = 20;
const MAX_DEPTH: usize = 128;

/// The wire copy of `original` for one profile: no references, no annotations a provider stumbles over, and
/// always an object with `properties`.
pub fn wire_schema(original: &Value, profile: SchemaProfile) -> Value {
    let mut writer = Writer { profile, refs: Refs::new(original) };
    let mut root = match writer.schema(original, 0) {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    if root.get("type").and_then(Value::as_str) != Some("object") {
        let mut typed = Map::new();
        typed.insert("type".into(), json!("object"));
        root.shift_remove("type");
        typed.extend(root);
        root = typed;
    }
    root.entry("properties").or_insert_with(|| json!({}));
    Value::Object(root)
}

/// A text cut to `MAX_DESCRIPTION` characters, the mark included.
pub fn cut_description(text: &str) -> String {
    cut_to(text, MAX_DESCRIPTION)
}

fn cut_to(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(limit.saturating_sub(1)).collect();
    out.push('…');
    out
}

struct Writer<'a> {
    profile: SchemaProfile,
    refs: Refs<'a>,
}

impl Writer<'_> {
    fn strict(&self) -> bool {
        self.profile != SchemaProfile::Anthropic
    }

    fn minimal(&self) -> bool {
        self.profile == SchemaProfile::Minimal
    }

    fn schema(&mut self, node: &Value, depth: usize) -> Value {
        let Value::Object(map) = node else {
            return match node {
                Value::Bool(false) if !self.minimal() => json!({"not": {}}),
                _ => json!({}),
            };
        };
        if depth > MAX_DEPTH || !self.refs.spend() {
            return json!({});
        }
        match map.get("$ref").and_then(Value::as_str) {
            Some(target) => self.inlined(map, target, depth),
            None => self.object(map, depth),
        }
    }

    /// What a reference points to, with the keywords beside it laid over it.
    fn inlined(&mut self, map: &Map<String, Value>, target: &str, depth: usize) -> Value {
        let mut beside = map.clone();
        beside.shift_remove("$ref");
        let Some(found) = self.refs.enter(target) else {
            return self.object(&beside, depth);
        };
        let inner = self.schema(found, depth + 1);
        self.refs.leave();
        let rest = self.object(&beside, depth);
        let (Value::Object(mut inner), Value::Object(rest)) = (inner, rest) else { return json!({}) };
        let clash = |k: &String| inner.contains_key(k) && !matches!(k.as_str(), "description" | "title" | "default");
        if rest.keys().any(clash) {
            return json!({"allOf": [Value::Object(inner), Value::Object(rest)]});
        }
        inner.extend(rest);
        Value::Object(inner)
    }

    fn object(&mut self, map: &Map<String, Value>, depth: usize) -> Value {
        let mut out = Map::new();
        let mut limits = Vec::new();
        for (key, value) in map {
            if keywords::never_sent(key) || (self.minimal() && keywords::not_minimal(key)) {
                continue;
            }
            match key.as_str() {
                "description" => {
                    if let Some(text) = value.as_str() {
                        out.insert(key.clone(), json!(text));
                    }
                }
                "format" if self.strict() && !keywords::known_format(value) => {}
                "const" if self.strict() => {
                    out.insert("enum".into(), json!([value]));
                }
                k if self.minimal() && keywords::is_numeric_limit(k) => limits.push(format!("{k} {value}")),
                _ => {
                    let value = self.value(key, value, depth);
                    out.insert(key.clone(), value);
                }
            }
        }
        if self.strict() && out.get("type").and_then(Value::as_str) == Some("array") {
            // Refused without it, and it says nothing more.
            out.entry("items").or_insert_with(|| json!({}));
        }
        shorten_enum(&mut out);
        if !limits.is_empty() {
            append(&mut out, &format!("({})", limits.join(", ")));
        }
        if let Some(Value::String(text)) = out.get_mut("description") {
            *text = cut_description(text);
        }
        if self.strict() { split_types(out) } else { Value::Object(out) }
    }

    fn value(&mut self, key: &str, value: &Value, depth: usize) -> Value {
        match (shape_of(key), value) {
            (Shape::Schema, Value::Bool(b)) if matches!(key, "additionalProperties" | "unevaluatedProperties") => {
                json!(b)
            }
            // `items` was a list of schemas in older drafts.
            (Shape::Schema | Shape::List, Value::Array(list)) => {
                Value::Array(list.iter().map(|v| self.schema(v, depth + 1)).collect())
            }
            (Shape::Schema, v) => self.schema(v, depth + 1),
            (Shape::Table, Value::Object(table)) => {
                Value::Object(table.iter().map(|(k, v)| (k.clone(), self.schema(v, depth + 1))).collect())
            }
            (Shape::Table, _) => json!({}),
            (Shape::List | Shape::Data, v) => v.clone(),
        }
    }
}

/// A list of values too long for a request becomes its type, with the first values in the description.
fn shorten_enum(map: &mut Map<String, Value>) {
    let Some(Value::Array(values)) = map.get("enum") else { return };
    if values.len() <= MAX_ENUM {
        return;
    }
    let shown: Vec<String> = values.iter().take(ENUM_SHOWN).map(plain).collect();
    let note = format!("One of {} values: {}, …", values.len(), shown.join(", "));
    let kind = values.first().map_or("string", keywords::type_name);
    map.entry("type").or_insert_with(|| json!(kind));
    map.shift_remove("enum");
    append(map, &note);
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

/// Adds a note to the description; when both do not fit, the author's text is cut, not the note.
fn append(map: &mut Map<String, Value>, note: &str) {
    let note = cut_to(note, MAX_DESCRIPTION);
    let old = map.get("description").and_then(Value::as_str).unwrap_or_default();
    let text = if old.is_empty() {
        note
    } else {
        let room = MAX_DESCRIPTION.saturating_sub(note.chars().count() + 1);
        format!("{} {note}", cut_to(old, room)).trim().to_owned()
    };
    map.insert("description".into(), json!(text));
}

/// `type: [a, b]` as `anyOf`, each branch with the keywords that speak about its type.
fn split_types(mut map: Map<String, Value>) -> Value {
    let Some(Value::Array(types)) = map.get("type") else { return Value::Object(map) };
    let types: Vec<String> = types.iter().filter_map(|t| t.as_str().map(str::to_owned)).collect();
    map.shift_remove("type");
    if let [only] = types.as_slice() {
        let mut out = Map::new();
        out.insert("type".into(), json!(only));
        out.extend(map);
        return Value::Object(out);
    }
    if types.is_empty() {
        return Value::Object(map);
    }
    let branches: Vec<Value> = types.iter().map(|t| branch(t, &map)).collect();
    map.retain(|key, _| !keywords::typed(key));
    if let Some(other) = map.shift_remove("anyOf") {
        map.insert("allOf".into(), json!([{"anyOf": other}, {"anyOf": branches}]));
    } else {
        map.insert("anyOf".into(), Value::Array(branches));
    }
    Value::Object(map)
}

fn branch(kind: &str, map: &Map<String, Value>) -> Value {
    let mut out = Map::new();
    out.insert("type".into(), json!(kind));
    for (key, value) in map {
        if key == "enum" {
            let fits = |v: &&Value| keywords::is_of(v, kind);
            let own: Vec<&Value> = value.as_array().into_iter().flatten().filter(fits).collect();
            if !own.is_empty() {
                out.insert("enum".into(), json!(own));
            }
        } else if keywords::belongs_to(key, kind) {
            out.insert(key.clone(), value.clone());
        }
    }
    Value::Object(out)
}
