//! Room 15, `route`: what a message is: a control word, a chat command, or a turn.
//! Must not build prompts. Next room: `catalog`.

mod command;

pub use command::{Builtin, Route, Words, control, fold, parse, route};

#[cfg(test)]
mod tests;
