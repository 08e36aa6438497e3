//! What the fake model servers share: the script of answers and faults, the record of requests, the listener and
//! the answers without a script. What a request may look like and how an answer is written is a [`Wire`]; each
//! server brings one.

mod auto;
mod fault;
mod halves;
mod program;
mod script;
mod send;
mod server;
mod wire;

pub use fault::Fault;
pub use program::program;
pub use script::{Call, Counts, Script, Thinking, Turn, Usage};
pub use server::{Handle, Recorded, start};
pub use wire::{Asked, Called, Offered, Refusal, Reply, Seen, Wire, tokens};

#[cfg(test)]
mod tests;
