//! Room 25, `ingress`: every trigger, and the message spine.
//! Must not look up the generation a second time. Next room: `admin`.

mod about;
mod again;
mod agent;
mod answer;
mod approvals;
mod approve;
mod arrive;
mod command;
mod decide;
mod desk;
mod direct;
mod lost;
mod owed;
mod receive;
mod recover;
mod repeat;
mod show;
mod turn_context;

pub use desk::{Core, Desk, Executors, ModelShelf, Overview, Talk};
pub use direct::{AskAnswer, AskOrder, CallAnswer, CallOrder, ask, call};
pub use receive::{receive, serve};
pub use recover::{RecoverError, recover};
