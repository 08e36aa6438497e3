//! Room 23, `outbound`: render and send.
//! Must not be called by a turn except through its port. Next room: `commands`.
