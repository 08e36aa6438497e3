//! Room 12, `generation`: seal, publish, lease, retire, the only pointer swap.
//! Must not know files, watchers, HTTP, chat. Next room: `reload`.
