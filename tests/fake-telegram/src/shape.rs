//! Whether a value has the type the Bot API says.

use crate::facts::{Facts, Field, Kind, Shape, facts};
use serde_json::{Map, Value};

/// Checks a value; the error names the part that is wrong.
pub(crate) fn fits(value: &Value, kinds: &[Kind], path: &str) -> Result<(), String> {
    // a list of one of several types may hold all of them: photos and videos share an album
    let inner = |kind: &Kind| if let Kind::List(inner) = kind { Some(Kind::clone(inner)) } else { None };
    let inner: Vec<Kind> = kinds.iter().filter_map(inner).collect();
    if let (Some(list), 2..) = (value.as_array(), inner.len()) {
        return list.iter().enumerate().try_for_each(|(i, v)| fits(v, &inner, &format!("{path}[{i}]")));
    }
    let mut last = format!("{path}: has no type");
    for kind in kinds {
        match fit(facts(), value, kind, path) {
            Ok(()) => return Ok(()),
            // the one whose fixed value fits is the one that was meant
            Err(why) if !why.contains(": must be ") => last = why,
            Err(_) => {}
        }
    }
    Err(last)
}

fn fit(facts: &Facts, value: &Value, kind: &Kind, path: &str) -> Result<(), String> {
    let good = match kind {
        Kind::Integer => value.is_i64() || value.is_u64(),
        Kind::Float => value.is_number(),
        Kind::Text => value.is_string(),
        Kind::Boolean => value.is_boolean(),
        Kind::File => value.as_str().is_some_and(|text| text.starts_with("attach://")),
        Kind::List(inner) => match value.as_array() {
            None => false,
            Some(list) => {
                let item = |(i, v)| fit(facts, v, inner, &format!("{path}[{i}]"));
                return list.iter().enumerate().try_for_each(item);
            }
        },
        Kind::Object(name) => match (facts.shape(name), value.as_object()) {
            (Some(shape), Some(map)) => return object(facts, map, shape, path),
            // the one union that may also be written as a text, or a type nobody knows
            (shape, _) => value.is_string() && name == "RichText" || shape.is_none(),
        },
    };
    if good { Ok(()) } else { Err(format!("{path}: expected {}", name(kind))) }
}

fn object(facts: &Facts, map: &Map<String, Value>, shape: &Shape, path: &str) -> Result<(), String> {
    match shape {
        Shape::Object(fields) => members(map, fields, path),
        Shape::OneOf(names) => {
            let mut last = format!("{path}: fits none of {}", names.join(", "));
            let whole = Value::Object(map.clone());
            for name in names {
                match fit(facts, &whole, &Kind::Object(name.clone()), path) {
                    Ok(()) => return Ok(()),
                    // the member whose fixed value fits is the one that was meant
                    Err(why) if !why.contains(": must be ") => last = why,
                    Err(_) => {}
                }
            }
            Err(last)
        }
    }
}

fn members(map: &Map<String, Value>, fields: &[Field], path: &str) -> Result<(), String> {
    for field in fields {
        let at = format!("{path}.{}", field.name);
        let Some(value) = map.get(&field.name) else {
            if field.required {
                return Err(format!("{at}: is missing"));
            }
            continue;
        };
        if let Some(fixed) = &field.fixed
            && value.as_str() != Some(fixed)
        {
            return Err(format!("{at}: must be {fixed}"));
        }
        fits(value, &field.kinds, &at)?;
    }
    match map.keys().find(|key| !fields.iter().any(|f| f.name == **key)) {
        Some(key) => Err(format!("{path}.{key}: is no field")),
        None => Ok(()),
    }
}

/// A type as the documentation writes it.
pub(crate) fn name(kind: &Kind) -> String {
    match kind {
        Kind::Integer => "Integer".into(),
        Kind::Float => "Float".into(),
        Kind::Text => "String".into(),
        Kind::Boolean => "Boolean".into(),
        Kind::File => "InputFile".into(),
        Kind::List(inner) => format!("Array of {}", name(inner)),
        Kind::Object(name) => name.clone(),
    }
}
