//! The ledger of generations: which live, which are gone, and what `generations` shows.

use super::{Generation, State};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Disposed generations that stay listed.
const LISTED_DISPOSED: usize = 20;

/// One line of `generations`.
// SHAPE: 08 §2
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GenerationInfo {
    /// Number.
    pub number: u64,
    /// Digest of its whole input.
    pub digest: String,
    /// Where it is in its life.
    pub state: State,
    /// Whether its inputs are kept for a rollback.
    pub kept: bool,
    /// When it was published.
    pub published_at: DateTime<Utc>,
    /// Leases out.
    pub leases: u64,
    /// Age of the oldest of them in seconds.
    pub oldest_lease_s: Option<f64>,
    /// Plugins that run in it.
    pub plugins: usize,
    /// Tools in its index.
    pub tools: usize,
    /// The reload that made it.
    pub reload_id: String,
}

/// published = disposed + living + quarantined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Since the start of the process.
    pub published: u64,
    /// Disposed.
    pub disposed: u64,
    /// Active, retired, disposing.
    pub living: u64,
    /// Quarantined.
    pub quarantined: u64,
}

/// See the file's head.
#[derive(Default)]
pub(super) struct Ledger(Mutex<Books>);

#[derive(Default)]
struct Books {
    published: u64,
    disposed: u64,
    /// In order of publication; quarantined ones stay.
    present: Vec<Arc<Generation>>,
    gone: VecDeque<GenerationInfo>,
    quarantined: Vec<String>,
}

impl Ledger {
    pub(super) fn admit(&self, generation: &Arc<Generation>) {
        let mut books = self.lock();
        books.published += 1;
        books.present.push(Arc::clone(generation));
    }

    /// Takes a disposed generation off the list of the present ones.
    pub(super) fn bury(&self, generation: &Arc<Generation>, now: Duration) {
        let info = describe(generation, now);
        let mut books = self.lock();
        let Some(at) = books.present.iter().position(|g| Arc::ptr_eq(g, generation)) else { return };
        books.present.remove(at);
        books.disposed += 1;
        books.gone.push_front(info);
        books.gone.truncate(LISTED_DISPOSED);
    }

    pub(super) fn quarantine(&self, owners: &[String]) {
        self.lock().quarantined.extend_from_slice(owners);
    }

    pub(super) fn quarantined(&self) -> Vec<String> {
        self.lock().quarantined.clone()
    }

    pub(super) fn living(&self) -> Vec<Arc<Generation>> {
        self.lock().present.iter().filter(|g| g.state() != State::Quarantined).cloned().collect()
    }

    pub(super) fn counts(&self) -> Counts {
        let books = self.lock();
        let quarantined = books.present.iter().filter(|g| g.state() == State::Quarantined).count() as u64;
        let counts = Counts {
            published: books.published,
            disposed: books.disposed,
            living: books.present.len() as u64 - quarantined,
            quarantined,
        };
        debug_assert_eq!(counts.published, counts.disposed + counts.living + counts.quarantined);
        counts
    }

    pub(super) fn list(&self, now: Duration) -> Vec<GenerationInfo> {
        let (present, gone) = {
            let books = self.lock();
            (books.present.clone(), books.gone.clone())
        };
        let mut list: Vec<_> = present.iter().map(|g| describe(g, now)).chain(gone).collect();
        list.sort_by_key(|info| std::cmp::Reverse(info.number));
        list
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn describe(generation: &Generation, now: Duration) -> GenerationInfo {
    let contents = generation.contents();
    GenerationInfo {
        number: generation.number(),
        digest: contents.digest.clone(),
        state: generation.state(),
        kept: false,
        published_at: generation.published_at(),
        leases: generation.lease_count(),
        oldest_lease_s: generation.oldest_lease().map(|taken| now.saturating_sub(taken).as_secs_f64()),
        plugins: contents.running_plugins(),
        tools: contents.tool_count(),
        reload_id: generation.reload_id().to_owned(),
    }
}
