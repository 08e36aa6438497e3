//! Room 11, `candidate`: the shadow table; everything of a tree prepared, or disposed if refused.
//! Must not be visible to a reader. Next room: `generation`.
//!
//! `Workshop::prepare` runs `prepare`: `configuration` → read → `plugins` (views, `copies`, `bind`) → index;
//! `broken` says what goes when a plugin is broken.

mod bind;
mod bind_command;
mod broken;
mod configuration;
mod contents;
mod copies;
mod digest;
mod error;
mod guards;
mod instance;
mod plugins;
mod prepare;
mod report;
mod tree;
mod workshop;

pub use contents::{BrokenItem, Contents, FailedPlugin, InputFile, PluginInput, PluginState, PluginView};
pub use error::CopyError;
pub use instance::{Instance, Resource};
pub use report::{Report, STEPS, WatchList};
pub use workshop::{Base, Builtins, Candidate, OwnedTest, PrepareRequest, Rejected, Rule, Workshop, WorkshopSetup};

#[cfg(test)]
mod tests;
