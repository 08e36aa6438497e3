//! Buttons: an id nobody can guess, resolved in the store to what it does.

use super::Questions;
use super::record::{Decision, OpenQuestion, QuestionState};
use crate::session::SessionKey;
use crate::store::{Key, Op, StoreError, Tree};
use chrono::{DateTime, Utc};
use plugin_sdk::ConversationRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::time::Duration;

/// How long a button is known after its question ended, so that a late press gets a sentence.
pub(super) const KEPT: Duration = Duration::from_secs(24 * 3600);

/// What a button does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "does", rename_all = "snake_case")]
pub enum Act {
    /// Allow once.
    Once,
    /// Allow for this session.
    Session,
    /// Deny.
    Deny,
    /// One of the answers of a question.
    Answer {
        /// The answer.
        value: String,
        /// For `pick`.
        index: Option<usize>,
    },
    /// The original message once more, as a new turn.
    Again,
    /// Takes a remembered yes back; `record` is its id.
    Revoke,
}

impl Act {
    /// What it decides about its question.
    pub fn decision(&self) -> Option<Decision> {
        match self {
            Act::Once => Some(Decision::once()),
            Act::Session => Some(Decision::session()),
            Act::Deny => Some(Decision::reject()),
            Act::Answer { value, index } => {
                Some(Decision { state: QuestionState::Answered, answer: value.clone(), index: *index })
            }
            Act::Again | Act::Revoke => None,
        }
    }
}

/// A stored button.
// SHAPE: 07 §7
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// What it does.
    pub action: Act,
    /// Session of the record.
    pub session: SessionKey,
    /// The record: a question, a grant, the turn to repeat.
    pub record: String,
    /// Where the button stands.
    pub conversation: ConversationRef,
    /// From when on it does nothing.
    pub expires_at: DateTime<Utc>,
}

impl Questions {
    /// Ids of new buttons, stored and known for `time`.
    pub async fn new_actions(&self, actions: Vec<Action>, time: Duration) -> Result<Vec<String>, StoreError> {
        let ids: Vec<String> = actions.iter().map(|_| action_id()).collect();
        let puts = ids.iter().zip(&actions).map(|(id, action)| {
            let value = serde_json::to_value(action).unwrap_or(Value::Null);
            Op::put_for(Tree::Actions, action_key(id), value, time)
        });
        self.0.store.batch(puts.collect()).await?;
        Ok(ids)
    }

    /// What a pressed button does; `None` when it is unknown, or stands somewhere else.
    pub async fn action(&self, id: &str, pressed_in: &ConversationRef) -> Result<Option<Action>, StoreError> {
        let Some(value) = self.0.store.get(Tree::Actions, &action_key(id)).await? else { return Ok(None) };
        let action = serde_json::from_value::<Action>(value).ok();
        Ok(action.filter(|a| a.conversation == *pressed_in && self.0.clock.now() <= a.expires_at))
    }

    /// The question of a button.
    pub async fn question(&self, session: &SessionKey, id: &str) -> Result<Option<OpenQuestion>, StoreError> {
        let key = crate::session::sessions::head_key(session).str(id);
        let found = self.0.store.get(Tree::Questions, &key).await?;
        Ok(found.and_then(|value| serde_json::from_value(value).ok()))
    }
}

fn action_key(id: &str) -> Key {
    Key::new().str(id)
}

/// `u1:` and 128 random bits.
fn action_id() -> String {
    let (one, two) = (uuid::Uuid::now_v7(), uuid::Uuid::now_v7());
    let mixed = Sha256::new().chain_update(one).chain_update(two).finalize();
    // 128 bits in groups of six, four zero bits behind them.
    let bits = mixed.iter().take(16).fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
    let digit = |n: u32| char::from(LETTERS[usize::try_from((bits >> 2) >> (120 - n * 6) & 63).unwrap_or(0)]);
    let last = char::from(LETTERS[usize::try_from((bits & 3) << 4).unwrap_or(0)]);
    (0..21).map(digit).chain([last]).fold("u1:".to_string(), |mut id, c| {
        id.push(c);
        id
    })
}

/// URL-safe base64.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

#[cfg(test)]
mod tests {
    use super::action_id;

    #[test]
    fn ids_are_short_and_never_the_same() {
        let (a, b) = (action_id(), action_id());
        assert_ne!(a, b);
        assert_eq!((a.len(), a.starts_with("u1:")), (25, true), "{a}");
        assert!(a[3..].bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_'), "{a}");
    }
}
