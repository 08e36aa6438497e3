//! Room 6, `loader`: plugin folders to `PluginSource` values (raw manifests, texts, hashes).
//! Must not run plugin code. Next room: `admission`.
//!
//! A scan goes `discover` (which folders are plugins) → `walk` and `fileset` (what belongs to each) →
//! `places` (where items stand) → `manifest`, `tool`, `skills`, `section`, `agent`, `hook`, `command` (checked
//! items) → `order`.

mod agent;
mod cache;
mod command;
mod discover;
mod disk;
mod error;
mod fileset;
mod front;
mod hash;
mod hook;
mod input;
mod items;
mod loading;
mod manifest;
mod names;
mod order;
mod permissions;
mod places;
mod plugin;
mod raw;
mod reader;
mod rules;
mod run;
mod scan;
mod scenarios;
mod section;
mod skills;
mod source;
mod strays;
mod text;
mod tool;
mod view;
mod walk;
mod workspace;

pub use agent::{AgentAbout, AgentChild, AgentLimits, AgentSource, AgentText, AgentWants};
pub use command::{CommandGate, CommandSource, CommandTarget};
pub use error::UnstableInput;
pub use hash::{HashInput, plugin_hash};
pub use hook::HookSource;
pub use order::tokens_for;
pub use raw::{
    AgentApproval, ArgumentKind, CommandArgument, ContextMode, Effort, MemoryScope, OnFailure, TriggerRules, schema_of,
};
pub use scan::{ScanOptions, Scanner};
pub use source::*;
pub use view::{mask_config, resolve_config};

#[cfg(test)]
mod tests;
