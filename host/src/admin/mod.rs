//! Room 26, `admin`: socket and reload request.
//! Must not own state. Next room: `scenario`.
