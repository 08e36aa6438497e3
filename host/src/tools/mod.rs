//! Room 21, `tools`: the built-in tools.
//! Must not be a second execution path. Next room: `turn`.
