//! Room 1, `task`: named spawn, cancellation, clock; `guard`, the only way to run plugin code.
//! Must not detach a task; read the clock elsewhere. Next room: `store`.
