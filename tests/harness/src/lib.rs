//! Test harness: bot folders in temporary places, the real binary, a live host, a model server.

mod bot;
mod gate;
mod line;
mod process;
mod served;
mod socket;
mod watched;

pub use bot::TestBot;
pub use gate::Gate;
pub use line::{Asked, Line, Seen, Told};
pub use process::{LiveHost, Ran, Running, binary, wait_for};
pub use served::{KEY, Provider, Served};
pub use socket::command;
pub use watched::{children, cpu, is_alive, open_files, watches};
