//! Room 26, `admin`: the local socket and the files that announce it.
//! Must not own state. Next room: `scenario`.

mod channel;
mod control;
mod server;
pub mod wire;

pub use control::{ControlFiles, PROTOCOL};
pub use server::{Control, serve};
