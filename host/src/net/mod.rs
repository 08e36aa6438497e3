//! Room 5, `net`: the one HTTP client and what may come through it.
//! Must not follow a redirect unchecked. Next room: `loader`.

mod client;
mod error;
mod sse;

pub use client::{Http, scrub};
pub use error::NetError;
pub use sse::{MAX_EVENT_BYTES, MAX_LINE_BYTES, data_events};

#[cfg(test)]
mod tests;
