//! Room 24, `commands`: built-in chat commands, read-only views.
//! Must not own state. Next room: `ingress`.
