//! The server as its clients see it. Every answer is held against the types of the Bot API.

mod client;
mod faults;
mod inbound;
mod outbound;
mod requests;
mod script;
mod texts;

pub(super) use client::{Client, GROUP, PERSON, SUPERGROUP};
