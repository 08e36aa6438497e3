//! What people allowed for a session: kept over reload and restart, forgotten when the tool changes.

use super::SessionKey;
use super::sessions::head_key;
use crate::config::SessionScope;
use crate::store::{Key, Op, SharedStore, StoreError, Tree, update};
use crate::task::SharedClock;
use chrono::{DateTime, Utc};
use plugin_sdk::{ConversationRef, Principal};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Grants of one session; of one more the least recently used leaves.
const PER_SESSION: usize = 64;

/// One remembered yes.
// SHAPE: 03 §9
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    /// 128 random bits, hex.
    pub id: String,
    /// Session it holds in.
    pub session: SessionKey,
    /// Whose calls it covers, text form.
    pub requester: String,
    /// Qualified name.
    pub tool: String,
    /// Code, description and schema it was given for.
    pub tool_hash: String,
    /// Who gave it, text form.
    pub granted_by: String,
    /// When.
    pub granted_at: DateTime<Utc>,
    /// When it last answered a call.
    pub used_at: DateTime<Utc>,
}

impl Grant {
    /// Whether it was given in this place, whoever's session it is.
    fn stands_in(&self, place: &ConversationRef) -> bool {
        let Some((platform, user)) = self.requester.split_once(':') else { return false };
        let who = Principal::person(platform, user, None);
        [SessionScope::Conversation, SessionScope::User].iter().any(|s| SessionKey::of(place, &who, *s) == self.session)
    }
}

/// What a session's people allowed; shared by everything that runs in it.
type Shared = Arc<Mutex<Vec<Grant>>>;

/// All grants of a host. Clones share them.
#[derive(Clone)]
pub struct Grants(Arc<Inner>);

struct Inner {
    store: SharedStore,
    clock: SharedClock,
    /// Lists that are in use: a revoke must reach a turn that runs.
    open: tokio::sync::Mutex<HashMap<SessionKey, Weak<Mutex<Vec<Grant>>>>>,
}

impl Grants {
    /// Grants kept in `store`.
    pub fn new(store: SharedStore, clock: SharedClock) -> Self {
        Self(Arc::new(Inner { store, clock, open: tokio::sync::Mutex::default() }))
    }

    /// What `requester` was allowed in `session`, as it stands at each later look.
    pub async fn of(&self, session: &SessionKey, requester: &str) -> Result<SessionGrants, StoreError> {
        let list = self.shared(session).await?;
        Ok(SessionGrants { grants: self.clone(), session: session.clone(), requester: requester.to_owned(), list })
    }

    async fn shared(&self, session: &SessionKey) -> Result<Shared, StoreError> {
        let mut open = self.0.open.lock().await;
        if let Some(list) = open.get(session).and_then(Weak::upgrade) {
            return Ok(list);
        }
        open.retain(|_, list| list.strong_count() > 0);
        let list = Arc::new(Mutex::new(self.list(session).await?));
        open.insert(session.clone(), Arc::downgrade(&list));
        Ok(list)
    }

    /// Everything that is allowed in a session, the oldest first.
    pub async fn list(&self, session: &SessionKey) -> Result<Vec<Grant>, StoreError> {
        let found = self.0.store.scan_prefix(Tree::Grants, &head_key(session), None, usize::MAX).await?;
        // A grant that cannot be read allows nothing.
        let mut grants: Vec<Grant> = found.into_iter().filter_map(|(_, v)| serde_json::from_value(v).ok()).collect();
        grants.sort_by_key(|g| g.granted_at);
        Ok(grants)
    }

    /// Everything that is allowed to anybody in a place, where everybody has a session of their own.
    pub async fn list_in(&self, place: &ConversationRef) -> Result<Vec<Grant>, StoreError> {
        let found = self.0.store.scan_prefix(Tree::Grants, &Key::new(), None, usize::MAX).await?;
        let grants = found.into_iter().filter_map(|(_, v)| serde_json::from_value::<Grant>(v).ok());
        let mut grants: Vec<Grant> = grants.filter(|g| g.stands_in(place)).collect();
        grants.sort_by_key(|g| g.granted_at);
        Ok(grants)
    }

