//! Room 19, `exec`: one tool call in phases.
//! Must not choose tools. Next room: `jobs`.
