//! `getUpdates`: one poller at a time, confirmed by the next offset.

use crate::asked::Asked;
use crate::facts::facts;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::world::World;
use serde_json::Value;

const MAX_LIMIT: i64 = 100;
const MAX_TIMEOUT: i64 = 50;

/// The list of kinds of a request: `None` when left out (the old one stays), `Some(None)` for an empty one.
pub(super) fn allowed(asked: &Asked) -> Result<Option<Option<Vec<String>>>, Refusal> {
    let Some(list) = asked.get("allowed_updates").as_array() else { return Ok(None) };
    let list: Vec<String> = list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    match list.iter().find(|kind| !facts().update_kinds().any(|known| known == **kind)) {
        Some(kind) => Err(Refusal::wrong(format!("there are no updates of kind \"{kind}\""))),
        None => Ok(Some(Some(list).filter(|list| !list.is_empty()))),
    }
}

/// A poll that waits.
pub(crate) struct Poll {
    bot: i64,
    number: u64,
    until_ms: i64,
    limit: usize,
}

/// Begins a poll; one that waits already is terminated.
pub(crate) fn begin(world: &mut World, bot: i64, asked: &Asked) -> Result<Poll, Refusal> {
    let allowed = allowed(asked)?;
    let limit = asked.number("limit").unwrap_or(MAX_LIMIT).clamp(1, MAX_LIMIT);
    let timeout = asked.number("timeout").unwrap_or(0).clamp(0, MAX_TIMEOUT);
    let now = world.now_ms();
    let Some(account) = world.bot(bot) else { return Err(Refusal::plain(401, "Unauthorized")) };
    if account.webhook.is_some() {
        let why = "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
        return Err(Refusal::plain(409, format!("Conflict: {why}")));
    }
    if let Some(allowed) = allowed {
        account.queue.allowed = allowed;
    }
    account.queue.confirm(asked.number("offset").unwrap_or(0), now);
    account.poll += 1;
    account.poll_ended_by = "other getUpdates request; make sure that only one bot instance is running";
    let limit = usize::try_from(limit).unwrap_or(1);
    Ok(Poll { bot, number: account.poll, until_ms: now + timeout * 1000, limit })
}

/// Waits for updates until the poll's time is over.
pub(crate) async fn finish(shared: &Shared, poll: Poll) -> Result<Value, Refusal> {
    let mut changes = shared.changes();
    loop {
        let step = shared.look(|world| {
            let now = world.now_ms();
            let Some(bot) = world.bot(poll.bot) else { return Some(Ok(Value::Null)) };
            if bot.poll != poll.number {
                let why = format!("Conflict: terminated by {}", bot.poll_ended_by);
                return Some(Err(Refusal::plain(409, why)));
            }
            let list = bot.queue.take(poll.limit);
            (!list.is_empty() || now >= poll.until_ms).then(|| Ok(list.into()))
        });
        if let Some(done) = step {
            return done;
        }
        shared.changed_or(&mut changes, poll.until_ms).await;
    }
}
