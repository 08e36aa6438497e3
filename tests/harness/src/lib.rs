//! Test harness: bot folders in temporary places, the real binary, a live host, a model server.

mod bot;
mod process;
mod served;

pub use bot::TestBot;
pub use process::{LiveHost, Ran, binary, wait_for};
pub use served::{KEY, Served};
