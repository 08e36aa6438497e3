//! Room 8, `index`: contributions to the immutable indexes, names, ranking, all diagnostics.
//! Must not lock, do IO or be async. Next room: `runtime`.

mod agents;
mod build;
mod canonical;
mod check_tool;
mod commands;
mod hooks;
mod names;
mod nearest;
mod parts;
mod ranking;
mod registry;
mod schema;
mod sections;
mod settings;
mod skills;
#[cfg(test)]
mod tests;
mod tool;
mod tool_index;
mod view;

pub use agents::Agent;
pub use build::{build, build_after};
pub use canonical::{canonical_json, hash_json, sha256_hex, sha256_of_reader};
pub use commands::BUILTIN_COMMANDS;
pub use hooks::Hook;
pub use names::{RESERVED, digest_form, is_plain, is_reserved, wire_names};
pub use parts::{CommandEntry, CommandGate, CommandInput, Indexes, Parts, Section, Skill, fold_word};
pub use ranking::{
    ItemId, ItemKind, RankItem, RankParam, Ranking, Word, is_cjk, is_generic_word, is_stop_word, params_of,
    query_terms, stem, terms_of, words_of,
};
pub use registry::{Registered, RegistrySettings, ToolRegistry};
pub use schema::{InputSchema, SchemaFault, Violation, is_secret_expression, tool_hash};
pub use settings::always_loaded;
pub use tool::*;
pub use tool_index::{NameError, ToolIndex};
pub use view::{SearchOptions, ToolNotFound, ToolSpec, ToolView, ViewFilter, in_groups};
