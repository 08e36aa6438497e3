//! Room 21, `tools`: the host's own tools. They are contributions like any other and run through the same
//! executor; what they act on comes in with the call. Must not be a second execution path.
//! Next room: `turn`.

mod ask_user;
mod catalog_tools;
mod context_tools;
mod define;
mod reach;
mod recalled;

pub use define::builtins;
pub use reach::{InTurn, Recall};

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
