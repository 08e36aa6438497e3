//! Room 17, `prompt`: the blocks of one turn's system prompt, in order, under one budget. What the budget
//! takes is in the report; nothing is cut silently. Must not hold time, sender or ids: those belong to the
//! newest user message. Next room: `model`.

mod agent;
mod blocks;
mod budget;
mod texts;

pub use blocks::{PromptInput, build};
pub use budget::{Block, CUT_MARK, Oversized, Prompt, PromptOverflow, fit};

#[cfg(test)]
mod tests;
