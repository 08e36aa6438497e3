//! Room 22, `turn`: the only loop of model and executor; a `TurnContext` in, one `TurnOutcome` out.
//! Must not see an adapter. Next room: `outbound`.

mod outcome;

pub use outcome::*;
