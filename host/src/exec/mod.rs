//! Room 19, `exec`: one tool call in phases.
//! Must not choose tools. Next room: `jobs`.

mod countdown;
mod ports;

pub use countdown::{Countdown, Paused};
pub use ports::{ApprovalAnswer, ApprovalPort, ApprovalRequest, Offered, Owners, Refused};
