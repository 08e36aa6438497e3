//! Room 4, `config`: text to checked, typed configuration; environment, secret registry, redaction,
//! system texts. Must not keep overrides beside the configuration. Next room: `net`.

mod bot;
mod class;
pub mod codes;
pub mod doc;
mod env;
mod interpolate;
mod load;
mod nearest;
mod redact;
pub mod render;
mod schema;
mod secret;
pub mod shape;
mod texts;

pub use bot::*;
pub use class::{Change, Class, changes, settings};
pub use env::{Env, no_color};
pub use load::{
    ASSEMBLED_TOOLS, BOT_FILE, BOT_FOLDERS, BUILTIN_KEYS, LoadInput, LoadedBot, PolicyConfig, config_digest,
    data_folder_fault, has_tilde, load_bot, take_types,
};
pub use nearest::{nearest, nearest_help, quoted};
pub use redact::{REDACTED, Redactor, percent_encoded};
pub use schema::{schema_kinds, schema_of};
pub use secret::Secret;
pub use texts::Texts;

#[cfg(test)]
mod tests;
