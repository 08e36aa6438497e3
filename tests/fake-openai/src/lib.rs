//! A strict server of the chat completions format. It refuses what real ones refuse, streams the way real ones
//! stream (one token per chunk), and plays a script of answers and faults; without a script it picks tools by
//! itself. See the README beside it.

mod auto;
mod check;
mod reply;
mod script;
mod server;

pub use check::Refusal;
pub use script::{Call, Fault, Script, Turn, Usage};
pub use server::{FakeOpenAi, Handle, Recorded};

#[cfg(test)]
mod tests;
