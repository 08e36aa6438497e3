//! Room 7, `admission`: the pure predicate `can_access_tool`, permits, compiled sets, `LivePolicy`.
//! SDK types only; no async, no IO, no branch per platform. Next room: `index`.

mod facts;

pub use facts::*;
