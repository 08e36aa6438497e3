//! Room 16, `catalog`: the deferred controller of one turn. It owns what of the admitted tools is sent,
//! loaded or only found; the loaded set of the session comes in as a snapshot and goes out as one.
//! Must not hold anything global: one controller per turn, nothing keyed by message or session.
//! Next room: `prompt`.

mod admitted;
mod base;
mod controller;
mod discover;
mod load;
mod loaded;
mod refusal;
mod restore;
mod sent;
mod sight;
mod tool_search;

pub use admitted::Admitted;
pub use controller::{CatalogInput, Controller};
pub use discover::{DiscoverKind, DiscoverQuery};
pub use refusal::Refused;
pub use sent::SentTool;
pub use sight::{Sight, unseen};
pub use tool_search::ToolSearchQuery;

/// The controller's own tools by their local names: never counted as work, never a search hit.
pub const META_TOOLS: [&str; 4] = ["discover", "load_tool", "load_skill", "tool_search"];
