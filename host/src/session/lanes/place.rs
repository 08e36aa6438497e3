//! A ticket that waits, and the place it gets.

use super::schedule::Position;
use super::{LaneError, Lanes, StopCause, StopSign};
use crate::session::SessionKey;
use plugin_sdk::CancellationSignal;
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::oneshot;

/// The right to run one turn; given back when dropped.
pub struct Place {
    lanes: Lanes,
    session: SessionKey,
    at: Position,
    sign: StopSign,
    absorbed: Vec<Value>,
    waited: Duration,
}

impl Place {
    pub(super) fn new(
        lanes: Lanes,
        session: SessionKey,
        at: Position,
        sign: StopSign,
        absorbed: Vec<Value>,
        waited: Duration,
    ) -> Self {
        Self { lanes, session, at, sign, absorbed, waited }
    }

    /// Session it is in.
    pub fn session(&self) -> &SessionKey {
        &self.session
    }

    /// Requested when the turn is to end.
    pub fn cancellation(&self) -> CancellationSignal {
        self.sign.signal.clone()
    }

    /// Why the turn is to end.
    pub fn stop_cause(&self) -> Option<StopCause> {
        self.sign.cause()
    }

    /// Messages this turn stands for: they wait no longer, and belong into the history before its own.
    pub fn absorbed(&self) -> &[Value] {
        &self.absorbed
    }

    /// How long the ticket waited.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// Gives the place back while a person is asked; the session stays taken.
    pub fn pause(&self) -> PausedPlace {
        self.lanes.pause(&self.session, self.at);
        PausedPlace {
            lanes: self.lanes.clone(),
            session: self.session.clone(),
            at: self.at,
            sign: self.sign.clone(),
            resumed: false,
        }
    }
}

/// A turn that asks somebody and holds no place. Dropped without `resume`, it still gets its place again as soon
/// as there is one, but nobody waits for that.
pub struct PausedPlace {
    lanes: Lanes,
    session: SessionKey,
    at: Position,
    sign: StopSign,
    resumed: bool,
}

impl PausedPlace {
    /// Takes a place again, before any turn that has not begun. A turn that is to end needs none and gets on.
    pub async fn resume(mut self) {
        self.resumed = true;
        let Some(granted) = self.lanes.reenter(&self.session, self.at) else { return };
        tokio::select! {
            // An error means that the turn was taken off the list, which only its own end does.
            _ = granted => {}
            () = self.sign.signal.cancelled() => {}
        }
    }
}

impl Drop for PausedPlace {
    fn drop(&mut self) {
        if !self.resumed {
            drop(self.lanes.reenter(&self.session, self.at));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lanes.finish(&self.session, self.at);
    }
}

/// A ticket that waits for its place. Dropping it withdraws it.
pub struct Waiting {
    lanes: Lanes,
    session: SessionKey,
    at: Position,
    granted: oneshot::Receiver<Result<Place, LaneError>>,
    done: bool,
}

impl Waiting {
    pub(super) fn new(
        lanes: Lanes,
        session: SessionKey,
        at: Position,
        granted: oneshot::Receiver<Result<Place, LaneError>>,
    ) -> Self {
        Self { lanes, session, at, granted, done: false }
    }
}

impl Future for Waiting {
    type Output = Result<Place, LaneError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = std::task::ready!(Pin::new(&mut self.granted).poll(cx));
        self.done = true;
        // A sender is only dropped unused with the schedule itself.
        Poll::Ready(answer.unwrap_or(Err(LaneError::Closing)))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.done {
            // A place that was granted and never taken goes back with the channel.
            self.lanes.withdraw(&self.session, self.at);
        }
    }
}
