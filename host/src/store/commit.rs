//! Group commit: one thread makes writes durable, for everybody who asked meanwhile.

use super::StoreError;
use super::disk::Disk;
use crate::task::{Clock, SystemClock, thread};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// Barriers asked for within this time become one.
const WINDOW: Duration = Duration::from_millis(5);
/// Nobody else asked for so long: a lone session does not wait for the rest of the window.
const QUIET: Duration = Duration::from_millis(1);

type Reply = oneshot::Sender<Result<(), StoreError>>;

/// The asking side.
pub(super) struct Commits {
    queue: Mutex<Option<Sender<Reply>>>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

impl Commits {
    pub(super) fn start(disk: Arc<Disk>) -> Result<Self, StoreError> {
        let (queue, asked) = channel();
        let worker = thread("store-commit", move || serve(&disk, &asked))?;
        Ok(Self { queue: Mutex::new(Some(queue)), worker: Mutex::new(Some(worker)) })
    }

    /// Queues a barrier; the answer comes through the receiver.
    pub(super) fn ask(&self) -> Result<oneshot::Receiver<Result<(), StoreError>>, StoreError> {
        let (reply, answer) = oneshot::channel();
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(reply).map_err(|_| StoreError::Closed)?;
        Ok(answer)
    }

    /// Serves what is queued and ends the thread. Blocks; later calls do nothing.
    pub(super) fn stop(&self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if worker.is_some_and(|w| w.join().is_err()) {
            tracing::error!("the commit thread panicked");
        }
    }
}

fn serve(disk: &Disk, asked: &Receiver<Reply>) {
    let clock = SystemClock::new();
    while let Ok(first) = asked.recv() {
        let mut group = vec![first];
        let end = clock.monotonic() + WINDOW;
        loop {
            let left = end.saturating_sub(clock.monotonic());
            match asked.recv_timeout(left.min(QUIET)) {
                Ok(another) if !left.is_zero() => group.push(another),
                Ok(last) => {
                    group.push(last);
                    break;
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        // Whoever queued while the window closed has written before asking, so it is covered as well.
        group.extend(asked.try_iter());
        let result = disk.sync();
        for reply in group {
            let answer = match &result {
                Ok(()) => Ok(()),
                Err(e) => Err(e.repeat()),
            };
            // Who asked may have been cancelled meanwhile.
            let _ = reply.send(answer);
        }
    }
}
