//! Turns the steps of a batch into one batch of sled, chunks and references included.

use super::Key;
use super::codec::{Body, Digest32, Encoded, chunk_key, decode, encode};
use super::memory::expiry;
use super::port::{Op, Tree};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Heads the keys of reference counts; no tree has this id.
const REFS: [u8; 2] = [0, b'r'];

/// Key of a record in the database.
pub(super) fn record_key(tree: Tree, key: &Key) -> Vec<u8> {
    let mut full = Vec::with_capacity(1 + key.as_bytes().len());
    full.push(tree.id());
    full.extend_from_slice(key.as_bytes());
    full
}

/// Key under which the references to a content file are counted.
pub(super) fn refs_key(digest: &[u8]) -> Vec<u8> {
    [&REFS, digest].concat()
}

/// What a batch comes to: the last word on each key, and what must hold before.
pub(super) struct Plan {
    writes: BTreeMap<Vec<u8>, Option<Encoded>>,
    checks: Vec<(Tree, Key, Option<Value>)>,
}

impl Plan {
    pub(super) fn new(ops: Vec<Op>, now_ms: u64) -> Self {
        let mut plan = Self { writes: BTreeMap::new(), checks: Vec::new() };
        for op in ops {
            match op {
                Op::Put { tree, key, value, ttl } => {
                    let full = record_key(tree, &key);
                    let encoded = encode(full.len(), &value, expiry(now_ms, ttl));
                    plan.writes.insert(full, Some(encoded));
                }
                Op::Delete { tree, key } => {
                    plan.writes.insert(record_key(tree, &key), None);
                }
                Op::Check { tree, key, expect } => plan.checks.push((tree, key, expect)),
            }
        }
        plan
    }

    /// Removes records by their keys in the database.
    pub(super) fn removal(keys: Vec<Vec<u8>>) -> Self {
        Self { writes: keys.into_iter().map(|key| (key, None)).collect(), checks: Vec::new() }
    }

    pub(super) fn checks(&self) -> &[(Tree, Key, Option<Value>)] {
        &self.checks
    }

    pub(super) fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.writes.len()
    }

    /// About how much it adds to the disk.
    pub(super) fn bytes(&self) -> u64 {
        let of = |e: &Encoded| {
            e.head.len() + e.chunks.iter().map(Vec::len).sum::<usize>() + e.file.as_ref().map_or(0, |(_, f)| f.len())
        };
        self.writes.values().flatten().map(|e| of(e) as u64).sum()
    }

    /// Files that must be durable before the batch is applied.
    pub(super) fn files(&self) -> Vec<(Digest32, &[u8])> {
        let files = self.writes.values().flatten().filter_map(|e| e.file.as_ref());
        files.map(|(digest, bytes)| (*digest, bytes.as_slice())).collect()
    }

    /// The batch, and the files that lose their last reference by it. Whoever calls it holds off all others
    /// until the batch is applied.
    pub(super) fn assemble(&self, db: &sled::Tree) -> Result<(sled::Batch, Vec<Digest32>), sled::Error> {
        let mut batch = sled::Batch::default();
        let mut references: HashMap<Digest32, i64> = HashMap::new();
        for (full, encoded) in &self.writes {
            let chunks = encoded.as_ref().map_or(0, |e| e.chunks.len() as u32);
            drop_old(db, full, chunks, &mut batch, &mut references)?;
            let Some(encoded) = encoded else {
                batch.remove(full.as_slice());
                continue;
            };
            batch.insert(full.as_slice(), encoded.head.as_slice());
            for (n, chunk) in (0u32..).zip(&encoded.chunks) {
                batch.insert(chunk_key(full, n), chunk.as_slice());
            }
            if let Some((digest, _)) = &encoded.file {
                *references.entry(*digest).or_default() += 1;
            }
        }
        let lost = count_references(db, references, &mut batch)?;
        Ok((batch, lost))
    }
}

/// Removes what the present record under `full` has beyond its head, as far as it is not written anew.
fn drop_old(
    db: &sled::Tree,
    full: &[u8],
    keep_chunks: u32,
    batch: &mut sled::Batch,
    references: &mut HashMap<Digest32, i64>,
) -> Result<(), sled::Error> {
    let Some(old) = db.get(full)? else { return Ok(()) };
    // A record nobody can read has nothing that could be found and removed.
    let Ok(Some(head)) = decode(&old) else { return Ok(()) };
    match head.body {
        Body::Whole(_) => {}
        Body::Chunks { count, .. } => {
            for n in keep_chunks..count {
                batch.remove(chunk_key(full, n));
            }
        }
        Body::File { digest, .. } => *references.entry(digest).or_default() -= 1,
    }
    Ok(())
}

fn count_references(
    db: &sled::Tree,
    references: HashMap<Digest32, i64>,
    batch: &mut sled::Batch,
) -> Result<Vec<Digest32>, sled::Error> {
    let mut lost = Vec::new();
    for (digest, change) in references {
        let key = refs_key(&digest);
        let before = db.get(&key)?.and_then(|v| Some(i64::from_be_bytes(v.as_ref().try_into().ok()?))).unwrap_or(0);
        let after = before + change;
        if after > 0 {
            batch.insert(key, after.to_be_bytes().as_slice());
        } else {
            batch.remove(key);
            lost.push(digest);
        }
    }
    Ok(lost)
}
