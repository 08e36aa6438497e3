//! Embeds.

use crate::form::{Fields, FormErrors, under};
use serde_json::Value;

const TOTAL: usize = 6000;

pub(crate) fn check(embeds: &[Value], errors: &mut FormErrors) {
    let mut total = 0;
    for (i, value) in embeds.iter().enumerate() {
        let embed = Fields::new(value, under("embeds", i));
        let mut count = |text: Option<&str>| total += text.map_or(0, |t| t.chars().count());
        count(embed.text("title", (0, 256), errors));
        count(embed.text("description", (0, 4096), errors));
        if let Some(footer) = embed.get("footer") {
            count(Fields::new(footer, embed.path("footer")).required_text("text", (1, 2048), errors));
        }
        if let Some(author) = embed.get("author") {
            count(Fields::new(author, embed.path("author")).required_text("name", (1, 256), errors));
        }
        let at = embed.path("fields");
        for (n, value) in embed.list("fields", 25, errors).iter().enumerate() {
            let field = Fields::new(value, under(&at, n));
            count(field.required_text("name", (1, 256), errors));
            count(field.required_text("value", (1, 1024), errors));
        }
    }
    if total > TOTAL {
        let message = format!("Embed size exceeds maximum size of {TOTAL}");
        errors.add("embeds", "MAX_EMBED_SIZE_EXCEEDED", &message);
    }
}
