//! Where updates are pushed.

use super::{Call, Done, updates};
use crate::refusal::Refusal;
use crate::world::{Webhook, World};
use serde_json::json;

const MAX_SECRET: usize = 256;

pub(super) fn set(world: &mut World, call: &Call<'_>) -> Done {
    let asked = call.asked;
    let url = asked.text("url").unwrap_or_default();
    let loopback = ["http://127.0.0.1:", "http://localhost:"].iter().any(|start| url.starts_with(start));
    if !url.is_empty() && !url.starts_with("https://") && !loopback {
        return Err(Refusal::wrong("bad webhook: An HTTPS URL must be provided for webhook"));
    }
    let secret = asked.text("secret_token").filter(|secret| !secret.is_empty());
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if secret.is_some_and(|s| s.len() > MAX_SECRET || !s.chars().all(plain)) {
        return Err(Refusal::wrong("secret token contains unallowed characters"));
    }
    let max_connections = asked.number("max_connections").unwrap_or(40);
    if !(1..=100).contains(&max_connections) {
        return Err(Refusal::wrong("max_connections must be from 1 to 100"));
    }
    let allowed = updates::allowed(asked)?;
    let Some(bot) = world.bot(call.bot) else { return Err(Refusal::plain(401, "Unauthorized")) };
    if let Some(allowed) = allowed {
        bot.queue.allowed = allowed;
    }
    if asked.flag("drop_pending_updates") {
        bot.queue.drop_all();
    }
    bot.poll += 1;
    bot.poll_ended_by = "setWebhook request";
    let secret = secret.map(str::to_owned);
    bot.webhook = (!url.is_empty()).then(|| Webhook { url: url.into(), secret, max_connections, last_error: None });
    Ok(true.into())
}

pub(super) fn delete(world: &mut World, call: &Call<'_>) -> Done {
    let Some(bot) = world.bot(call.bot) else { return Err(Refusal::plain(401, "Unauthorized")) };
    if call.asked.flag("drop_pending_updates") {
        bot.queue.drop_all();
    }
    bot.webhook = None;
    Ok(true.into())
}

pub(super) fn info(world: &mut World, call: &Call<'_>) -> Done {
    let Some(bot) = world.bot(call.bot) else { return Err(Refusal::plain(401, "Unauthorized")) };
    let url = bot.webhook.as_ref().map_or("", |w| w.url.as_str());
    let mut out = json!({"url": url, "has_custom_certificate": false, "pending_update_count": bot.queue.waiting()});
    if let Some(webhook) = &bot.webhook {
        out["max_connections"] = webhook.max_connections.into();
        if let Some((at, why)) = &webhook.last_error {
            out["last_error_date"] = json!(at);
            out["last_error_message"] = json!(why);
        }
    }
    if let Some(list) = &bot.queue.allowed {
        out["allowed_updates"] = json!(list);
    }
    Ok(out)
}
