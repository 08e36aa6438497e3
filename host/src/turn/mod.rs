//! Room 22, `turn`: the only loop of model and executor; a `TurnContext` in, one `TurnOutcome` out.
//! Must not see an adapter. Next room: `outbound`.

mod asked;
mod events;
mod outcome;
mod repair;
mod words;

pub use asked::{QuestionLog, TurnAsk};
pub use events::{Silent, TurnEvent, TurnEvents};
pub use outcome::*;
pub use repair::{INTERRUPTED, repair};
pub use words::{clean_name, has_media, head_line, in_words, spoken};

#[cfg(test)]
mod tests;
