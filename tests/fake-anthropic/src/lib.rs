//! A strict server of the messages format. It refuses what the real one refuses, streams its events one token at a
//! time, and plays a script of answers and faults; without a script it picks tools by itself. See the README
//! beside it.

mod check;
mod reply;
mod sent;
mod wire;

pub use check::BETA;
pub use fake_model::{Call, Counts, Fault, Handle, Recorded, Refusal, Script, Thinking, Turn, Usage};
pub use wire::Messages;

use std::io;
use std::net::SocketAddr;

/// The server.
pub struct FakeAnthropic;

impl FakeAnthropic {
    /// Starts on a free loopback port.
    pub async fn start(script: Script) -> io::Result<(SocketAddr, Handle)> {
        fake_model::start(Messages::default(), script, 0).await
    }
}

#[cfg(test)]
mod tests;
