//! Room 25, `ingress`: every trigger, the message spine.
//! Must not look up the generation a second time. Next room: `admin`.
