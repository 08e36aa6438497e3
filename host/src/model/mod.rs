//! Room 18, `model`: the model port and the provider clients. Must not know what a tool does.
//! Next room: `exec`.

mod port;

pub use port::*;
