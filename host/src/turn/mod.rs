//! Room 22, `turn`: the only loop of model and executor; a `TurnContext` in, one `TurnOutcome` out.
//! Must not see an adapter. Next room: `outbound`.

mod asked;
mod begin;
mod budget;
mod calls;
mod compact;
mod context;
mod cut;
mod events;
mod finish;
mod hands;
mod history;
mod hooks;
mod images;
mod interrupted;
mod keep;
mod model_step;
mod moment;
mod offered;
mod outcome;
mod pairs;
mod reduce;
mod room;
mod run;
mod summary;
mod window;
mod words;

pub use compact::{Compacted, compact};
pub use context::{Answering, CallPorts, Incoming, RecordsOf, Stop, Summarizer, Ties, TurnContext, TurnPorts};
pub use events::{Silent, TurnEvent, TurnEvents};
pub use interrupted::{Broken, Remains};
pub use outcome::*;
pub use run::run;
pub use words::{clean_name, head_line, in_words};

#[cfg(test)]
mod tests;
