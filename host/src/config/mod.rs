//! Room 4, `config`: text to checked, typed configuration; environment, secret registry, redaction,
//! system texts. Must not keep overrides beside the configuration. Next room: `net`.

mod bot;
pub mod doc;
mod nearest;
mod secret;
pub mod shape;

pub use bot::*;
pub use nearest::{nearest, nearest_help, quoted};
pub use secret::Secret;
