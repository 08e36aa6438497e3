//! Room 11, `candidate`: the shadow table; disposes all if refused.
//! Must not be visible to a reader. Next room: `generation`.
