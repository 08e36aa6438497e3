//! The lease counter and the exchange under every interleaving that loom finds.
//! Run: `cargo test -p understudy-tests --test loom`. The file is the host's own, counted with loom's
//! atomics; the pointer, which is an `ArcSwap` in the host, is a mutexed one here.

mod atomic {
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
}

#[path = "../../host/src/generation/count.rs"]
mod count;

use count::{LeaseCount, Leased, Pointer, acquire, exchange};
use loom::sync::Mutex;
use std::sync::Arc;
// Only counts for the assertions: not part of the model.
use std::sync::atomic::{AtomicUsize, Ordering};

struct Value {
    number: usize,
    count: LeaseCount,
    disposals: AtomicUsize,
}

impl Leased for Value {
    fn count(&self) -> &LeaseCount {
        &self.count
    }
}

struct Slot(Mutex<Arc<Value>>);

impl Pointer<Value> for Slot {
    fn load(&self) -> Arc<Value> {
        self.0.lock().unwrap().clone()
    }

    fn swap(&self, next: Arc<Value>) -> Arc<Value> {
        std::mem::replace(&mut *self.0.lock().unwrap(), next)
    }
}

fn value(number: usize) -> Arc<Value> {
    Arc::new(Value { number, count: LeaseCount::new(), disposals: AtomicUsize::new(0) })
}

fn dispose(value: &Value) {
    assert_eq!(value.count.leases(), 0, "disposed with a lease out");
    assert_eq!(value.disposals.fetch_add(1, Ordering::SeqCst), 0, "disposed twice");
}

fn give_back(value: &Value) {
    assert_eq!(value.disposals.load(Ordering::SeqCst), 0, "disposed under a lease");
    if value.count.release() {
        dispose(value);
    }
}

fn disposals(value: &Value) -> usize {
    value.disposals.load(Ordering::SeqCst)
}

/// Every interleaving with at most three preemptions; more of them only repeat states of this protocol.
fn model(run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(run);
}

#[test]
fn one_disposal_and_none_before_zero() {
    model(|| {
        let (old, new) = (value(1), value(2));
        let slot = Arc::new(Slot(Mutex::new(old.clone())));
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let slot = slot.clone();
                loom::thread::spawn(move || {
                    let lease = acquire(&*slot);
                    give_back(&lease);
                    lease.number
                })
            })
            .collect();
        let (replaced, drained) = exchange(&*slot, new.clone());
        assert_eq!(replaced.number, 1);
        if drained {
            dispose(&replaced);
        }
        assert_eq!(acquire(&*slot).number, 2, "none of the old one after the closing");
        for reader in readers {
            assert!(matches!(reader.join().unwrap(), 1 | 2));
        }
        assert_eq!((disposals(&old), disposals(&new)), (1, 0));
    });
}

#[test]
fn a_lease_held_over_the_exchange_disposes_when_it_returns() {
    model(|| {
        let (old, new) = (value(1), value(2));
        let slot = Arc::new(Slot(Mutex::new(old.clone())));
        let lease = acquire(&*slot);
        let publisher = {
            let (slot, new) = (slot.clone(), new.clone());
            loom::thread::spawn(move || {
                let (replaced, drained) = exchange(&*slot, new);
                if drained {
                    dispose(&replaced);
                }
            })
        };
        give_back(&lease);
        publisher.join().unwrap();
        assert_eq!((disposals(&old), disposals(&new)), (1, 0));
    });
}
