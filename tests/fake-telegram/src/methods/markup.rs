//! Keyboards under messages.

use crate::asked::Asked;
use crate::refusal::Refusal;
use serde_json::Value;

const MAX_DATA: usize = 64;
const MAX_ROW: usize = 8;
const MAX_BUTTONS: usize = 100;
/// What a button may carry beside what it says and how it looks.
const LOOKS: [&str; 3] = ["text", "icon_custom_emoji_id", "style"];

/// The inline keyboard of a request; other keyboards are checked and not kept.
pub(super) fn inline(asked: &Asked) -> Result<Option<Value>, Refusal> {
    let markup = asked.get("reply_markup");
    let Some(rows) = markup.get("inline_keyboard").and_then(Value::as_array) else { return Ok(None) };
    let rows: Vec<&Vec<Value>> = rows.iter().filter_map(Value::as_array).filter(|row| !row.is_empty()).collect();
    if rows.iter().any(|row| row.len() > MAX_ROW) || rows.iter().map(|row| row.len()).sum::<usize>() > MAX_BUTTONS {
        return Err(Refusal::wrong("reply markup is too long"));
    }
    for button in rows.iter().copied().flatten() {
        check(button)?;
    }
    Ok((!rows.is_empty()).then(|| markup.clone()))
}

fn check(button: &Value) -> Result<(), Refusal> {
    let label = button["text"].as_str().unwrap_or_default();
    if label.trim().is_empty() {
        return Err(Refusal::wrong("inline keyboard button text must be non-empty"));
    }
    let actions = button.as_object().into_iter().flatten().filter(|(name, _)| !LOOKS.contains(&name.as_str())).count();
    if actions != 1 {
        return Err(Refusal::wrong(format!("inline keyboard button \"{label}\" needs exactly one action")));
    }
    if let Some(data) = button.get("callback_data").and_then(Value::as_str)
        && !(1..=MAX_DATA).contains(&data.len())
    {
        return Err(Refusal::wrong("BUTTON_DATA_INVALID"));
    }
    if let Some(url) = button.get("url").and_then(Value::as_str) {
        let known = ["http://", "https://", "tg://"].iter().any(|kind| url.starts_with(kind));
        if !known || url.contains(char::is_whitespace) {
            return Err(Refusal::wrong(format!("inline keyboard button URL '{url}' is invalid: Wrong HTTP URL")));
        }
    }
    match button.get("style").and_then(Value::as_str) {
        None | Some("danger" | "success" | "primary") => Ok(()),
        Some(_) => Err(Refusal::wrong("BUTTON_STYLE_INVALID")),
    }
}
