//! A strict Discord for tests and plugin authors: REST API and gateway on loopback. It refuses what Discord refuses,
//! keeps what a bot did, and plays people and faults from a script. See the README beside it.

mod act;
mod clock;
mod control;
mod exchange;
mod fake;
mod fault;
mod form;
mod gateway;
mod id;
mod limits;
mod log;
mod model;
mod options;
mod permissions;
mod print;
mod refusal;
mod rest;
mod rules;
mod seed;
mod server;
mod state;
mod tls;
mod upload;
mod world;

pub use act::{Act, Edit, Press, SaidFile, Say, Slash};
pub use clock::Time;
pub use fake::{FakeDiscord, NotSeen};
pub use fault::{Fault, GatewayFault, RestEffect, RestFault};
pub use gateway::{Closed, GatewayState, Identified, Resumed, intents};
pub use id::Id;
pub use limits::RateScope;
pub use log::{Request, Violation, ViolationKind};
pub use model::{
    Answered, Attachment, Channel, ChannelKind, Command, CommandScope, Guild, Interaction, InteractionKind, Member,
    Mentions, Message, Overwrite, Reaction, Reference, Role, Typing, User, Version, Via, flags,
};
pub use options::{LengthUnit, Options};
pub use permissions::bits;
pub use state::State;
pub use tls::Tls;
pub use world::{Commands, Overwritten};

/// Who and what is there at the start.
pub mod ids {
    pub use crate::seed::{
        ANN, APPLICATION, BEN, BOT, DM_ANN, FORUM, GENERAL, GUILD, LOUNGE, MODERATORS, NEWS, OTHER_BOT, POST, THREAD,
        TOKEN,
    };
}

#[cfg(test)]
mod tests;

/// The README's examples are compiled too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
