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
mod lookups;
mod lost;
mod masters;
mod owed;
mod rate;
mod receive;
mod recent;
mod recover;
mod repeat;
mod show;
mod stranger;
mod turn_context;

pub use desk::{Core, Desk, Executors, ModelShelf, Overview, Talk};
pub use direct::{AskAnswer, AskOrder, CallAnswer, CallOrder, ask, call, command_in};
pub use lookups::Lookups;
pub use rate::Rates;
pub use receive::{receive, serve};
pub use recover::{RecoverError, recover};
