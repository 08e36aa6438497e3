//! Slash commands.

use crate::form::{Fields, FormErrors, under};
use crate::refusal::Refusal;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const OPTIONS: usize = 25;
const TOTAL: usize = 8000;
const SUBCOMMAND: u64 = 1;
const GROUP: u64 = 2;

/// Checks one command.
pub(crate) fn one(value: &Value) -> Result<(), Refusal> {
    let mut errors = FormErrors::default();
    check(&Fields::new(value, ""), &mut errors);
    errors.result()
}

/// Checks a whole list, as an overwrite sends it.
pub(crate) fn commands(list: &Value) -> Result<&[Value], Refusal> {
    let Some(list) = list.as_array() else {
        return Err(Refusal::field("", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType"));
    };
    let mut errors = FormErrors::default();
    let mut seen = BTreeSet::new();
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for (i, value) in list.iter().enumerate() {
        let fields = Fields::new(value, i.to_string());
        check(&fields, &mut errors);
        let kind = value.get("type").and_then(Value::as_u64).unwrap_or(1);
        *counts.entry(kind).or_default() += 1;
        let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
        if !seen.insert((kind, name)) {
            let message = "Application command names must be unique";
            errors.add(&i.to_string(), "APPLICATION_COMMANDS_DUPLICATE_NAME", message);
        }
    }
    errors.result()?;
    if counts.iter().any(|(kind, n)| *n > if *kind == 1 { 100 } else { 5 }) {
        return Err(Refusal::new(400, 30032, "Maximum number of application commands reached (100)"));
    }
    Ok(list)
}

fn check(fields: &Fields<'_>, errors: &mut FormErrors) {
    let kind = fields.number("type", errors).unwrap_or(1);
    match kind {
        1 => {
            slash_name(fields, errors);
            fields.required_text("description", (1, 100), errors);
        }
        2 | 3 => {
            fields.required_text("name", (1, 32), errors);
            if fields.get("description").and_then(Value::as_str).is_some_and(|d| !d.is_empty()) {
                let at = fields.path("description");
                errors.add(&at, "APPLICATION_COMMAND_INVALID_DESCRIPTION", "Only slash commands have a description");
            }
        }
        _ => errors.choices(&fields.path("type"), "1, 2, 3"),
    }
    options(fields, 0, errors);
    if size(fields.value) > TOTAL {
        errors.add(&fields.at, "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)");
    }
}

/// Letters, digits, `-`, `_` and `'` of any script, small where there is a small form.
fn slash_name(fields: &Fields<'_>, errors: &mut FormErrors) {
    let Some(name) = fields.required_text("name", (1, 32), errors) else { return };
    let marks = |c: char| matches!(c, '-' | '_' | '\'' | '\u{900}'..='\u{97f}' | '\u{e00}'..='\u{e7f}');
    if !name.chars().all(|c| marks(c) || c.is_alphanumeric()) || name.to_lowercase() != name {
        errors.add(&fields.path("name"), "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid");
    }
}

fn options(fields: &Fields<'_>, depth: usize, errors: &mut FormErrors) {
    let list = fields.list("options", OPTIONS, errors);
    let at = fields.path("options");
    let (mut seen, mut optional, mut branches) = (BTreeSet::new(), false, 0);
    for (i, value) in list.iter().enumerate() {
        let option = Fields::new(value, under(&at, i));
        slash_name(&option, errors);
        option.required_text("description", (1, 100), errors);
        let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
        if !seen.insert(name) {
            let message = "Option names must be unique";
            errors.add(&option.path("name"), "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", message);
        }
        let kind = option.number("type", errors);
        match kind {
            Some(SUBCOMMAND | GROUP) => {
                branches += 1;
                let deep = if kind == Some(GROUP) { depth > 0 } else { depth > 1 };
                if deep {
                    let message = "Sub-commands are nested too deeply";
                    errors.add(&option.path("type"), "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", message);
                }
                options(&option, if kind == Some(GROUP) { depth + 1 } else { 2 }, errors);
            }
            Some(3..=11) => {
                choices(&option, errors);
                let required = option.flag("required", errors).unwrap_or(false);
                if required && optional {
                    let message = "Required options must be placed before non-required options";
                    errors.add(&option.at, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", message);
                }
                optional |= !required;
            }
            Some(_) => errors.choices(&option.path("type"), "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"),
            None => errors.required(&option.path("type")),
        }
    }
    if branches > 0 && branches < list.len() {
        let message = "Sub-command and sub-command group option types are mutually exclusive to all other types";
        errors.add(&at, "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", message);
    }
}

fn choices(option: &Fields<'_>, errors: &mut FormErrors) {
    let at = option.path("choices");
    for (i, value) in option.list("choices", OPTIONS, errors).iter().enumerate() {
        let choice = Fields::new(value, under(&at, i));
        choice.required_text("name", (1, 100), errors);
        match choice.get("value") {
            None => errors.required(&choice.path("value")),
            Some(Value::String(_)) => {
                choice.text("value", (0, 100), errors);
            }
            Some(_) => {}
        }
    }
}

/// Characters of names, descriptions and values of a command and all below it.
fn size(value: &Value) -> usize {
    let own = ["name", "description", "value"].iter().filter_map(|key| value.get(key)?.as_str());
    let own: usize = own.map(|text| text.chars().count()).sum();
    let lists = ["options", "choices"].iter().filter_map(|key| value.get(key)?.as_array());
    own + lists.flatten().map(size).sum::<usize>()
}
