//! Room 5, `net`: URL policy, resolver, the one HTTP client.
//! Must not follow a redirect unchecked. Next room: `loader`.