    /// Takes one back; it counts no more when this returns. `None` when there is none of this id.
    pub async fn revoke(&self, session: &SessionKey, id: &str) -> Result<Option<Grant>, StoreError> {
        let list = self.shared(session).await?;
        let found = {
            let mut list = lock(&list);
            let at = list.iter().position(|g| g.id == id);
            at.map(|at| list.remove(at))
        };
        self.0.store.batch(vec![Op::delete(Tree::Grants, key(session, id))]).await?;
        self.0.store.barrier().await?;
        Ok(found)
    }

    /// Ends all of a session; gives what ended.
    pub async fn forget(&self, session: &SessionKey) -> Result<Vec<Grant>, StoreError> {
        let list = self.shared(session).await?;
        let ended = std::mem::take(&mut *lock(&list));
        let ops = ended.iter().map(|g| Op::delete(Tree::Grants, key(session, &g.id))).collect();
        self.0.store.batch(ops).await?;
        Ok(ended)
    }
}

/// What one person was allowed in one session.
#[derive(Clone)]
pub struct SessionGrants {
    grants: Grants,
    session: SessionKey,
    requester: String,
    list: Shared,
}

impl SessionGrants {
    /// Nothing is allowed: the usual case, and the cheapest to know.
    pub fn is_empty(&self) -> bool {
        lock(&self.list).is_empty()
    }

    /// The grant that covers a tool as it is now, unless it lay unused for longer than `remember`.
    pub fn standing(&self, tool: &str, tool_hash: &str, remember: Duration) -> Option<String> {
        let now = self.grants.0.clock.now();
        let list = lock(&self.list);
        let fits = |g: &&Grant| g.requester == self.requester && g.tool == tool && g.tool_hash == tool_hash;
        let fresh = |g: &&Grant| now.signed_duration_since(g.used_at).to_std().unwrap_or_default() <= remember;
        list.iter().find(|g| fits(g) && fresh(g)).map(|g| g.id.clone())
    }

    /// Remembers a yes of `by`, durable when this returns; gives its id and the grant that had to leave.
    pub async fn add(&self, tool: &str, tool_hash: &str, by: &str) -> Result<(String, Option<Grant>), StoreError> {
        let now = self.grants.0.clock.now();
        let grant = Grant {
            id: super::fresh_id(),
            session: self.session.clone(),
            requester: self.requester.clone(),
            tool: tool.to_owned(),
            tool_hash: tool_hash.to_owned(),
            granted_by: by.to_owned(),
            granted_at: now,
            used_at: now,
        };
        let id = grant.id.clone();
        // What was allowed to an earlier form of the tool is over.
        let (replaced, left) = {
            let list = lock(&self.list);
            let same = |g: &&Grant| g.requester == grant.requester && g.tool == grant.tool;
            let replaced: Vec<Grant> = list.iter().filter(same).cloned().collect();
            let full = list.len() - replaced.len() >= PER_SESSION;
            let oldest = list.iter().filter(|g| !same(g)).min_by_key(|g| g.used_at).cloned();
            (replaced, oldest.filter(|_| full))
        };
        let gone: Vec<String> = replaced.iter().chain(&left).map(|g| g.id.clone()).collect();
        let mut ops: Vec<Op> = gone.iter().map(|id| Op::delete(Tree::Grants, key(&self.session, id))).collect();
        ops.push(Op::put(Tree::Grants, key(&self.session, &id), written(&grant)));
        self.grants.0.store.batch(ops).await?;
        self.grants.0.store.barrier().await?;
        let mut list = lock(&self.list);
        list.retain(|g| !gone.contains(&g.id));
        list.push(grant);
        Ok((id, left))
    }

    /// A grant answered a call: it lives on from now.
    pub async fn used(&self, id: &str) -> Result<(), StoreError> {
        let now = self.grants.0.clock.now();
        if let Some(grant) = lock(&self.list).iter_mut().find(|g| g.id == id) {
            grant.used_at = now;
        }
        // A grant that was revoked meanwhile must not come back.
        update(&*self.grants.0.store, Tree::Grants, &key(&self.session, id), |old| {
            let mut grant: Grant = serde_json::from_value(old?).ok()?;
            grant.used_at = now;
            Some(written(&grant))
        })
        .await?;
        Ok(())
    }
}

fn lock(list: &Mutex<Vec<Grant>>) -> MutexGuard<'_, Vec<Grant>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(session: &SessionKey, id: &str) -> Key {
    head_key(session).str(id)
}

/// A grant holds nothing that JSON cannot.
fn written(grant: &Grant) -> Value {
    serde_json::to_value(grant).unwrap_or(Value::Null)
}
