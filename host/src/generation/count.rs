//! The lease counter and the exchange: the only lock-free protocol of the host, alone in a file so
//! that `tests/loom` can include it and run it through every interleaving (there over loom's atomics).

use super::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

const CLOSED: u64 = 1 << 63;

/// Leases of one generation, and a bit that says that no further one may be taken.
pub(crate) struct LeaseCount(AtomicU64);

impl LeaseCount {
    /// Open, without a lease.
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// One more lease, or `false` once closed.
    pub(crate) fn try_acquire(&self) -> bool {
        let mut seen = self.0.load(Ordering::Acquire);
        // INVARIANT: the closed bit and the count change in one word, so no lease is taken after the
        // closing, and whoever closes sees every lease taken before.
        while seen & CLOSED == 0 {
            match self.0.compare_exchange(seen, seen + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    /// Returns a lease. `true` for the one caller that brought the count to zero-and-closed.
    #[must_use]
    pub(crate) fn release(&self) -> bool {
        self.0.fetch_sub(1, Ordering::AcqRel) == CLOSED | 1
    }

    /// Closes. `true` when no lease was out, so that nobody else will bring zero-and-closed.
    #[must_use]
    pub(crate) fn close(&self) -> bool {
        self.0.fetch_or(CLOSED, Ordering::AcqRel) == 0
    }

    /// Leases that are out.
    pub(crate) fn leases(&self) -> u64 {
        self.0.load(Ordering::Acquire) & !CLOSED
    }
}

/// What is behind the pointer: something whose leases are counted.
pub(crate) trait Leased {
    /// Its counter.
    fn count(&self) -> &LeaseCount;
}

/// The pointer to the published value. Two methods, so that the model can put a mutexed one here.
pub(crate) trait Pointer<T> {
    /// The value of this moment.
    fn load(&self) -> Arc<T>;
    /// Puts `next` in and gives the former value.
    fn swap(&self, next: Arc<T>) -> Arc<T>;
}

/// Takes a lease of the published value.
pub(crate) fn acquire<T: Leased>(pointer: &impl Pointer<T>) -> Arc<T> {
    loop {
        // INVARIANT: a closed value has already been replaced, so the next load finds its successor.
        let value = pointer.load();
        if value.count().try_acquire() {
            return value;
        }
    }
}

/// Publishes `next` and closes the former value. `true` with it when it had no lease left.
pub(crate) fn exchange<T: Leased>(pointer: &impl Pointer<T>, next: Arc<T>) -> (Arc<T>, bool) {
    // INVARIANT: swap first, close second. The other way round a reader could find only a closed value.
    let old = pointer.swap(next);
    let drained = old.count().close();
    (old, drained)
}
