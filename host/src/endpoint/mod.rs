//! Room 10, `endpoint`: process-owned connections, lent by key.
//! Must not belong to a generation. Next room: `candidate`.
