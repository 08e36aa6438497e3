//! A body that breaks off.

use bytes::Bytes;
use hyper::body::{Body, Frame};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Some bytes, time to send them, then an error, which closes the connection.
pub(crate) struct Half {
    bytes: Option<Bytes>,
    flushed: bool,
}

impl Half {
    pub(crate) fn of(bytes: Bytes) -> Self {
        Self { bytes: Some(bytes), flushed: false }
    }
}

impl Body for Half {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(bytes) = self.bytes.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if !self.flushed {
            // the connection sends what it has before it asks again
            self.flushed = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Err(io::Error::other("cut by a fault"))))
    }
}
