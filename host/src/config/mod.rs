//! Room 4, `config`: text to checked, typed configuration; environment, secret registry, redaction,
//! system texts. Must not keep overrides beside the configuration. Next room: `net`.

mod bot;
pub mod doc;
mod secret;

pub use bot::*;
pub use secret::Secret;
