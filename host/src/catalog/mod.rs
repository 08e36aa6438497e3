//! Room 16, `catalog`: the per-turn deferred catalog.
//! Must not hold global maps. Next room: `prompt`.
