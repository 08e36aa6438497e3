//! Room 25, `ingress`: every trigger, and the message spine.
//! Must not look up the generation a second time. Next room: `admin`.

mod answer;
mod approve;
mod arrive;
mod command;
mod desk;
mod direct;
mod receive;
mod show;
mod turn_context;

pub use desk::{Core, Desk, Executors, ModelShelf, Overview, Talk};
pub use direct::{AskAnswer, AskOrder, CallAnswer, CallOrder, ask, call};
pub use receive::{receive, serve};
