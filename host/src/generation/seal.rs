//! The last step that may fail: checks the base, numbers the generation and records its inputs durably.

use super::{Generation, Published, SealError};
use crate::candidate::{Contents, FailedPlugin};
use crate::store::{Key, Op, Store, Tree};
use crate::task::Clock;
use serde_json::{Value, json};
use std::sync::Arc;

/// Input lists that stay in the store.
const RECORDED: u64 = 5;

/// A candidate that passed every step.
pub struct SealInput {
    /// What it holds.
    pub contents: Arc<Contents>,
    /// Plugins that were left out.
    pub failed: Vec<FailedPlugin>,
    /// Number of the generation it was prepared against.
    pub base: Option<u64>,
    /// The reload.
    pub reload_id: String,
}

/// A generation ready to be exchanged: everything is allocated, nothing is left to check. Only `seal` makes one.
pub struct Sealed(Arc<Published>);

impl Sealed {
    /// Number it will answer with.
    pub fn number(&self) -> u64 {
        self.0.active.number()
    }

    pub(super) fn into_published(self) -> Arc<Published> {
        self.0
    }
}

/// Seals. `published` is the number that is published now. Every tool is bound, every schema and permit
/// compiled: the types of `Contents` hold nothing else.
pub async fn seal(
    input: SealInput,
    published: Option<u64>,
    store: &dyn Store,
    clock: &dyn Clock,
) -> Result<Sealed, SealError> {
    if input.base != published {
        return Err(SealError::BaseChanged { base: input.base, published });
    }
    let number = published.unwrap_or(0).max(last_number(store).await?) + 1;
    let now = clock.now();
    let record = json!({
        "number": number,
        "digest": input.contents.digest,
        "reload_id": input.reload_id,
        "published_at": now,
        "inputs": input.contents.inputs,
    });
    let mut batch = vec![
        Op::put(Tree::Generations, Key::new().u64(number), record),
        Op::put(Tree::Meta, last_key(), json!(number)),
    ];
    if let Some(old) = number.checked_sub(RECORDED).filter(|n| *n > 0) {
        batch.push(Op::delete(Tree::Generations, Key::new().u64(old)));
    }
    store.batch(batch).await?;
    store.barrier().await?;
    let generation = Generation::new(number, input.contents, input.reload_id, now);
    Ok(Sealed(Arc::new(Published { active: Arc::new(generation), failed: input.failed })))
}

/// The number of the last generation of this data folder, whichever process published it.
async fn last_number(store: &dyn Store) -> Result<u64, SealError> {
    let stored = store.get(Tree::Meta, &last_key()).await?;
    Ok(stored.as_ref().and_then(Value::as_u64).unwrap_or(0))
}

fn last_key() -> Key {
    Key::new().str("generation").str("last")
}
