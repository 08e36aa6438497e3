//! Arguments as people may see them: nothing secret, nothing hidden, nothing that looks like another line.

use crate::index::Tool;
use serde_json::{Map, Value};

/// How far a schema is followed from one value: references may lead in a circle.
const DEPTH: usize = 8;
/// Parts of a schema looked at for one value.
const PARTS: usize = 64;

/// One line each, `key: JSON`: values of `x-secret` properties masked, and every character that could hide or
/// reorder text written out.
pub(super) fn shown(tool: &Tool, arguments: &Map<String, Value>) -> Vec<String> {
    let lines = visible_values(tool, arguments).into_iter();
    lines.map(|(key, value)| counted_spaces(&format!("{}: {value}", visible(key)))).collect()
}

/// The same as one JSON object, for a file beside the card.
pub(super) fn shown_whole(tool: &Tool, arguments: &Map<String, Value>) -> String {
    let quoted = |key: &str| visible_json(&Value::String(key.to_string()));
    let values = visible_values(tool, arguments).into_iter();
    let lines: Vec<String> = values.map(|(key, value)| format!("  {}: {value}", quoted(key))).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

fn visible_values<'a>(tool: &Tool, arguments: &'a Map<String, Value>) -> Vec<(&'a str, String)> {
    let schema = Schema(&tool.input.original);
    let whole = schema.parts(vec![schema.0]);
    let text = |(key, value): (&'a String, &Value)| {
        (key.as_str(), visible_json(&schema.masked(schema.of_property(&whole, key), value)))
    };
    arguments.iter().map(text).collect()
}

/// A schema, to find what it says of one value.
struct Schema<'s>(&'s Value);

impl<'s> Schema<'s> {
    /// What schemas say together: themselves, what they refer to here, and what they are combined of.
    fn parts(&self, first: Vec<&'s Value>) -> Vec<&'s Value> {
        let mut parts: Vec<&Value> = Vec::new();
        let mut left: Vec<(&Value, usize)> = first.into_iter().map(|s| (s, 0)).collect();
        while let Some((part, depth)) = left.pop() {
            if parts.len() >= PARTS {
                break;
            }
            parts.push(part);
            if depth >= DEPTH {
                continue;
            }
            let local = part.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#'));
            let combined = ["allOf", "anyOf", "oneOf"].iter().filter_map(|k| part.get(*k)?.as_array()).flatten();
            let chosen = ["then", "else"].iter().filter_map(|k| part.get(*k));
            let next = local.and_then(|at| self.0.pointer(at)).into_iter().chain(combined).chain(chosen);
            left.extend(next.map(|s| (s, depth + 1)));
        }
        parts
    }

    fn of_property(&self, parts: &[&'s Value], key: &str) -> Vec<&'s Value> {
        let own = |s: &&'s Value| -> Vec<&'s Value> {
            let named = s.get("properties").and_then(|p| p.get(key));
            let by_pattern = s.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::values);
            let other = s.get("additionalProperties").filter(|_| named.is_none());
            named.into_iter().chain(by_pattern).chain(other).collect()
        };
        self.parts(parts.iter().flat_map(own).collect())
    }

    fn of_item(&self, parts: &[&'s Value], at: usize) -> Vec<&'s Value> {
        let own = |s: &&'s Value| s.get("prefixItems").and_then(|p| p.get(at)).or_else(|| s.get("items"));
        self.parts(parts.iter().filter_map(own).collect())
    }

    fn masked(&self, parts: Vec<&'s Value>, value: &Value) -> Value {
        if parts.iter().any(|s| s.get("x-secret") == Some(&Value::Bool(true))) {
            return Value::String("•••".into());
        }
        match value {
            Value::Object(map) => Value::Object(
                map.iter().map(|(k, v)| (k.clone(), self.masked(self.of_property(&parts, k), v))).collect(),
            ),
            Value::Array(list) => {
                Value::Array(list.iter().enumerate().map(|(n, v)| self.masked(self.of_item(&parts, n), v)).collect())
            }
            other => other.clone(),
        }
    }
}

/// Whether a character could end a line, pass for a blank, hide something or turn the order of what stands beside it:
/// controls, every blank but the space, format characters and those that Unicode lets a screen leave out.
pub fn hides(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}')
        || matches!(c, '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
        || matches!(c, '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{13455}')
        || matches!(c, '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Spaces in a row that are shown as they are; more could push what follows out of sight.
const SPACES: usize = 8;

/// Longer runs of spaces as their number.
fn counted_spaces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(' ') {
        let (before, from) = rest.split_at(at);
        let run = from.len() - from.trim_start_matches(' ').len();
        out.push_str(before);
        match run > SPACES {
            true => out.push_str(&format!("\u{27e8}{run} spaces\u{27e9}")),
            false => out.push_str(&from[..run]),
        }
        rest = &from[run..];
    }
    out + rest
}

/// JSON in which line breaks and other control characters are written as numbers like all that is hidden, not as
/// the short forms that JSON has for some of them.
fn visible_json(value: &Value) -> String {
    let text = value.to_string();
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let short = if c == '\\' { chars.next() } else { None };
        match short {
            Some('n') => out.push_str("\\u000a"),
            Some('r') => out.push_str("\\u000d"),
            Some('t') => out.push_str("\\u0009"),
            Some('b') => out.push_str("\\u0008"),
            Some('f') => out.push_str("\\u000c"),
            Some(other) => out.extend([c, other]),
            None => out.push(c),
        }
    }
    visible(&out)
}

fn visible(text: &str) -> String {
    let shown: String = text.chars().map(|c| if hides(c) { escaped(c) } else { c.to_string() }).collect();
    // Nothing in the arguments ends the code block they stand in.
    shown.replace("```", "\\u0060\\u0060\\u0060")
}

/// As JSON writes it: `\uXXXX`, in two halves beyond 16 bits.
fn escaped(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}
