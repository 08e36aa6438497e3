//! Room 18, `model`: the model port and the provider clients. Must not know what a tool does.
//! Next room: `exec`.

mod port;
mod wire_schema;

pub use port::*;
pub use wire_schema::{MAX_DESCRIPTION, cut_description, wire_schema};

#[cfg(test)]
mod tests;
