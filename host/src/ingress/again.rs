//! **Ask again**: whoever asked may have a message that a restart broke off answered once more, for a day.

use super::about::{About, Repeats};
use super::desk::Desk;
use crate::session::SessionKey;
use crate::store::{Key, Op, StoreError, Tree};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long the offer stands.
const STANDS: Duration = Duration::from_secs(24 * 3600);
/// Words that take it, whatever the language; the label of the button is one of them.
const WORDS: [&str; 5] = ["again", "ask again", "再问一次", "重试", "再来一次"];
/// Part of the key of an offer.
const MARK: &str = "again";

/// A stored offer.
#[derive(Debug, Serialize, Deserialize)]
struct Offer {
    /// Who may take it.
    principal: String,
    about: About,
}

/// Whether a whole message takes an offer.
pub(super) fn is_word(text: &str) -> bool {
    let text =
        text.trim().trim_matches(|c: char| matches!(c, '"' | '“' | '”' | '.' | '!' | '。' | '！')).to_lowercase();
    WORDS.contains(&text.as_str())
}

/// The record that offers to answer `about` again. It belongs into the batch that ends the turn.
pub(super) fn offer(session: &SessionKey, turn_id: &str, about: &About) -> Op {
    let mut about = about.clone();
    about.repeats = Some(Repeats { retry_of: turn_id.to_owned(), rerun: false });
    let offer = Offer { principal: about.message.principal.id(), about };
    // data and text only: nothing in it that JSON lacks
    let value = serde_json::to_value(&offer).unwrap_or_default();
    Op::put_for(Tree::Actions, prefix(session).str(turn_id), value, STANDS)
}

fn prefix(session: &SessionKey) -> Key {
    Key::new().str(session.as_str()).str(MARK)
}

/// Takes the newest offer of this person in a session. Of two that try, one gets it.
pub(super) async fn take(desk: &Desk, session: &SessionKey, principal: &str) -> Result<Option<About>, StoreError> {
    take_where(desk, session, |offer, _| offer.principal == principal).await
}

/// What became of the wish to take one offer.
pub(super) enum Taken {
    /// The message, to be answered once more.
    About(Box<About>),
    /// It is somebody else's.
    NotYours,
    /// It was taken, or never made.
    Gone,
}

/// Takes the offer about one turn, as its button does.
pub(super) async fn take_of(
    desk: &Desk,
    session: &SessionKey,
    turn: &str,
    principal: &str,
) -> Result<Taken, StoreError> {
    let about = take_where(desk, session, |offer, of| of == turn && offer.principal == principal).await?;
    if let Some(about) = about {
        return Ok(Taken::About(Box::new(about)));
    }
    let stands = desk.core.store.get(Tree::Actions, &prefix(session).str(turn)).await?.is_some();
    Ok(if stands { Taken::NotYours } else { Taken::Gone })
}

async fn take_where(
    desk: &Desk,
    session: &SessionKey,
    fits: impl Fn(&Offer, &str) -> bool + Send,
) -> Result<Option<About>, StoreError> {
    let store = &desk.core.store;
    let found = store.scan_prefix(Tree::Actions, &prefix(session), None, usize::MAX).await?;
    for (key, value) in found.into_iter().rev() {
        let Ok(offer) = serde_json::from_value::<Offer>(value.clone()) else { continue };
        if !fits(&offer, &key.last_str().unwrap_or_default()) {
            continue;
        }
        if store.compare_and_swap(Tree::Actions, &key, Some(&value), None).await? {
            store.barrier().await?;
            return Ok(Some(offer.about));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::is_word;

    #[test]
    fn the_whole_message_is_the_word() {
        assert!(["again", " Ask again ", "\"again\"", "再问一次。", "AGAIN!"].into_iter().all(is_word));
        assert!(!["", "not again", "again please", "yes"].into_iter().any(is_word));
    }
}
