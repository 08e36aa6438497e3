//! Room 8, `index`: contributions to the immutable indexes, names, ranking, all diagnostics.
//! Must not lock, do IO or be async. Next room: `runtime`.

mod schema_type;
mod tool;

pub use schema_type::InputSchema;
pub use tool::*;
