//! A strict server of the chat completions format. It refuses what real ones refuse, streams the way real ones
//! stream (one token per chunk), and plays a script of answers and faults; without a script it picks tools by
//! itself. See the README beside it.

mod check;
mod reply;
mod wire;

pub use fake_model::{Call, Counts, Fault, Handle, Recorded, Refusal, Script, Thinking, Turn, Usage};
pub use wire::ChatCompletions;

use std::io;
use std::net::SocketAddr;

/// The server.
pub struct FakeOpenAi;

impl FakeOpenAi {
    /// Starts on a free loopback port.
    pub async fn start(script: Script) -> io::Result<(SocketAddr, Handle)> {
        fake_model::start(ChatCompletions::default(), script, 0).await
    }
}

#[cfg(test)]
mod tests;
