//! Room 13, `reload`: watch, plan, the reload spine, the record.
//! Must not touch a running turn. Next room: `session`.
