//! Room 9, `runtime`: a tool definition becomes callable; back only through ports.
//! Must not know turns. Next room: `endpoint`.
