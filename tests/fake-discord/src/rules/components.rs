//! Rows of buttons and menus.

use crate::form::{Fields, FormErrors, under};
use serde_json::Value;
use std::collections::BTreeSet;

const ROWS: usize = 5;
const BUTTONS: usize = 5;
const CUSTOM_ID: (usize, usize) = (1, 100);
const LABEL: usize = 80;
const URL: usize = 512;
const OPTIONS: usize = 25;

pub(crate) fn check(rows: &[Value], errors: &mut FormErrors) {
    if rows.len() > ROWS {
        errors.add("components", "BASE_TYPE_BAD_LENGTH", &format!("Must be between 1 and {ROWS} in length."));
    }
    let mut seen = BTreeSet::new();
    for (i, value) in rows.iter().enumerate() {
        let row = Fields::new(value, under("components", i));
        match row.number("type", errors) {
            Some(1) => row_parts(&row, &mut seen, errors),
            Some(_) => errors.choices(&row.path("type"), "1"),
            None => errors.required(&row.path("type")),
        }
    }
}

fn row_parts<'a>(row: &Fields<'a>, seen: &mut BTreeSet<&'a str>, errors: &mut FormErrors) {
    let parts = row.list("components", usize::MAX, errors);
    let at = row.path("components");
    if parts.is_empty() || parts.len() > BUTTONS {
        errors.add(&at, "BASE_TYPE_BAD_LENGTH", &format!("Must be between 1 and {BUTTONS} in length."));
    }
    let wide = parts.iter().any(|p| p.get("type").and_then(Value::as_u64).is_some_and(|kind| kind != 2));
    if wide && parts.len() > 1 {
        errors.add(&at, "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width");
    }
    for (i, value) in parts.iter().enumerate() {
        let part = Fields::new(value, under(&at, i));
        match part.number("type", errors) {
            Some(2) => button(&part, seen, errors),
            Some(3) => {
                custom_id(&part, seen, errors);
                menu(&part, errors);
            }
            Some(5..=8) => custom_id(&part, seen, errors),
            // a text field belongs into a modal, anything else nobody knows
            Some(_) => errors.choices(&part.path("type"), "2, 3, 5, 6, 7, 8"),
            None => errors.required(&part.path("type")),
        }
    }
}

fn custom_id<'a>(part: &Fields<'a>, seen: &mut BTreeSet<&'a str>, errors: &mut FormErrors) {
    if let Some(id) = part.required_text("custom_id", CUSTOM_ID, errors)
        && !seen.insert(id)
    {
        let at = part.path("custom_id");
        errors.add(&at, "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated");
    }
}

fn button<'a>(part: &Fields<'a>, seen: &mut BTreeSet<&'a str>, errors: &mut FormErrors) {
    let label = part.text("label", (0, LABEL), errors).unwrap_or_default();
    part.flag("disabled", errors);
    if label.trim().is_empty() && part.get("emoji").is_none() {
        errors.add(&part.at, "BUTTON_COMPONENT_INVALID_LABEL", "A button needs a label or an emoji");
    }
    match part.number("style", errors) {
        Some(1..=4) => {
            custom_id(part, seen, errors);
            if part.get("url").is_some() {
                errors.add(&part.path("url"), "BUTTON_COMPONENT_CUSTOM_ID_URL", "Only a link has a URL");
            }
        }
        Some(5) => link(part, errors),
        Some(_) => errors.choices(&part.path("style"), "1, 2, 3, 4, 5"),
        None => errors.required(&part.path("style")),
    }
}

fn link(part: &Fields<'_>, errors: &mut FormErrors) {
    if part.get("custom_id").is_some() {
        let at = part.path("custom_id");
        errors.add(&at, "BUTTON_COMPONENT_CUSTOM_ID_URL", "A custom id and url cannot both be specified");
    }
    let Some(url) = part.required_text("url", (1, URL), errors) else { return };
    if !["http://", "https://", "discord://"].iter().any(|scheme| url.starts_with(scheme)) {
        let message = format!("Scheme \"{}\" is not supported.", url.split(':').next().unwrap_or_default());
        errors.add(&part.path("url"), "URL_TYPE_INVALID_SCHEME", &message);
    }
}

fn menu(part: &Fields<'_>, errors: &mut FormErrors) {
    let at = part.path("options");
    let options = part.list("options", OPTIONS, errors);
    if options.is_empty() {
        errors.required(&at);
    }
    part.text("placeholder", (0, 150), errors);
    for (i, value) in options.iter().enumerate() {
        let option = Fields::new(value, under(&at, i));
        option.required_text("label", (1, 100), errors);
        option.required_text("value", (1, 100), errors);
        option.text("description", (1, 100), errors);
    }
}
