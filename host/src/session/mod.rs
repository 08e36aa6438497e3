//! Room 14, `session`: address, tickets, history, loaded set.
//! Must not call a model. Next room: `route`.
