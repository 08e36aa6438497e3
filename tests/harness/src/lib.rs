//! Test harness: bot folders in temporary places, the real binary, a live host.

mod bot;
mod process;

pub use bot::TestBot;
pub use process::{LiveHost, Ran, binary, wait_for};
