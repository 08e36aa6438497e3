//! Room 27, `scenario`: the runner of `understudy test`.
//! Must not reach the live world. Next room: `app`.
