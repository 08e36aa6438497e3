//! The side of the script: what people do, what goes wrong, what was seen.

mod people;
mod press;
mod routes;
mod say;
mod saying;
mod topics;
mod updates;

pub use people::{Group, Membership};
pub use press::{PressButton, Pressed};
pub(crate) use routes::routes;
pub use say::{Forward, Media, Said, Say, Sender};
pub use topics::TopicChange;

/// Why a script's step cannot be played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unplayable(pub String);

impl Unplayable {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl std::fmt::Display for Unplayable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unplayable {}
