//! Room 16, `catalog`: the deferred controller of one turn. It owns what of the admitted tools is sent,
//! loaded or only found; the loaded set of the session comes in as a snapshot and goes out as one.
//! Must not hold anything global: one controller per turn, nothing keyed by message or session.
//! Next room: `prompt`.

mod loaded;

pub use loaded::{Caps, Evicted, LoadedSet, LoadedSkill, LoadedTool, Member, SkillKey};
