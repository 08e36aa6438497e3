//! Room 15, `route`: chat command match and who is addressed.
//! Must not build prompts. Next room: `catalog`.
