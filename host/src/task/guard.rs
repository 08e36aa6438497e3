//! Runs foreign code: a panic or a missed deadline becomes a value.

use super::clock::SharedClock;
use futures::FutureExt;
use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

/// Why guarded code gave no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    /// It panicked; the text of the panic.
    #[error("panicked: {0}")]
    Panicked(String),
    /// Its deadline passed; it was dropped.
    #[error("timed out")]
    Timeout,
}

/// Runs `work` under the name of `owner`. At the deadline the future is dropped, so it must be safe to drop;
/// what it has spawned elsewhere is its own to cancel.
pub async fn guard<T>(
    owner: &str,
    deadline: Option<Duration>,
    clock: &SharedClock,
    work: impl Future<Output = T>,
) -> Result<T, GuardError> {
    let caught = AssertUnwindSafe(work).catch_unwind();
    let ended = match deadline {
        None => caught.await,
        Some(limit) => tokio::select! {
            // A value that is ready wins over a deadline that passed at the same moment.
            biased;
            ended = caught => ended,
            () = clock.sleep(limit) => {
                tracing::warn!(owner, limit_ms = limit.as_millis() as u64, "deadline passed");
                return Err(GuardError::Timeout);
            }
        },
    };
    ended.map_err(|payload| {
        let text = panic_text(payload.as_ref());
        tracing::error!(owner, panic = %text, "code panicked");
        GuardError::Panicked(text)
    })
}

/// The text of a panic, as far as it has one.
pub fn panic_text(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without text".to_owned()
    }
}
