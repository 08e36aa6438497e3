//! Room 2, `store`: the one persistence port, its backends, one conformance suite.
//! Must not know what a turn or a plugin is. Next room: `journal`.
