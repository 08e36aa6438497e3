//! Room 23, `outbound`: send in order, with the retries each typed error asks for.
//! Must not be called by a turn except through its port. Next room: `commands`.

mod cards;
mod clean;
mod order;
mod send;

pub use cards::Cards;
pub use send::{Outbound, Piece};

#[cfg(test)]
mod tests;
