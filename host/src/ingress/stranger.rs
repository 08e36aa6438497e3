//! People who are not let in: one sentence a day, or a code that a master may take.

use super::answer::Said;
use super::arrive::Arrived;
use super::desk::Desk;
use crate::admission::AccessVerdict;
use crate::config::BotConfig;
use crate::journal::Event;
use crate::store::{Key, Op, StoreError, Tree};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);
/// Codes that may wait at a time.
const PENDING: usize = 20;
/// Letters and digits nobody mistakes for another.
const ALPHABET: &[u8; 30] = b"ABCDEFGHJKMNPQRSTVWXYZ23456789";
/// Characters of a code.
const LENGTH: usize = 8;

/// Keys in `actions`: who was refused today, who has a code this hour, the codes.
const REFUSED: &str = "refused";
const CODED: &str = "coded";
const CODE: &str = "code";
/// Key in `overrides`.
const PAIRED: &str = "paired";

/// What to say to somebody who is not let in; mostly nothing.
pub(super) async fn refuse(desk: &Desk, arrived: &Arrived, verdict: AccessVerdict, bot: &BotConfig) -> Option<Said> {
    match refused(desk, arrived, verdict, bot).await {
        Ok(said) => said,
        Err(error) => {
            tracing::error!(%error, "a stranger cannot be dealt with");
            None
        }
    }
}

async fn refused(
    desk: &Desk,
    arrived: &Arrived,
    verdict: AccessVerdict,
    bot: &BotConfig,
) -> Result<Option<Said>, StoreError> {
    let facts = &arrived.who.facts;
    let id = match facts.principal.is_identified() {
        true => facts.principal.id(),
        false => facts.conversation.to_string(),
    };
    let code = match verdict {
        AccessVerdict::MayPair => new_code(desk, &id).await?,
        _ => None,
    };
    let first = once(desk, (REFUSED, &id), DAY).await?;
    if first {
        tracing::info!(?verdict, endpoint = arrived.endpoint.id, "access refused");
        note(desk, "access.refused", &id, json!({"reason": reason(verdict)})).await;
    }
    let texts = desk.texts(bot);
    if let Some(code) = code {
        return Ok(Some(Said::notice(texts.get("access-pairing", &[("code", &code)]))));
    }
    let wanted = match verdict {
        AccessVerdict::Stranger { reply } => reply,
        AccessVerdict::MayPair => bot.access.stranger_reply,
        AccessVerdict::Granted | AccessVerdict::Denied => false,
    };
    Ok((first && wanted).then(|| Said::notice(texts.get("access-stranger", &[("principal", &id)]))))
}

fn reason(verdict: AccessVerdict) -> &'static str {
    match verdict {
        AccessVerdict::Denied => "denied",
        AccessVerdict::MayPair => "may_pair",
        AccessVerdict::Stranger { .. } | AccessVerdict::Granted => "stranger",
    }
}

pub(super) async fn note(desk: &Desk, kind: &'static str, principal: &str, data: Value) {
    let event = Event { principal: Some(principal.to_owned()), ..Event::new(kind, data) };
    if let Err(error) = desk.core.journal.append(event).await {
        tracing::warn!(%error, kind, "an access event was not journaled");
    }
}

/// Whether this is the first time within `every`; it counts from now on.
async fn once(desk: &Desk, (what, id): (&str, &str), every: Duration) -> Result<bool, StoreError> {
    let key = Key::new().str(what).str(id);
    let ops =
        vec![Op::check(Tree::Actions, key.clone(), None), Op::put_for(Tree::Actions, key, json!({"id": id}), every)];
    match desk.core.store.batch(ops).await {
        Ok(()) => Ok(true),
        Err(StoreError::Conflict { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// A code for a stranger; none while too many wait, or when this person got one within the hour.
async fn new_code(desk: &Desk, id: &str) -> Result<Option<String>, StoreError> {
    let store = &desk.core.store;
    let pending = store.scan_prefix(Tree::Actions, &Key::new().str(CODE), None, PENDING).await?;
    if pending.len() >= PENDING || !once(desk, (CODED, id), HOUR).await? {
        return Ok(None);
    }
    let code = random_code();
    store.batch(vec![Op::put_for(Tree::Actions, code_key(&code), json!({"principal": id}), HOUR)]).await?;
    store.barrier().await?;
    Ok(Some(code))
}

fn code_key(code: &str) -> Key {
    Key::new().str(CODE).str(code)
}

/// Characters nobody can guess: the hash of two fresh ids, which hold more random bits than the code.
fn random_code() -> String {
    let mixed = Sha256::new().chain_update(uuid::Uuid::now_v7()).chain_update(uuid::Uuid::now_v7()).finalize();
    let mut number = mixed.iter().take(16).fold(0u128, |n, byte| (n << 8) | u128::from(*byte));
    let mut code = String::with_capacity(LENGTH);
    for _ in 0..LENGTH {
        let digit = usize::try_from(number % 30).unwrap_or(0);
        code.push(char::from(ALPHABET[digit]));
        number /= 30;
    }
    code
}

/// `/pair CODE`, by a master: whoever got the code is let in from now on; who that is. A code works once.
pub(super) async fn pair(desk: &Desk, by: &str, code: &str) -> Result<Option<String>, StoreError> {
    let store = &desk.core.store;
    let key = code_key(&code.trim().to_uppercase());
    let Some(stored) = store.get(Tree::Actions, &key).await? else { return Ok(None) };
    let Some(id) = stored["principal"].as_str().map(str::to_owned) else { return Ok(None) };
    let ops = vec![
        Op::check(Tree::Actions, key.clone(), Some(stored.clone())),
        Op::delete(Tree::Actions, key),
        Op::put(Tree::Overrides, Key::new().str(PAIRED).str(&id), json!({"by": by, "at": desk.core.clock.now()})),
    ];
    match store.batch(ops).await {
        Ok(()) => {}
        Err(StoreError::Conflict { .. }) => return Ok(None),
        Err(error) => return Err(error),
    }
    store.barrier().await?;
    note(desk, "access.paired", by, json!({"paired": id})).await;
    let_in(desk).await?;
    Ok(Some(id))
}

/// Puts the stored pairings into the live policy.
pub(super) async fn let_in(desk: &Desk) -> Result<(), StoreError> {
    let found = desk.core.store.scan_prefix(Tree::Overrides, &Key::new().str(PAIRED), None, usize::MAX).await?;
    desk.policy.pair(found.iter().filter_map(|(key, _)| key.last_str()).collect());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_use_the_alphabet_and_differ() {
        let codes: std::collections::HashSet<String> = (0..100).map(|_| random_code()).collect();
        assert_eq!(codes.len(), 100);
        assert!(codes.iter().all(|c| c.len() == LENGTH && c.bytes().all(|b| ALPHABET.contains(&b))));
    }
}
