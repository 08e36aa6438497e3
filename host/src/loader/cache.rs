//! Known hashes: a file whose stat is unchanged is not opened again.

use super::disk::{ReadFault, Roots, Stat};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A hash taken sooner after the file's last change may miss a later change in the same clock tick.
const SETTLED: Duration = Duration::from_millis(100);

#[derive(Debug)]
struct Known {
    stat: Stat,
    sha256: Arc<str>,
    bytes: Option<Arc<[u8]>>,
    trusted: bool,
    scan: u64,
}

/// Content of a file, as far as it was asked for.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub(super) sha256: Arc<str>,
    pub(super) bytes: Option<Arc<[u8]>>,
}

/// Hashes (and small texts) by path, kept between scans.
#[derive(Debug, Default)]
pub(super) struct Cache {
    known: HashMap<PathBuf, Known>,
    scan: u64,
    /// Files opened in this scan.
    pub(super) opened: u64,
}

/// The circumstances of one scan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pass<'a> {
    pub(super) roots: &'a Roots,
    /// Since the epoch, on the clock of the file system.
    pub(super) now: Duration,
    /// Reads everything.
    pub(super) full: bool,
}

impl Cache {
    /// Begins a scan; what it does not ask for is forgotten at its end.
    pub(super) fn begin(&mut self) {
        self.scan += 1;
        self.opened = 0;
    }

    /// Forgets files that the scan did not see.
    pub(super) fn end(&mut self) {
        let scan = self.scan;
        self.known.retain(|_, k| k.scan == scan);
    }

    /// Hash of a listed file, and its bytes with `keep`.
    pub(super) fn content(
        &mut self,
        pass: Pass<'_>,
        path: &Path,
        listed: &Stat,
        keep: bool,
        limit: u64,
    ) -> Result<Content, ReadFault> {
        if listed.size > limit {
            return Err(ReadFault::TooBig);
        }
        if let Some(known) = self.known.get_mut(path) {
            let again = known.scan == self.scan;
            let fits = known.stat == *listed && (!keep || known.bytes.is_some());
            if fits && (again || (known.trusted && !pass.full)) {
                known.scan = self.scan;
                return Ok(Content { sha256: known.sha256.clone(), bytes: known.bytes.clone() });
            }
        }
        let mut hash = Sha256::new();
        let mut kept = Vec::new();
        self.opened += 1;
        pass.roots.read(path, listed, limit, &mut |piece| {
            hash.update(piece);
            if keep {
                kept.extend_from_slice(piece);
            }
        })?;
        let changed = Duration::new(listed.ctime.0.max(0) as u64, listed.ctime.1.clamp(0, 999_999_999) as u32);
        let known = Known {
            stat: *listed,
            sha256: hex::encode(hash.finalize()).into(),
            bytes: keep.then(|| kept.into()),
            trusted: pass.now.checked_sub(changed).is_some_and(|age| age >= SETTLED),
            scan: self.scan,
        };
        let content = Content { sha256: known.sha256.clone(), bytes: known.bytes.clone() };
        self.known.insert(path.to_path_buf(), known);
        Ok(content)
    }
}
