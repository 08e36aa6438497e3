//! What a body must look like, whatever the world is.

mod command;
mod components;
mod embeds;
mod message;

pub(crate) use command::{commands, one as command};
pub(crate) use message::{Allowed, Draft, Limits, draft};
