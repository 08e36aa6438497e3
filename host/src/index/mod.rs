//! Room 8, `index`: contributions to the immutable indexes, names, ranking, all diagnostics.
//! Must not lock, do IO or be async. Next room: `runtime`.

mod canonical;
mod names;
mod ranking;
mod schema;
mod tool;
#[cfg(test)]
mod tests;

pub use canonical::{canonical_json, hash_json, sha256_hex};
pub use names::{RESERVED, digest_form, is_plain, is_reserved, wire_names};
pub use ranking::{
    ItemId, ItemKind, RankItem, RankParam, Ranking, Word, is_cjk, is_generic_word, is_stop_word, params_of,
    query_terms, stem, terms_of, words_of,
};
pub use schema::{InputSchema, SchemaFault, Violation, is_secret_expression, tool_hash};
pub use tool::*;
