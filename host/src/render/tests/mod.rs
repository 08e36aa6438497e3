//! What a reader sees, and what holds for every text.

mod constructs;
mod drafts;
mod examples;
mod long;
mod random;
mod support;
