//! Files that belong to results: long texts, files a tool made, whole values.

mod files;
mod preview;
mod retention;
mod room;
mod store;

pub use preview::preview;
pub use retention::{Swept, sweep_artifacts};
pub use room::ArtifactRoom;
pub(super) use store::joined_text;
pub use store::{ArtifactIndex, ToolArtifactStore};
