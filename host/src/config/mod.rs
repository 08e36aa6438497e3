//! Room 4, `config`: text to checked, typed configuration; environment, secret registry, redaction,
//! system texts. Must not keep overrides beside the configuration. Next room: `net`.

mod bot;
pub mod doc;
mod env;
mod interpolate;
mod load;
mod nearest;
mod secret;
pub mod shape;

pub use bot::*;
pub use env::Env;
pub use load::{ASSEMBLED_TOOLS, BOT_FILE, BUILTIN_KEYS, LoadInput, LoadedBot, PolicyConfig, load_bot};
pub use nearest::{nearest, nearest_help, quoted};
pub use secret::Secret;
