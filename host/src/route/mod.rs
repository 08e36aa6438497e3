//! Room 15, `route`: what a message is: a control word, a chat command, or a turn, and whose turn it is.
//! Must not build prompts. Next room: `catalog`.

mod agent;
mod arguments;
mod command;

pub use agent::{AgentChoice, choose_agent};
pub use arguments::{ArgumentFault, read_arguments};
pub use command::{Builtin, Route, Words, control, fold, parse, route};

#[cfg(test)]
mod tests;
