//! What a turn shows while it runs. The sink must not block: the turn waits for nobody's screen.

use plugin_sdk::ports::Question;

/// One thing to show.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEvent {
    /// The answer so far, whole; empty = forget the draft.
    Draft(String),
    /// What runs now; `None` = the model thinks.
    Progress(Option<String>),
    /// The person is asked.
    Asked(Question),
    /// The question is over.
    Answered,
}

/// Where a turn shows itself.
pub trait TurnEvents: Send + Sync {
    /// Shows one thing.
    fn show(&self, event: TurnEvent);
}

/// Shows nothing.
pub struct Silent;

impl TurnEvents for Silent {
    fn show(&self, _event: TurnEvent) {}
}
