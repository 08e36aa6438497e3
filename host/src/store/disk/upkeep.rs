//! What keeps the space of a database in order: expired records, stray files, counts.

use super::Disk;
use crate::store::StoreError;
use crate::store::codec::{Digest32, decode};
use crate::store::memory::is_expired;
use crate::store::plan::{Plan, refs_key};
use crate::store::port::{StoreStats, Tree};
use std::collections::HashSet;
use std::sync::PoisonError;

impl Disk {
    /// Removes content files that no record refers to. Called once, before anybody else uses the store.
    pub(in crate::store) fn drop_strays(&self) -> Result<(), StoreError> {
        let state = self.read();
        let opened = self.opened(&state)?;
        let mut referred = HashSet::new();
        let prefix = refs_key(&[]);
        for item in opened.db.scan_prefix(&prefix) {
            let (key, _) = item.map_err(|e| self.fault(e))?;
            referred.extend(key.get(prefix.len()..).and_then(|d| Digest32::try_from(d).ok()));
        }
        Ok(self.content.keep_only(&referred)?)
    }

    pub(in crate::store) fn sweep(&self, limit: usize) -> Result<usize, StoreError> {
        let expired = self.expired(limit)?;
        let plan = Plan::removal(expired);
        let removed = plan.len();
        self.apply(&plan, self.now_ms())?;
        Ok(removed)
    }

    fn expired(&self, limit: usize) -> Result<Vec<Vec<u8>>, StoreError> {
        let state = self.read();
        let opened = self.opened(&state)?;
        let now = self.now_ms();
        let mut cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        let from = cursor.take().unwrap_or_else(|| vec![1]);
        let mut expired = Vec::new();
        for (seen, item) in opened.db.range(from..).enumerate() {
            let (full, record) = item.map_err(|e| self.fault(e))?;
            if seen == limit {
                *cursor = Some(full.to_vec());
                break;
            }
            if let Ok(Some(head)) = decode(&record)
                && is_expired(head.expires_ms, now)
            {
                expired.push(full.to_vec());
            }
        }
        Ok(expired)
    }

    pub(in crate::store) fn stats(&self) -> Result<StoreStats, StoreError> {
        let opened = self.opened(&self.read())?.clone();
        let now = self.now_ms();
        let bytes = opened.db.size_on_disk().map_err(|e| self.fault(e))? + self.content.bytes()?;
        let mut stats = StoreStats { bytes, free_bytes: (self.settings.free)()?, ..StoreStats::default() };
        for item in opened.db.iter() {
            let (full, record) = item.map_err(|e| self.fault(e))?;
            let tree = full.first().and_then(|id| Tree::from_id(*id));
            if let (Some(tree), Ok(Some(head))) = (tree, decode(&record))
                && !head.is_expired(now)
            {
                *stats.records.entry(tree).or_default() += 1;
            }
        }
        Ok(stats)
    }
}
