//! Room 11, `candidate`: the shadow table; everything of a tree prepared, or disposed if refused.
//! Must not be visible to a reader. Next room: `generation`.

mod contents;
mod instance;

pub use contents::{Contents, FailedPlugin, InputFile, PluginInput, PluginState, PluginView};
pub use instance::{Instance, Resource};
