//! Room 18, `model`: the model port and the provider clients. Must not know what a tool does.
//! Next room: `exec`.

mod anthropic;
mod base64;
mod chain;
mod estimate;
mod health;
mod models;
pub mod offline;
mod openai;
mod port;
mod remote;
mod wire_schema;

pub use estimate::{estimate_tokens, message_tokens};
pub use health::ModelState;
pub use models::{Models, OFFLINE};
pub use port::*;
pub use remote::RemoteModel;
pub use wire_schema::{MAX_DESCRIPTION, cut_description, wire_schema};

#[cfg(test)]
mod tests;
