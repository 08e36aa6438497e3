//! Room 28, `app`: construct the rooms once, signals, shutdown.
//! Must not contain rules. Next room: `none`.
