//! Room 3, `journal`: append-only events, subscribe.
//! Must not decide anything. Next room: `config`.
