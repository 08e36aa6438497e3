//! The world behind its lock, and the news of every change.

use crate::world::World;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// The world as all requests, the script and the tests share it.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Inner>);

struct Inner {
    world: Mutex<World>,
    changes: watch::Sender<u64>,
}

impl Shared {
    pub(crate) fn new(world: World) -> Self {
        Self(Arc::new(Inner { world: Mutex::new(world), changes: watch::Sender::new(0) }))
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.0.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the world, without news for others.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut World) -> T) -> T {
        look(&mut self.world())
    }

    /// Changes the world and tells everybody who waits.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        let out = change(&mut self.world());
        self.0.changes.send_modify(|n| *n += 1);
        out
    }

    /// The news from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// Waits for the next change, or for a time of the server's clock.
    #[expect(clippy::disallowed_methods, reason = "the server's clock goes with real time where it flows")]
    pub(crate) async fn changed_or(&self, changes: &mut watch::Receiver<u64>, until_ms: i64) {
        let (left, flows) = self.look(|world| (until_ms - world.now_ms(), world.clock.flows));
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        if flows {
            tokio::select! {
                _ = changes.changed() => {}
                () = tokio::time::sleep(left) => {}
            }
        } else if !left.is_zero() {
            // the sender lives as long as this value, so this is a change
            let _ = changes.changed().await;
        }
    }
}
