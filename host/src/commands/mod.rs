//! Room 24, `commands`: read-only views of a generation, as JSON for programs and as text for chats.
//! Must not own state. Next room: `ingress`.

mod inventory;
mod list;
mod texts;
mod usage;
mod view;
mod why;

pub use inventory::inventory;
pub use list::{LIST_KINDS, list};
pub use texts::{help, reloaded, skills, start, status_text, tools};
pub use usage::{Used, usage_text};
pub use view::{NameFault, View, plugin_json};
pub use why::{explain, why};
